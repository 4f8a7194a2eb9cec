/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The directory is called net-UID-PID-STARTTIME-ID: whoever finds it knows whether somebody still needs it. It is the
 * guard's directory that it is in, which the last guard removes at any moment. */

#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/caller.h"
#include "launcher/kernel/error.h"
#include "launcher/manager/fd.h"

#define PREFIX "net-"
#define TRIES  16

static const struct {
        const char *name, *place;
} files[] = {
        { "hosts", "/etc/hosts" },
        { "nsswitch.conf", "/etc/nsswitch.conf" },
        { "resolv.conf", "/etc/resolv.conf" },
};

static char *directory_of(const char *base, const char *owner, const char *id) {
        g_autofree char *dashed = g_strdelimit(g_strdup(owner), ":", '-');

        return g_strdup_printf("%s/" PREFIX "%s-%s", base, dashed, id);
}

void pins_remove(const char *directory) {
        AUTO_CLOSE int fd = directory ? open(directory,
                                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                      : -1;

        if (fd < 0)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                (void)unlinkat(fd, files[i].name, 0);
        (void)rmdir(directory);
}

void pins_remove_of(const char *base, const char *owner, const char *id) {
        g_autofree char *directory = directory_of(base, owner, id);

        pins_remove(directory);
}

static bool is_abandoned(const char *name) {
        unsigned uid, pid;
        unsigned long long start;
        g_autofree char *identity = NULL, *now = NULL;

        if (sscanf(name, PREFIX "%u-%u-%llu-", &uid, &pid, &start) != 3)
                return false;
        identity = g_strdup_printf("%u:%u:%llu", uid, pid, start);
        now = caller_process_identity((pid_t)pid);
        return g_strcmp0(now, identity) != 0;
}

/* What launcher and guard left that were killed together. */
static void sweep(const char *base) {
        GDir *entries = g_dir_open(base, 0, NULL);
        const char *name;

        while (entries && (name = g_dir_read_name(entries)))
                if (is_abandoned(name)) {
                        g_autofree char *path = g_build_filename(base, name, NULL);

                        pins_remove(path);
                }
        if (entries)
                g_dir_close(entries);
}

static bool is_ours(const char *path) {
        struct stat st;

        errno = EPERM;
        return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
               (st.st_mode & 0022) == 0;
}

static bool make_directory(const char *base, const char *directory) {
        for (int i = 0; i < TRIES; i++) {
                if ((mkdir(base, 0700) < 0 && errno != EEXIST) ||
                    (!is_ours(base) && errno == EPERM))
                        return false;
                if (mkdir(directory, 0700) == 0)
                        return true;
                if (errno != ENOENT)
                        return false;
        }
        return false;
}

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
        g_autofree char *owner = caller_process_identity(getpid());
        g_autofree char *directory = directory_of(base, owner ?: "0:0:0", id);

        *ret_directory = NULL;
        if (!set->allow)
                return true;
        sweep(base);
        if (!make_directory(base, directory)) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot make %s: %s",
                            directory, g_strerror(errno));
                return false;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                if (!make_file(set->allow, directory, i, error)) {
                        pins_remove(directory);
                        return false;
                }
        hide_resolvers(set);
        *ret_directory = g_steal_pointer(&directory);
        return true;
}
