/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The base is the guard's directory, which the last guard removes at any moment. */

#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/caller.h"
#include "launcher/kernel/error.h"

#define TRIES     16
#define DEPTH_MAX 256 /* a path has no more than 4096 letters, but nobody needs half of that */

static const char *const kinds[] = { RUNDIR_PINS, RUNDIR_ROOT };

static char *path_of(const char *base, const char *kind, const char *owner, const char *id) {
        g_autofree char *dashed = g_strdelimit(g_strdup(owner), ":", '-');

        return g_strdup_printf("%s/%s-%s-%s", base, kind, dashed, id);
}

/* What is in a directory goes; links are not followed. Takes the descriptor. */
static void empty(int fd, int depth) {
        DIR *entries = fdopendir(fd);
        const struct dirent *entry;

        if (!entries) {
                (void)close(fd);
                return;
        }
        while ((entry = readdir(entries))) {
                int inner;

                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                    unlinkat(fd, entry->d_name, 0) == 0)
                        continue;
                inner = depth > 0 ? openat(fd, entry->d_name,
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                  : -1;
                if (inner >= 0)
                        empty(inner, depth - 1);
                (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
        (void)closedir(entries);
}

void rundir_remove(const char *directory) {
        int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

        if (fd < 0)
                return;
        empty(fd, DEPTH_MAX);
        (void)rmdir(directory);
}

void rundir_remove_of(const char *base, const char *owner, const char *id) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *directory = path_of(base, kinds[i], owner, id);

                rundir_remove(directory);
        }
}

/* After its kind, a name goes on with the launcher's identity. */
static bool is_abandoned(const char *name, const char *kind) {
        size_t length = strlen(kind);
        unsigned uid, pid;
        unsigned long long start;
        g_autofree char *identity = NULL, *now = NULL;

        if (strncmp(name, kind, length) != 0 ||
            sscanf(name + length, "-%u-%u-%llu-", &uid, &pid, &start) != 3)
                return false;
        identity = g_strdup_printf("%u:%u:%llu", uid, pid, start);
        now = caller_process_identity((pid_t)pid);
        return g_strcmp0(now, identity) != 0;
}

static bool is_ours(const char *path) {
        struct stat st;

        errno = EPERM;
        return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
               (st.st_mode & 0022) == 0;
}

static void sweep(const char *base, const char *kind) {
        GDir *entries = g_dir_open(base, 0, NULL);
        const char *name;

        while (entries && (name = g_dir_read_name(entries))) {
                g_autofree char *path = g_build_filename(base, name, NULL);

                if (is_abandoned(name, kind) && is_ours(path))
                        rundir_remove(path);
        }
        if (entries)
                g_dir_close(entries);
}

static bool make(const char *base, const char *directory, mode_t mode) {
        for (int i = 0; i < TRIES; i++) {
                if ((mkdir(base, 0700) < 0 && errno != EEXIST) ||
                    (!is_ours(base) && errno == EPERM))
                        return false;
                if (mkdir(directory, 0700) == 0)
                        return chmod(directory, mode) == 0; /* whatever our umask is */
                if (errno != ENOENT)
                        return false;
        }
        return false;
}

static char *fail(const char *directory, GError **error) {
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot make %s: %s", directory,
                    g_strerror(errno));
        return NULL;
}

char *rundir_make(const char *base, const char *kind, const char *id, mode_t mode, GError **error) {
        g_autofree char *owner = caller_process_identity(getpid());
        g_autofree char *directory = path_of(base, kind, owner ?: "0:0:0", id);

        if (!make(base, directory, mode))
                return fail(directory, error);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                sweep(base, kinds[i]);
        return g_steal_pointer(&directory);
}

char *rundir_make_temporary(const char *base, const char *kind, GError **error) {
        g_autofree char *owner = caller_process_identity(getpid());
        g_autofree char *directory = path_of(base, kind, owner ?: "0:0:0", "XXXXXX");

        sweep(base, kind);
        if (!g_mkdtemp_full(directory, 0700))
                return fail(directory, error);
        return g_steal_pointer(&directory);
}
