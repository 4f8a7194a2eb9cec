/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* File descriptors that close themselves. */

#include "fd.h"

#include <errno.h>

void fd_close_pointer(int *fd) {
        int saved = errno;

        if (*fd >= 0)
                (void)close(*fd);
        *fd = -1;
        errno = saved;
}
