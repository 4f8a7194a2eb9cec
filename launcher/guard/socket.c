/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is in the directory decides who can have runs ended: it must be ours, and nobody else may write there. */

#include "socket.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool make_directory(const char *path, uid_t uid) {
        struct stat st;

        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return false;
        if (lstat(path, &st) < 0)
                return false;
        errno = EPERM;
        return S_ISDIR(st.st_mode) && st.st_uid == uid && (st.st_mode & 0022) == 0;
}

int guard_listen(const char *path, uid_t uid) {
        g_autofree char *directory = g_path_get_dirname(path);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd;

        if (!make_directory(directory, uid))
                return -errno;
        if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        (void)unlink(path);
        if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
            listen(fd, SOMAXCONN) < 0) {
                int r = -errno;

                (void)close(fd);
                return r;
        }
        return fd;
}
