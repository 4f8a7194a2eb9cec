/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon-guard MANAGER-SOCKET OWN-SOCKET UID: started by a launcher as a service, with the launcher's connection as standard
 * input; or by the manager again after it was killed, with or without it. A failure ends it with 1. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbus/connect.h"
#include "guard.h"
#include "socket.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)

static int first_connection(void) {
        int type = 0;
        socklen_t size = sizeof type;

        if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
            type != SOCK_SEQPACKET)
                return -1;
        return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
}

/* Made beside and put in place in one step: a launcher finds a socket that somebody listens on, or none. There is one guard
 * at a time, so the name beside is its own. */
static int listener(const char *path, uid_t uid) {
        g_autofree char *fresh = g_strconcat(path, ".new", NULL);
        int fd = guard_listen(fresh, uid);

        if (fd >= 0 && rename(fresh, path) < 0) {
                (void)unlink(fresh);
                (void)close(fd);
                return -1;
        }
        return fd;
}

/* A launcher is a connection, and a manager gives its services few of them. */
static void lift_own_limit(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int run(const GuardSettings *settings, GError **error) {
        g_autoptr(sd_event) event = NULL;
        int r = sd_event_new(&event);

        if (r < 0)
                return r;

        g_autoptr(Guard) guard = guard_new(event, settings, error);

        return guard ? sd_event_loop(event) : -1;
}

int main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        GuardSettings settings = { 0 };

        if (argc != 4) {
                fprintf(stderr, "cordon-guard is started by cordon; it is of no use by hand\n");
                return EXIT_FAILURE;
        }

        lift_own_limit();
        settings.manager_socket = argv[1];
        settings.socket_path = argv[2];
        settings.uid = (uid_t)strtoul(argv[3], NULL, 10);
        settings.first_fd = first_connection();
        settings.listen_fd = listener(settings.socket_path, settings.uid);
        if (run(&settings, &error) < 0) {
                fprintf(stderr, "cordon-guard: %s\n", error ? error->message : "cannot run");
                return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}
