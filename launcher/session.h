/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What every verb that has something started does before: which manager, with what limits of our own, as whom. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/manager/door.h"
#include "units/spec.h"

/* CORDON_MANAGER decides where no option has. */
bool session_choose_manager(ManagerKind *manager, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The caller's limits are for the program, which gets them from the gate; we and what we start for it need our own. */
void session_lift_own_limits(void);

/* The system manager would run it as root, whoever asks; what is not trusted runs as nobody where we can have that, and
 * the system manager has better (units/untrusted). */
void session_choose_user(const Door *door, Spec *spec);

/* Does the manager drop something that -p says? As far as that is known beforehand. */
bool session_check_extra(const Door *door, const Spec *spec,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
