/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The CPUs that the kernel lets a process run on. */

#include <stdbool.h>
#include <sys/types.h>

#include "units/limit.h"

/* pid 0: ourselves. */
bool cpus_read(pid_t pid, CpuList *ret_cpus) G_GNUC_WARN_UNUSED_RESULT;

/* Would the kernel take this as an affinity? It does when at least one of them is there for us. */
bool cpus_can_be_had(const CpuList *cpus);
