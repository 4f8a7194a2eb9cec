/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The hierarchies of cgroups that this machine has, and where they are mounted. Of the main thread only. */

#include <stdbool.h>
#include <stddef.h>

#include "counter.h"

/* As /proc/PID/cgroup has it: a controller of version 1, or "" for the unified one. */
const char *hierarchy_name(Hierarchy hierarchy);
Hierarchy hierarchy_named(const char *name, size_t length); /* HIERARCHY_UNIFIED: no other */

/* Is it the one with these controllers ("cpu,cpuacct")? */
bool hierarchy_has_controllers(Hierarchy hierarchy, const char *controllers);

/* Where it is mounted; NULL: it is not here. Looked up once, and once more after hierarchy_look_again(). */
const char *hierarchy_root(Hierarchy hierarchy);
void hierarchy_look_again(void);

/* Can there be such a file in its groups? A controller is in one kind of hierarchy at a time. */
bool hierarchy_can_have(Hierarchy hierarchy, const char *file);
