/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A network socket among the streams that the program gets goes round every filter: it belongs to who made it. */

#include "start.h"

#include <sys/socket.h>
#include <unistd.h>

#include "filter.h"
#include "launcher/kernel/error.h"
#include "pins.h"

static bool is_network_socket(int fd) {
        int domain = AF_UNIX;
        socklen_t size = sizeof domain;

        return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
               domain != AF_UNIX;
}

static bool check_streams(const LaunchSettings *settings, GError **error) {
        static const char *const names[] = { "standard input", "standard output",
                                             "standard error" };
        const IsolationSet *set = &settings->spec->isolation;

        for (int i = 0; isolation_is_asked(set, ISOLATION_NET) && i < 3; i++) {
                bool is_passed = i == STDIN_FILENO || !settings->is_capture;

                if (!is_passed || !is_network_socket(settings->stdio[i]))
                        continue;
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--net %s: %s is a network socket, which would go round it; put a "
                            "pipe or a file there",
                            set->allow ? "allow" : "none", names[i]);
                return false;
        }
        return true;
}

bool net_start(const LaunchSettings *settings, char **ret_pins, GError **error) {
        const IsolationSet *set = &settings->spec->isolation;

        return check_streams(settings, error) &&
               (settings->is_best_effort || filter_can_be_had(set, settings->door, error)) &&
               pins_make(set, settings->door->guard_dir, settings->spec->id, ret_pins, error);
}
