/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is in the directory decides who can have runs ended: it must be ours, and nobody else may write there. */

#include "socket.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol.h"

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

char *guard_socket_path(const char *guard_dir, bool is_direct) {
        return g_strdup_printf("%s/guard-%d%s", guard_dir, GUARD_PROTOCOL,
                               is_direct ? "" : "-system");
}

/* Only to ourselves or to root: where the directory could be anybody's, an answer would prove nothing. */
static bool listener_is_ours(int fd) {
        struct ucred peer;
        socklen_t size = sizeof peer;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
               (peer.uid == 0 || peer.uid == geteuid());
}

int guard_connect(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int r, fd;

        if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        r = connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
        if (r == 0 && !listener_is_ours(fd))
                r = -EPERM;
        if (r == 0)
                return fd;
        (void)close(fd);
        return r;
}

typedef union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
} OneDescriptor;

bool guard_send_fd(int socket_fd, const char *text, int fd) {
        OneDescriptor control = { .header = { .cmsg_len = CMSG_LEN(sizeof fd),
                                              .cmsg_level = SOL_SOCKET,
                                              .cmsg_type = SCM_RIGHTS } };
        struct iovec part = { .iov_base = (void *)text, .iov_len = strlen(text) };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = CMSG_SPACE(sizeof fd) };

        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        return sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static bool has_descriptors(const struct cmsghdr *part) {
        return part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS;
}

/* All that came are ours by now: what nobody asked for is closed. */
static int take_only(const struct cmsghdr *part) {
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        int fd = -1;

        for (size_t i = 0; i < count; i++) {
                memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
                if (count > 1)
                        (void)close(fd);
        }
        return count == 1 ? fd : -1;
}

ssize_t guard_receive(int socket_fd, char *text, size_t size, int *ret_fd) {
        OneDescriptor control = { 0 };
        struct iovec part = { .iov_base = text, .iov_len = size };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control };
        ssize_t n = recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        const struct cmsghdr *found = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

        *ret_fd = found && has_descriptors(found) ? take_only(found) : -1;
        return n;
}
