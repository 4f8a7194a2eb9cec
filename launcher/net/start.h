/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --net between the choice of a manager and the start: can it be had from this one, does something go round it, and the
 * files that the unit needs. */

#include "launcher/launch.h"

/* Where the streams go is what the settings have. *ret_pins is for rundir_remove(), or NULL. */
bool net_start(const LaunchSettings *settings, char **ret_pins,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;
