/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions to a manager while nothing else is under way: one call, one wait. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* A property of the manager itself that is a string: "Version", "ControlGroup". NULL: it was not told. */
char *inquiry_manager_text(sd_bus *bus, const char *property);

/* The names of the units that are active and match a pattern, an array with NULL behind; NULL: it was not told in time. */
char **inquiry_active_units(sd_bus *bus, const char *pattern, uint64_t patience_usec);

/* Whether a unit is active. False: it was not told. */
bool inquiry_unit_is_active(sd_bus *bus, const char *unit,
                            bool *ret_is_active) G_GNUC_WARN_UNUSED_RESULT;
