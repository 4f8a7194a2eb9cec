/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --check: everything of every job that can be refused before a manager is asked. Nothing is started. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "foreman.h"

/* Told of each job that would be refused: its record, or why. */
typedef void (*InspectTell)(void *userdata, const char *text);

bool inspect_jobs(const ForemanOrder *order, bool is_record, InspectTell tell, void *userdata,
                  uint64_t *ret_bad, GError **error) G_GNUC_WARN_UNUSED_RESULT;
