/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Property lists → message bodies. */

#include <systemd/sd-bus.h>

#include "units/property.h"

/* Appends a(sv). Returns a negative errno as sd-bus does. */
int append_properties(sd_bus_message *message, const PropertyList *list);
