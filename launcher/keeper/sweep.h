/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What private managers left whose keepers were killed: directories beside ours, and the cgroups that their records
 * name. Their keys may be of namespaces and cgroups that nobody will ever be in again, so whoever comes along clears
 * them. One whose keeper lives, or is being started, is never touched. */

#include <stdbool.h>
#include <stdint.h>

#include "ground.h"
#include "launcher/manager/runtime.h"

/* Everything in the directory's BASE but itself. Bounded; what takes longer is left to the next. */
void sweep_others(const RuntimeDir *dir);

/* The directory itself, by its name. `inside` is the ground that the calling process is in, or NULL. False: it may
 * be worth another try, because somebody holds its lock or one of its groups is busy. */
bool sweep_one(const RuntimeDir *dir, const Ground *inside, int64_t deadline_usec);
