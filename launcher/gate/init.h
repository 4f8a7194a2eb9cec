/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* In a pid namespace of its own the gate is process 1, which signals pass by and which orphans come to: no place for
 * somebody's program. So there it stays itself, and the program is its child. Libc alone. */

#include <stdbool.h>
#include <sys/types.h>

/* Is the calling process the first of a pid namespace? */
bool init_is_needed(void);

/* Forks. In the child: 0 and nothing else. In the parent the program's process, whose end init_run() waits for. −1: with
 * no task left for it the program has to be process 1 after all. */
pid_t init_fork(int ret_ends[2]);

/* Keeps nothing but its end. Says how the program ended, and ends as soon as that was taken, or nobody is there any more;
 * everything else in the namespace ends with it. Returns its exit status. */
int init_run(int end, pid_t program);
