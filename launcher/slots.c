/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Why a FIFO: when a holder is killed, the kernel first drops its locks and then closes the pipe, and a reader polls as
 * hung up for as long as there is no writer. With inotify it is the other way round: the event comes while the lock is still
 * there, and who looks in between sleeps for ever.
 *
 * A slot has its final name only while somebody writes to it, so one without a writer is dead, whoever looks. Files are
 * removed by their holder; those of the dead by whoever finds them. A directory goes with its last file: who is about to
 * put one there is told that it is gone, and makes another. */

#include "slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"

#define TRIES 64
#define POOLS "pools"

static bool is_ours(int fd) {
        struct stat st;

        return fstat(fd, &st) >= 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
               (st.st_mode & 0022) == 0;
}

static int open_directory(int parent, const char *name) {
        return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Neither XDG_RUNTIME_DIR nor the manager counts: all of a user's launchers must meet, in whatever they are nested. */
static char *place(void) {
        g_autofree char *session = g_strdup_printf("/run/user/%u", (unsigned)geteuid());
        int fd;
        bool is_usable;

        if (geteuid() == 0 && access("/run", W_OK) >= 0)
                return g_strdup("/run/cordon");
        fd = open_directory(AT_FDCWD, session);
        is_usable = fd >= 0 && is_ours(fd) && faccessat(fd, ".", W_OK, AT_EACCESS) >= 0;
        if (fd >= 0)
                (void)close(fd);
        return is_usable ? g_build_filename(session, "cordon", NULL)
                         : g_strdup_printf("/tmp/cordon-%u", (unsigned)geteuid());
}

/* −1 with errno; EPERM: it is somebody else's. */
static int make_directory(const char *path) {
        int fd;

        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return -1;
        fd = open_directory(AT_FDCWD, path);
        if (fd < 0 || is_ours(fd))
                return fd;
        (void)close(fd);
        errno = EPERM;
        return -1;
}

/* From the place down. */
static int make_all(const char *path) {
        g_autofree char *pools = g_path_get_dirname(path);
        g_autofree char *base = g_path_get_dirname(pools);
        const char *const levels[] = { base, pools, path };
        int fd = -1;

        for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
                if (fd >= 0)
                        (void)close(fd);
                fd = make_directory(levels[i]);
                if (fd < 0)
                        return -1;
        }
        return fd;
}

static void set_error(GError **error, const char *path) {
        if (errno == EPERM)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "--max-parallel: %s is not in a directory of this user alone", path);
        else
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "--max-parallel: no slot in %s: %s", path, g_strerror(errno));
}

SlotsResult slot_dir_open(const char *pool, SlotDir *ret_dir, GError **error) {
        g_autofree char *base = place();
        g_autofree char *path = g_build_filename(base, POOLS, pool, NULL);
        int fd = -1;

        /* It may be removed between two steps. */
        for (int i = 0; i < TRIES && fd < 0; i++) {
                fd = make_all(path);
                if (fd < 0 && errno != ENOENT)
                        break;
        }
        if (fd < 0) {
                set_error(error, path);
                return SLOTS_FAILED;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                bool is_busy = errno == EWOULDBLOCK || errno == EINTR;

                if (!is_busy)
                        set_error(error, path);
                (void)close(fd);
                return is_busy ? SLOTS_BUSY : SLOTS_FAILED;
        }
        *ret_dir = (SlotDir){ .path = g_steal_pointer(&path), .fd = fd };
        return SLOTS_OK;
}

void slot_dir_clear(SlotDir *dir) {
        if (dir->fd >= 0)
                (void)close(dir->fd);
        g_free(dir->path);
        *dir = SLOT_DIR_INIT;
}

/* But for those that are not born yet. */
static GHashTable *list(int dir) {
        GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        int fd = open_directory(dir, ".");
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        const struct dirent *entry;

        while (stream && (entry = readdir(stream)))
                if (entry->d_name[0] != '.')
                        g_hash_table_add(names, g_strdup(entry->d_name));
        if (stream)
                (void)closedir(stream);
        else if (fd >= 0)
                (void)close(fd);
        return names;
}

GHashTable *slot_dir_list(const SlotDir *dir) {
        return list(dir->fd);
}

static int watch(int dir, const char *name) {
        int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
        char nothing;

        if (fd < 0)
                return errno == ENOENT ? -1 : -2;
        if (read(fd, &nothing, 1) < 0 && errno == EAGAIN)
                return fd; /* there is a writer, who never writes */
        (void)close(fd);
        (void)unlinkat(dir, name, 0);
        return -1;
}

int slot_dir_watch(const SlotDir *dir, const char *name) {
        return watch(dir->fd, name);
}

static char *make_up_name(void) {
        uint64_t random = 0;

        while (getrandom(&random, sizeof random, 0) != sizeof random)
                ;
        return g_strdup_printf(".%016" G_GINT64_MODIFIER "x", random);
}

/* Born under a hidden name. Who sweeps may take that for dead: then there will be another one. */
static int take_once(int dir, const char *hidden, const char *name) {
        int fd;

        if (mkfifoat(dir, hidden, 0600) < 0)
                return -1;
        fd = openat(dir, hidden, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) {
                int reason = errno;

                (void)unlinkat(dir, hidden, 0);
                errno = reason;
                return -1;
        }
        if (renameat(dir, hidden, dir, name) >= 0)
                return fd;
        (void)close(fd);
        return -1;
}

/* Gone meanwhile is the file, or the directory itself, which the last one of others took with him. */
SlotsResult slot_dir_take(const SlotDir *dir, Slot *ret_slot, GError **error) {
        g_autofree char *hidden = make_up_name();
        int fd = take_once(dir->fd, hidden, hidden + 1);

        if (fd >= 0) {
                *ret_slot = (Slot){ .path = g_build_filename(dir->path, hidden + 1, NULL),
                                    .fd = fd };
                return SLOTS_OK;
        }
        if (errno == ENOENT)
                return SLOTS_BUSY;
        set_error(error, dir->path);
        return SLOTS_FAILED;
}

/* As far as the first one that lives: that one comes by here, too. With many of them, that is soon. */
static void sweep_directory(const char *path) {
        int dir = open_directory(AT_FDCWD, path), fd = -1;
        DIR *stream = dir < 0 ? NULL : fdopendir(dir);
        const struct dirent *entry;

        while (fd == -1 && stream && (entry = readdir(stream)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        fd = watch(dir, entry->d_name);
        if (fd >= 0)
                (void)close(fd);
        if (stream)
                (void)closedir(stream);
        else if (dir >= 0)
                (void)close(dir);
        (void)rmdir(path);
}

/* Each only when it is empty. */
static void remove_above(const char *path) {
        g_autofree char *pools = g_path_get_dirname(path);
        g_autofree char *base = g_path_get_dirname(pools);

        if (rmdir(pools) >= 0)
                (void)rmdir(base);
}

void slot_release(Slot *slot) {
        g_autofree char *directory = NULL;

        if (!slot->path)
                return;
        directory = g_path_get_dirname(slot->path);
        (void)unlink(slot->path);
        (void)close(slot->fd);
        sweep_directory(directory);
        remove_above(directory);
        g_free(slot->path);
        *slot = SLOT_INIT;
}

void slots_sweep(void) {
        g_autofree char *base = place();
        g_autofree char *pools = g_build_filename(base, POOLS, NULL);
        g_autoptr(GHashTable) names = NULL;
        GHashTableIter iter;
        gpointer name;
        int dir = open_directory(AT_FDCWD, pools);

        if (dir < 0)
                return;
        if (is_ours(dir)) {
                names = list(dir);
                g_hash_table_iter_init(&iter, names);
                while (g_hash_table_iter_next(&iter, &name, NULL)) {
                        g_autofree char *path = g_build_filename(pools, name, NULL);

                        sweep_directory(path);
                }
        }
        (void)close(dir);
        if (rmdir(pools) >= 0)
                (void)rmdir(base);
}
