/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What every verb that has something started does before: which manager, with what limits of our own, as whom. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/launch.h"
#include "launcher/manager/door.h"
#include "launcher/options.h"
#include "launcher/pool.h"
#include "units/spec.h"

/* CORDON_MANAGER decides where no option has. */
bool session_choose_manager(ManagerKind *manager, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A terminal of the program's own where that is what the caller sits at, unless he says. */
bool session_choose_terminal(Options *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The caller's limits, and the signals that he ignores, are for the program, which gets them from the gate; we and what we
 * start for it need our own. */
void session_lift_own_limits(void);

/* --max-parallel: waits for a slot of the pool, or not. NULL where none is needed. caller_fd is as in launcher/pool; full
 * is called with --verbose. */
bool session_enter_pool(const Options *options, int caller_fd, PoolFullHandler full,
                        PoolSlot **ret_slot, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The system manager would run it as root, whoever asks; what is not trusted runs as nobody where we can have that, and
 * the system manager has better (units/untrusted). Of the door its kind counts alone. */
void session_choose_user(const Door *door, Spec *spec);

/* Between the choice of a manager and the launch: who the program is, what the manager would drop of -p, as far as that
 * is known beforehand, and what --net needs. *ret_pins is for rundir_remove() once the program runs; NULL: nothing. */
bool session_settle(const LaunchSettings *settings, Spec *spec, char **ret_pins,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
