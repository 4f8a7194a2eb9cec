/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does --net allow= hold? Managers that cannot filter say nothing on the bus, so it is looked at what the gate met when it
 * tried, what is attached to its cgroup, and whether the files of names inside are ours. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launcher/gate/protocol.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/manager/door.h"
#include "launcher/readback.h"
#include "units/isolation.h"

/* Before anything starts: a manager without privileges cannot filter, whatever it says. */
bool filter_can_be_had(const IsolationSet *set, const Door *door,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* While the gate waits. True also where it was not asked for. */
bool filter_check(const IsolationSet *set, const Cgroup *cgroup, pid_t pid, const GateHello *hello,
                  Readback *readback, GError **error) G_GNUC_WARN_UNUSED_RESULT;
