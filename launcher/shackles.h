/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is a process without privileges for good? As /proc/PID/status says it, while the gate waits. */

#include <sys/types.h>

/* NULL: it is; else what is wrong. */
const char *shackles_check(pid_t pid);
