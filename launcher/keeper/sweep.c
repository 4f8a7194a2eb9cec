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

static bool sweep_is_gone(const char *name) {
        return strstr(name, SWEEP_GONE) != NULL;
}

static bool sweep_is_private(const char *name) {
        const char *key = name + strlen(SWEEP_PREFIX);

        return g_str_has_prefix(name, SWEEP_PREFIX) &&
               strspn(key, "0123456789abcdef") == SWEEP_KEY_DIGITS &&
               (key[SWEEP_KEY_DIGITS] == '\0' ||
                g_str_has_prefix(key + SWEEP_KEY_DIGITS, SWEEP_GONE));
}

static GPtrArray *sweep_names(int base_fd) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        while (stream && (entry = readdir(stream)))
                if (sweep_is_private(entry->d_name))
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        if (stream)
                closedir(stream);
        return names;
}

/* A directory that was on its way out has a record only where its remover could not read it. The groups may be those of
 * a later manager with the same key by now, which clears them itself. */
static bool sweep_ground(const RuntimeDir *dir, int64_t deadline_usec) {
        g_autofree char *record = g_build_filename(dir->path, "ground", NULL);
        g_autofree char *heir = g_strndup(dir->name, strlen(SWEEP_PREFIX) + SWEEP_KEY_DIGITS);

        if (sweep_is_gone(dir->name) && faccessat(dir->base_fd, heir, F_OK, 0) >= 0)
                return true;
        return ground_sweep(record, deadline_usec);
}

bool sweep_one(const RuntimeDir *dir, const Ground *inside, int64_t deadline_usec) {
        g_auto(RuntimeDir) opened = RUNTIME_DIR_INIT;
        AUTO_CLOSE int fd = openat(dir->base_fd, dir->name,
                                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 || !runtime_dir_adopt(dir->path, fd, &opened, NULL)) {
                /* Somebody took it away: then at least nothing goes on running. */
                if (inside)
                        ground_leave(inside);
                return true;
        }
        (void)fd_steal(&fd);

        if (flock(opened.fd, LOCK_EX | LOCK_NB) < 0)
                return false;
        if (!runtime_dir_is_current(&opened) || sweep_is_alive(opened.fd))
                return true;

        if (inside)
                ground_leave(inside);
        if (!sweep_ground(&opened, deadline_usec))
                return false;
        runtime_dir_remove(&opened);
        return true;
}

void sweep_others(const RuntimeDir *dir) {
        g_autoptr(GPtrArray) names = sweep_names(dir->base_fd);
        int64_t deadline = g_get_monotonic_time() + SWEEP_USEC;

        for (guint i = 0; i < names->len && g_get_monotonic_time() < deadline; i++) {
                char *name = names->pdata[i];
                g_autofree char *path = g_build_filename(dir->base, name, NULL);
                RuntimeDir other = { .base_fd = dir->base_fd,
                                     .base = dir->base,
                                     .name = name,
                                     .path = path,
                                     .fd = -1 };

                if (!g_str_equal(name, dir->name))
                        (void)sweep_one(&other, NULL, deadline);
        }
}
