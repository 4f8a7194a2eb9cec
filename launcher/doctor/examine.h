/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Filling the report. */

#include "launcher/kernel/caller.h"
#include "report.h"

/* MANAGER_AUTO: all that can be reached; of these the one that `standard` says, or AUTO, is what a run would take. A private
 * manager is started only where it is asked for or is that one. Returns the signal that ended it before it was done; 0:
 * none. */
int examine(ManagerKind only, ManagerKind standard, const Caller *caller, Report *report);
