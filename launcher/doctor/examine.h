/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Filling the report. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/kernel/caller.h"
#include "report.h"

/* MANAGER_AUTO: all that can be reached; of these the one that `standard` says, or AUTO, is what a run would take. A private
 * manager is started only where it is asked for or is that one. A signal that comes meanwhile ends it. */
bool examine(ManagerKind only, ManagerKind standard, const Caller *caller, Report *report,
             int *ret_signal, GError **error) G_GNUC_WARN_UNUSED_RESULT;
