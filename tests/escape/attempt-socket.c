/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sockets that lie in files: of cordon itself, of a container engine, of whoever listens below /run. */

#include "attempt.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define FILES 16

static int connect_to(const char *path) {
        static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd, r = -1, error = 0;

        (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        for (size_t i = 0; r < 0 && i < sizeof types / sizeof types[0]; i++) {
                fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
                r = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&address, sizeof address);
                if (r < 0 && errno != EPROTOTYPE)
                        error = errno;
                if (fd >= 0)
                        (void)close(fd);
        }
        errno = error;
        return r;
}

/* A request as a client of such an engine makes it. */
static void engine(char **arguments) {
        static const char request[] = "POST /containers/create HTTP/1.1\r\nHost: engine\r\n\r\n";
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[0]);
        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
            write(fd, request, sizeof request - 1) < 0)
                held();
        escaped("%s", arguments[0]);
}

static int try_socket(const char *path, const struct stat *info, int kind, struct FTW *walk) {
        if (kind == FTW_F && S_ISSOCK(info->st_mode) && connect_to(path) == 0)
                escaped("%s", path);
        return 0;
}

static int try_tree(const char *directory) {
        (void)nftw(directory, try_socket, FILES, FTW_PHYS);
        return -1;
}

static void sockets_in_run(char **arguments) {
        errno = ENOENT;
        (void)try_tree("/run");
        held();
}

/* Its guard and its private managers' keepers. */
static void sockets_of_cordon(char **arguments) {
        try_each(arguments[0], try_tree);
}

const Attempt socket_attempts[] = {
        { "engine", 1, engine },
        { "sockets-in-run", 0, sockets_in_run },
        { "sockets-of-cordon", 1, sockets_of_cordon },
        { 0 },
};
