/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* File descriptors that close themselves at the end of their scope (g_autofd came with GLib 2.76). */

#include <unistd.h>

#define AUTO_CLOSE __attribute__((unused, cleanup(fd_close_pointer)))

/* Closes what is open, keeps errno, leaves −1. */
void fd_close_pointer(int *fd);

/* Hands the descriptor over: the variable is −1 afterwards. */
static inline int fd_steal(int *fd) {
        int taken = *fd;
        *fd = -1;
        return taken;
}
