/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* That poll(2) says yes is no promise for more than a byte, and O_NONBLOCK is set on what a shell and its other children
 * share. So terminals and pipes are opened anew. Where that is denied (after su, a terminal is another user's) there is no
 * other way than to set it for everybody for a while. Files and devices never make us wait for long. */

#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may_wait(int fd) {
        struct stat st;

        return isatty(fd) || (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode));
}

static int open_anew(int fd, int mode) {
        char path[64];

        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void set_nonblocking(int fd, bool is_nonblocking) {
        int flags = fcntl(fd, F_GETFL);

        if (flags >= 0)
                (void)fcntl(fd, F_SETFL, is_nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

static bool is_nonblocking(int fd) {
        int flags = fcntl(fd, F_GETFL);

        return flags >= 0 && (flags & O_NONBLOCK);
}

void outlet_open(Outlet *outlet, int fd, int mode) {
        struct stat st;
        int own = fd >= 0 && may_wait(fd) ? open_anew(fd, mode) : -1;

        *outlet = (Outlet){ .fd = own >= 0 ? own : fd, .is_own = own >= 0 };
        if (fd < 0 || own >= 0)
                return;
        outlet->is_socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
        outlet->is_changed = mode == O_WRONLY && may_wait(fd) && !is_nonblocking(fd);
        outlet_resume(outlet);
}

void outlet_close(Outlet *outlet) {
        outlet_rest(outlet);
        if (outlet->is_own)
                (void)close(outlet->fd);
        *outlet = OUTLET_INIT;
}

/* What one reads in another's stead is there now, or nothing is read. */
ssize_t outlet_read(const Outlet *outlet, void *data, size_t size) {
        struct pollfd wait = { .fd = outlet->fd, .events = POLLIN };

        if (outlet->is_socket)
                return recv(outlet->fd, data, size, MSG_DONTWAIT);
        if (!outlet->is_own && poll(&wait, 1, 0) == 0) {
                errno = EAGAIN;
                return -1;
        }
        return read(outlet->fd, data, size);
}

ssize_t outlet_write(const Outlet *outlet, const void *data, size_t size) {
        if (outlet->is_socket)
                return send(outlet->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        return write(outlet->fd, data, size);
}

void outlet_rest(Outlet *outlet) {
        if (outlet->is_changed)
                set_nonblocking(outlet->fd, false);
}

void outlet_resume(Outlet *outlet) {
        if (outlet->is_changed)
                set_nonblocking(outlet->fd, true);
}
