/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A child of the keeper that outlives it: when the keeper was killed, it ends the manager with everything that it runs,
 * at once, and clears up. Told to stop by the keeper's death, the manager would grant its services their time, which
 * may be for ever. It sits among the manager's cgroups, where whoever kills all that is in the caller's does not find
 * it. */

#include <sys/types.h>

#include "ground.h"
#include "launcher/manager/runtime.h"

/* Both are borrowed for the time of the call. Its pid; −1 where there can be none: then there is the guard. */
pid_t undertaker_start(const RuntimeDir *dir, const Ground *ground);

/* When the keeper leaves in order. It may not be among the manager's cgroups yet. */
void undertaker_stop(pid_t undertaker);
