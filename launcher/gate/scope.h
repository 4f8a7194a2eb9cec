/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Landlock's scopes: whom a process and its children can reach. Libc alone. */

#include <stdbool.h>

/* From now on no signal and no connection to an abstract socket leaves what starts here. Needs no-new-privs. False: this
 * kernel (before 6.12, or without Landlock) cannot. */
bool scope_close(void);
