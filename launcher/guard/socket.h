/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

/* The socket that a guard listens on. */

/* Makes the directory (the user's alone, else -EPERM) and a listening socket at the path, in place of what a dead one of the same
 * name left. Negative errno on failure. */
int guard_listen(const char *path, uid_t uid);
