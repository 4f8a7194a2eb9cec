/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pidfd.h"

#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <string.h>

#include "file.h"

static const char *behind(const char *text, const char *key) {
        const char *line = text ? strstr(text, key) : NULL;

        return line ? line + strlen(key) : NULL;
}

pid_t pidfd_process(int pidfd) {
        g_autofree char *path = g_strdup_printf("/proc/self/fdinfo/%d", pidfd);
        g_autofree char *text = NULL;
        const char *number;

        text = file_read_record(AT_FDCWD, path);
        number = behind(text, "\nPid:");
        return number ? (pid_t)g_ascii_strtoll(number, NULL, 10) : -1;
}

bool pidfd_user(int pidfd, uid_t *ret_uid) {
        pid_t pid = pidfd_process(pidfd);
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
        g_autofree char *text = NULL;
        const char *number;

        if (pid <= 0)
                return false;
        text = file_read_record(AT_FDCWD, path);
        number = behind(text, "\nUid:");
        if (!number)
                return false;
        *ret_uid = (uid_t)g_ascii_strtoull(number, NULL, 10);
        return true;
}

bool pidfd_is_dead(int pidfd) {
        struct pollfd item = { .fd = pidfd, .events = POLLIN };

        return poll(&item, 1, 0) == 1 && (item.revents & POLLIN);
}
