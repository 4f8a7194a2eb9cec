/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Landlock's scopes: whom a process and its children can reach. Libc alone. */

#include <stdbool.h>

/* From now on no signal and no connection to an abstract socket leaves what starts here. Needs no-new-privs. False: this
 * kernel (before 6.12, or without Landlock) cannot. */
bool scope_close(void);

/* From now on nobody's resource limits can be set but one's own (prlimit(2) with 0): it is one call for both, so the filter
 * of units/untrusted, which knows no arguments, allows it. Needs no-new-privs, and comes last. */
bool scope_limits(void);

/* Is a system call forbidden that only units/untrusted forbids? A filter of a container's around us does not count. */
bool scope_is_filtered(void);
