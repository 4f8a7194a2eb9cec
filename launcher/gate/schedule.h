/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel's schedulers know of a process besides its nice level: the CPUs that it may run on, the policy, the
 * priority of its I/O. Read by the launcher, taken on by the gate; libc alone. */

#include "protocol.h"

/* As a child of ours would have them. */
void schedule_read(GateSchedule *ret_schedule);
int schedule_read_nice(void);

/* Takes on those parts (GATE_UNAPPLIED_…, or'd), where they differ. Returns those that could not be had. Of CPUs we may
 * get fewer than those, which is what the cgroup leaves of them; what is reported is one that was not among them. */
uint32_t schedule_apply(const GateSchedule *schedule, uint32_t parts);
