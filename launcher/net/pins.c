/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/manager/fd.h"
#include "launcher/rundir.h"

static const struct {
        const char *name, *place;
} files[] = {
        { "hosts", "/etc/hosts" },
        { "nsswitch.conf", "/etc/nsswitch.conf" },
        { "resolv.conf", "/etc/resolv.conf" },
};

/* For everybody to read, whatever our umask is: the program may be another user's. */
static bool write_file(const char *path, const char *text) {
        AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        size_t size = strlen(text);

        return fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, text, size) == (ssize_t)size;
}

static char *text_of(const Allow *allow, const char *name) {
        g_autofree char *original = NULL;

        if (strcmp(name, "hosts") == 0)
                return allow_hosts_text(allow);
        if (strcmp(name, "resolv.conf") == 0)
                return allow_resolver_text();
        (void)g_file_get_contents("/etc/nsswitch.conf", &original, NULL, NULL);
        return allow_nsswitch_text(original ?: "");
}

/* Where a file is missing a mount would make one, on the machine. Without a file of names nothing can be pinned. */
static bool make_file(Allow *allow, const char *directory, size_t i, GError **error) {
        g_autofree char *path = g_build_filename(directory, files[i].name, NULL);
        g_autofree char *place = realpath(files[i].place, NULL);
        g_autofree char *text = text_of(allow, files[i].name);

        if (!place && (strcmp(files[i].name, "hosts") != 0 || allow->pins->len == 0))
                return true;
        if (!place) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--net allow cannot name hosts here: there is no %s", files[i].place);
                return false;
        }
        if (!write_file(path, text)) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot write %s: %s",
                            path, g_strerror(errno));
                return false;
        }
        allow_cover(allow, path, place);
        return true;
}

/* Who would resolve names for the program, over a socket in a file. */
static void hide_resolvers(const IsolationSet *set) {
        static const char *const directories[] = { "/run/nscd", "/run/systemd/resolve" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories) && !set->has_strict_fs; i++)
                if (g_file_test(directories[i], G_FILE_TEST_IS_DIR))
                        g_ptr_array_add(set->allow->hidden, g_strdup(directories[i]));
}

bool pins_make(const IsolationSet *set, const char *base, const char *id, char **ret_directory,
               GError **error) {
        g_autofree char *directory = NULL;

        *ret_directory = NULL;
        if (!set->allow)
                return true;
        directory = rundir_make(base, RUNDIR_PINS, id, 0700, error);
        if (!directory)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                if (!make_file(set->allow, directory, i, error)) {
                        rundir_remove(directory);
                        return false;
                }
        hide_resolvers(set);
        *ret_directory = g_steal_pointer(&directory);
        return true;
}
