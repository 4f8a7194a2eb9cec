/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sweeping. The hard thing is not to meet anybody: so it is done under the lock that means "being started", which is
 * never waited for, and after asking the kernel whether the `alive` lock is held. That lock belongs to a process, also
 * one that our pid namespace cannot see. */

#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "launcher/manager/fd.h"

#define SWEEP_USEC       (2 * G_USEC_PER_SEC)
#define SWEEP_PREFIX     "private-"
#define SWEEP_KEY_DIGITS 16
#define SWEEP_GONE       ".gone-"

/* What cannot be known counts as living. */
static bool sweep_is_alive(int dir_fd) {
        AUTO_CLOSE int file = openat(dir_fd, "alive", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (file < 0)
                return errno != ENOENT;
        return fcntl(file, F_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* The name without ".gone-PID"; NULL where it is no private manager's. */
static char *sweep_name(const char *entry) {
        size_t length = strlen(SWEEP_PREFIX) + SWEEP_KEY_DIGITS;
        const char *key = entry + strlen(SWEEP_PREFIX);

        if (!g_str_has_prefix(entry, SWEEP_PREFIX) ||
            strspn(key, "0123456789abcdef") != SWEEP_KEY_DIGITS)
                return NULL;
        if (entry[length] != '\0' && !g_str_has_prefix(entry + length, SWEEP_GONE))
                return NULL;
        return g_strndup(entry, length);
}

/* Those that bear the name, also behind it. */
static GPtrArray *sweep_entries(int base_fd, const char *name) {
        GPtrArray *entries = g_ptr_array_new_with_free_func(g_free);
        int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        while (stream && (entry = readdir(stream))) {
                g_autofree char *of = sweep_name(entry->d_name);

                if (of && (!name || g_str_equal(of, name)))
                        g_ptr_array_add(entries, g_strdup(entry->d_name));
        }
        if (stream)
                closedir(stream);
        return entries;
}

/* A directory that was on its way out has a record where its remover could not read it. */
static bool sweep_grounds(const RuntimeDir *dir, int64_t deadline_usec) {
        g_autoptr(GPtrArray) entries = sweep_entries(dir->base_fd, dir->name);
        bool is_clear = true;

        for (guint i = 0; i < entries->len; i++) {
                g_autofree char *record = g_build_filename(dir->base, entries->pdata[i], "ground",
                                                           NULL);

                is_clear = ground_sweep(record, deadline_usec) && is_clear;
        }
        return is_clear;
}

/* Made where it is missing: its lock is what keeps others from beginning with the same groups meanwhile. */
static int sweep_open(const RuntimeDir *dir) {
        if (mkdirat(dir->base_fd, dir->name, 0700) < 0 && errno != EEXIST)
                return -1;
        return openat(dir->base_fd, dir->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool sweep_one(const RuntimeDir *dir, const Ground *inside, int64_t deadline_usec) {
        g_auto(RuntimeDir) opened = RUNTIME_DIR_INIT;
        AUTO_CLOSE int fd = sweep_open(dir);

        if (fd < 0 || !runtime_dir_adopt(dir->path, fd, &opened, NULL))
                return true;
        (void)fd_steal(&fd);

        if (flock(opened.fd, LOCK_EX | LOCK_NB) < 0)
                return false;
        if (!runtime_dir_is_current(&opened) || sweep_is_alive(opened.fd))
                return true;

        if (inside)
                ground_leave(inside);
        if (!sweep_grounds(&opened, deadline_usec)) {
                /* Only what was made above is empty. */
                (void)unlinkat(dir->base_fd, dir->name, AT_REMOVEDIR);
                return false;
        }
        runtime_dir_remove(&opened);
        return true;
}

void sweep_others(const RuntimeDir *dir) {
        g_autoptr(GPtrArray) entries = sweep_entries(dir->base_fd, NULL);
        int64_t deadline = g_get_monotonic_time() + SWEEP_USEC;

        for (guint i = 0; i < entries->len && g_get_monotonic_time() < deadline; i++) {
                g_autofree char *name = sweep_name(entries->pdata[i]);
                g_autofree char *path = g_build_filename(dir->base, name, NULL);
                RuntimeDir other = { .base = dir->base,
                                     .base_fd = dir->base_fd,
                                     .name = name,
                                     .path = path,
                                     .fd = -1 };

                if (!g_str_equal(name, dir->name))
                        (void)sweep_one(&other, NULL, deadline);
        }
}
