/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* In a pid namespace of its own the gate is process 1, which signals pass by and which orphans come to: no place for
 * somebody's program. So there it stays itself, and the program is its child. Libc alone. */

#include <stdbool.h>
#include <sys/types.h>

/* Is the calling process the first of a pid namespace? */
bool init_is_needed(void);

/* Forks. In the child: 0, and init_await() comes next. In the parent the program's process, whose end init_run() waits
 * for. −1: there is no task left for it. */
pid_t init_fork(int ret_ends[2]);

/* In the child: until its parent is what nobody in here can look into. Only the other end stays open. False: it is gone. */
bool init_await(const int ends[2]);

/* Keeps nothing but its end. Says how the program ended, and ends as soon as that was taken, or nobody is there any more;
 * everything else in the namespace ends with it. Returns its exit status. */
int init_run(int end, pid_t program);
