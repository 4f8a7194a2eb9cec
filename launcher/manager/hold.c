/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Connecting to cordon-keeper. A connection counts only after its "ready" came: one that was still in
 * the queue of a keeper that is leaving gets end of file instead, and its launcher tries again. */

#include "hold.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "error.h"
#include "fd.h"

int hold_connect(int dir_fd) {
        AUTO_CLOSE int fd = -1;
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        /* By way of the open directory: no name in between can be replaced, no path is too long. */
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" HOLD_SOCKET,
                       dir_fd);

        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -1;
        return fd_steal(&fd);
}

static HoldAnswer hold_parse(const char *text, GError **error) {
        char *end = NULL;
        guint64 code;

        if (g_str_equal(text, HOLD_READY))
                return HOLD_READY_SAID;

        if (!g_str_has_prefix(text, HOLD_ERROR))
                return HOLD_NOBODY;

        code = g_ascii_strtoull(text + strlen(HOLD_ERROR), &end, 10);
        g_set_error_literal(error, MANAGER_ERROR, (int)code, *end == ' ' ? end + 1 : end);
        return HOLD_FAILED;
}

HoldAnswer hold_wait(int fd, uint64_t timeout_usec, GError **error) {
        gint64 deadline = g_get_monotonic_time() + (gint64)timeout_usec;
        char text[HOLD_MESSAGE_MAX + 1];
        ssize_t n;

        for (;;) {
                struct pollfd wait = { .fd = fd, .events = POLLIN };
                gint64 left_usec = deadline - g_get_monotonic_time();
                int r = poll(&wait, 1, left_usec > 0 ? (int)((left_usec + 999) / 1000) : 0);

                if (r > 0)
                        break;
                if (r == 0)
                        return HOLD_SILENT;
                if (errno != EINTR)
                        return HOLD_NOBODY;
        }

        n = recv(fd, text, sizeof(text) - 1, 0);
        if (n <= 0)
                return HOLD_NOBODY;

        text[n] = '\0';
        return hold_parse(text, error);
}
