/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The guard lives long and is told things by many: what they send along must not stay with it. */

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/guard/socket.h"

#define MANY 3

static int count_fds(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
        int count = 0;

        while (g_dir_read_name(dir))
                count++;
        return count;
}

/* So many of the same at once, as no launcher of ours does. */
static void send_many(int socket_fd, const char *text, size_t count) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(MANY * sizeof(int))];
        } control = { 0 };
        struct iovec part = { .iov_base = (void *)text, .iov_len = strlen(text) };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
        int fds[MANY] = { socket_fd, socket_fd, socket_fd };
        ssize_t n;

        control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(count * sizeof(int)),
                                           .cmsg_level = SOL_SOCKET,
                                           .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
        n = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
        g_assert(n == (ssize_t)strlen(text));
}

int main(void) {
        char text[64] = "";
        int ends[2], before, fd = -1;
        int r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);

        plan(NO_PLAN);
        g_assert(r == 0);
        before = count_fds();

        ok(guard_send_fd(ends[0], "relay", STDIN_FILENO), "a descriptor is sent along");
        cmp_ok(guard_receive(ends[1], text, sizeof text - 1, &fd), "==", 5, "its message arrives");
        is(text, "relay", "… whole");
        cmp_ok(fd, ">=", 0, "… and it with it");
        cmp_ok(fcntl(fd, F_GETFD), "==", FD_CLOEXEC, "… which no child of ours gets");
        (void)close(fd);

        for (size_t count = 2; count <= MANY; count++) {
                send_many(ends[0], "relay", count);
                cmp_ok(guard_receive(ends[1], text, sizeof text - 1, &fd), "==", 5,
                       "a message with %zu of them arrives", count);
                cmp_ok(fd, "==", -1, "… without any");
                cmp_ok(count_fds(), "==", before, "… and none stays open");
        }

        send_many(ends[0], "", 1);
        cmp_ok(guard_receive(ends[1], text, sizeof text - 1, &fd), "==", 0,
               "one may come without a word");
        if (fd >= 0)
                (void)close(fd);
        cmp_ok(count_fds(), "==", before, "… and is known of");

        ok(send(ends[0], "done", 4, 0) == 4 &&
                   guard_receive(ends[1], text, sizeof text - 1, &fd) == 4 && fd == -1,
           "most come without one");
        (void)close(ends[0]);
        (void)close(ends[1]);
        done_testing();
}
