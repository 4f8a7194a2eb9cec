/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A network socket among the streams that the program gets goes round every filter: it belongs to who made it. So does a
 * directory, which leads to all that lies below it where it was opened. */

#include "start.h"

#include <sys/socket.h>
#include <sys/stat.h>
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

static bool is_directory(int fd) {
        struct stat st;

        return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What of the isolation a stream would lead round; NULL: nothing. */
static const char *passed_by(const IsolationSet *set, int fd, const char **ret_kind) {
        *ret_kind = "network socket";
        if (isolation_is_asked(set, ISOLATION_NET) && is_network_socket(fd))
                return set->allow ? "net allow" : "net none";
        *ret_kind = "directory";
        if (!isolation_any_mount(set) || !is_directory(fd))
                return NULL;
        for (Isolation i = 0; i < _ISOLATION_MAX; i++)
                if (i != ISOLATION_NET && isolation_is_asked(set, i))
                        return isolation_info(i)->key;
        return NULL;
}

static bool check_streams(const LaunchSettings *settings, GError **error) {
        static const char *const names[] = { "standard input", "standard output",
                                             "standard error" };

        for (int i = 0; i < 3; i++) {
                bool is_passed = i == STDIN_FILENO || !settings->is_capture;
                const char *kind;
                const char *key = is_passed ? passed_by(&settings->spec->isolation,
                                                        settings->stdio[i], &kind)
                                            : NULL;

                if (!key)
                        continue;
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--%s: %s is a %s, which would go round it; put a pipe or a file "
                            "there",
                            key, names[i], kind);
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
