/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting the launchers. A connection is the only thing that keeps the manager, and the kernel closes
 * it however a launcher ends, so there is nobody to be forgotten. */

#include "visitors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "launcher/manager/hold.h"

static void visitors_set_timer(const Visitors *visitors, uint64_t usec) {
        struct itimerspec when = {
                .it_value = { .tv_sec = (time_t)(usec / G_USEC_PER_SEC),
                              .tv_nsec = (long)(usec % G_USEC_PER_SEC) * 1000 },
        };

        (void)timerfd_settime(visitors->idle_fd, 0, &when, NULL);
}

static void visitors_update_timer(const Visitors *visitors) {
        if (visitors->fds->len > 0)
                visitors_set_timer(visitors, 0);
        else
                visitors_set_timer(visitors, MAX(visitors->idle_usec, 1));
}

static bool visitors_is_ours(int fd) {
        struct ucred peer;
        socklen_t size = sizeof(peer);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) >= 0 && peer.uid == geteuid();
}

/* Nobody waits for an answer: a launcher that does not read it has closed the connection. */
static void visitors_welcome(Visitors *visitors, int fd) {
        if (send(fd, HOLD_READY, strlen(HOLD_READY), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
                (void)close(fd);
                return;
        }
        g_array_append_val(visitors->fds, fd);
}

static int visitors_listen(int dir_fd) {
        AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" HOLD_SOCKET,
                       dir_fd);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(fd, SOMAXCONN) < 0)
                return -1;
        return fd_steal(&fd);
}

bool visitors_open(int dir_fd, int first_fd, uint64_t idle_usec, Visitors *ret_visitors,
                   GError **error) {
        g_auto(Visitors) visitors = VISITORS_INIT;

        visitors.idle_usec = idle_usec;
        visitors.fds = g_array_new(FALSE, FALSE, sizeof(int));
        visitors.idle_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        visitors.listen_fd = visitors_listen(dir_fd);
        if (visitors.idle_fd < 0 || visitors.listen_fd < 0) {
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_KEEPER,
                            "the keeper cannot listen: %s", g_strerror(errno));
                return false;
        }

        visitors_welcome(&visitors, first_fd);
        visitors_update_timer(&visitors);
        *ret_visitors = visitors;
        visitors = VISITORS_INIT;
        return true;
}

void visitors_accept(Visitors *visitors) {
        for (;;) {
                int fd = accept4(visitors->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (fd < 0 && errno == ECONNABORTED)
                        continue;
                if (fd < 0)
                        break;
                if (visitors_is_ours(fd))
                        visitors_welcome(visitors, fd);
                else
                        (void)close(fd);
        }
        visitors_update_timer(visitors);
}

void visitors_leave(Visitors *visitors, guint index) {
        (void)close(g_array_index(visitors->fds, int, index));
        g_array_remove_index_fast(visitors->fds, index);
        visitors_update_timer(visitors);
}

void visitors_clear(Visitors *visitors) {
        fd_close_pointer(&visitors->listen_fd);
        fd_close_pointer(&visitors->idle_fd);
        for (guint i = 0; visitors->fds && i < visitors->fds->len; i++)
                (void)close(g_array_index(visitors->fds, int, i));
        g_clear_pointer(&visitors->fds, g_array_unref);
}
