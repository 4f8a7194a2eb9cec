/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime directory: the one place where launchers and the keeper of a private manager meet. The
 * hard thing is its end: it must go without a trace while somebody may be about to use it. So the name
 * is taken away by one rename before anything in it is removed, and whoever holds the lock on the
 * directory asks again whether the name still means it. */

#include "runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "error.h"
#include "fd.h"

/* BASE can vanish between its making and its use, when the last manager in it ends. */
#define RUNTIME_ATTEMPTS_MAX 64

/* The longest thing that is bound below the directory. */
#define RUNTIME_LONGEST_SOCKET "/private-0123456789abcdef/systemd/private"

static bool runtime_is_ours(int fd, mode_t forbidden) {
        struct stat st;

        return fstat(fd, &st) >= 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
               (st.st_mode & forbidden) == 0;
}

/* Makes `name` in `parent_fd` where it is missing. −1 with errno; EPERM when it is somebody else's. */
static int runtime_open_child(int parent_fd, const char *name, mode_t forbidden) {
        AUTO_CLOSE int fd = -1;

        fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (mkdirat(parent_fd, name, 0700) < 0 && errno != EEXIST)
                        return -1;
                fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        if (fd < 0)
                return -1;

        if (!runtime_is_ours(fd, forbidden)) {
                errno = EPERM;
                return -1;
        }
        return fd_steal(&fd);
}

static bool runtime_base_fits(const char *base) {
        return strlen(base) + strlen(RUNTIME_LONGEST_SOCKET) <
               sizeof(((struct sockaddr_un *)NULL)->sun_path);
}

/* $XDG_RUNTIME_DIR counts only where it is what it claims to be. */
static bool runtime_session_dir_is_usable(const char *path) {
        AUTO_CLOSE int fd = -1;

        if (!path || !g_path_is_absolute(path))
                return false;

        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 && runtime_is_ours(fd, 0022) && faccessat(fd, ".", W_OK, AT_EACCESS) >= 0;
}

static char *runtime_base_path(void) {
        const char *session = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *below = NULL;

        if (geteuid() == 0 && access("/run", W_OK) >= 0)
                return g_strdup("/run/cordon");

        if (runtime_session_dir_is_usable(session)) {
                below = g_build_filename(session, "cordon", NULL);
                if (runtime_base_fits(below))
                        return g_steal_pointer(&below);
        }
        return g_strdup_printf("/tmp/cordon-%u", (unsigned)geteuid());
}

static int runtime_base_open(const char *base) {
        g_autofree char *parent = g_path_get_dirname(base);
        g_autofree char *name = g_path_get_basename(base);
        AUTO_CLOSE int parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return parent_fd < 0 ? -1 : runtime_open_child(parent_fd, name, 0022);
}

static void runtime_set_error(GError **error, const char *path, int code) {
        if (code == EPERM)
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_RUNTIME_DIR,
                            "%s is not a directory of this user alone (owner, mode, no symbolic "
                            "link): remove it, or set XDG_RUNTIME_DIR",
                            path);
        else
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_RUNTIME_DIR,
                            "no runtime directory: %s: %s", path, g_strerror(code));
}

bool runtime_dir_open(RuntimeKey key, const Caller *caller, RuntimeDir *ret_dir, GError **error) {
        g_auto(RuntimeDir) dir = RUNTIME_DIR_INIT;
        g_autofree char *hash = NULL;

        dir.base = runtime_base_path();
        hash = key(dir.base, caller);
        dir.name = g_strdup_printf("private-%s", hash);
        dir.path = g_build_filename(dir.base, dir.name, NULL);

        for (int i = 0; i < RUNTIME_ATTEMPTS_MAX; i++) {
                fd_close_pointer(&dir.base_fd);
                dir.base_fd = runtime_base_open(dir.base);
                if (dir.base_fd >= 0)
                        dir.fd = runtime_open_child(dir.base_fd, dir.name, 0077);
                if (dir.fd >= 0) {
                        *ret_dir = dir;
                        dir = RUNTIME_DIR_INIT;
                        return true;
                }
                if (errno != ENOENT)
                        break;
        }

        runtime_set_error(error, dir.base_fd < 0 ? dir.base : dir.path, errno);
        return false;
}

char *runtime_dir_find(RuntimeKey key) {
        g_autofree char *base = runtime_base_path();
        g_autofree char *hash = key(base, NULL);
        g_autofree char *name = g_strdup_printf("private-%s", hash);
        g_autofree char *path = g_build_filename(base, name, NULL);
        AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        return fd >= 0 && runtime_is_ours(fd, 0077) ? g_steal_pointer(&path) : NULL;
}

bool runtime_dir_adopt(const char *path, int fd, RuntimeDir *ret_dir, GError **error) {
        g_auto(RuntimeDir) dir = RUNTIME_DIR_INIT;

        dir.path = g_strdup(path);
        dir.base = g_path_get_dirname(path);
        dir.name = g_path_get_basename(path);
        dir.base_fd = open(dir.base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir.base_fd < 0 || !runtime_is_ours(fd, 0077)) {
                runtime_set_error(error, path, dir.base_fd < 0 ? errno : EPERM);
                return false;
        }

        dir.fd = fd;
        *ret_dir = dir;
        dir = RUNTIME_DIR_INIT;
        return true;
}

bool runtime_dir_is_current(const RuntimeDir *dir) {
        struct stat named, opened;

        return fstatat(dir->base_fd, dir->name, &named, AT_SYMLINK_NOFOLLOW) >= 0 &&
               fstat(dir->fd, &opened) >= 0 && named.st_ino == opened.st_ino &&
               named.st_dev == opened.st_dev;
}

/* Removes a tree without following links. */
static void runtime_remove_tree(int parent_fd, const char *name);

typedef bool (*RuntimeMatch)(const char *entry, const char *text);

static void runtime_remove_matching(int dir_fd, RuntimeMatch match, const char *text) {
        int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *entry;

        if (!stream)
                return;

        while ((entry = readdir(stream)))
                if (!g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, "..") &&
                    match(entry->d_name, text))
                        runtime_remove_tree(dir_fd, entry->d_name);
        closedir(stream);
}

static bool runtime_match_other(const char *entry, const char *text) {
        return !g_str_equal(entry, text);
}

static bool runtime_match_prefix(const char *entry, const char *text) {
        return g_str_has_prefix(entry, text);
}

static bool runtime_match_any(const char *entry, const char *text) {
        (void)entry;
        (void)text;
        return true;
}

/* In the manager's mount namespace there are file systems on some. */
static bool runtime_uncover(int parent_fd, const char *name) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d/%s", parent_fd, name);

        return umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) >= 0;
}

static void runtime_remove_tree(int parent_fd, const char *name) {
        AUTO_CLOSE int fd = -1;

        if (unlinkat(parent_fd, name, 0) >= 0 || (errno != EISDIR && errno != EPERM))
                return;

        /* systemd makes directories that even their owner may not read or change. */
        (void)fchmodat(parent_fd, name, 0700, 0);
        fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
                runtime_remove_matching(fd, runtime_match_any, NULL);
        fd_close_pointer(&fd);
        if (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno == EBUSY &&
            runtime_uncover(parent_fd, name))
                (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

void runtime_dir_empty(const RuntimeDir *dir, const char *but) {
        runtime_remove_matching(dir->fd, runtime_match_other, but);
}

/* What was renamed but not removed, because the remover was killed. */
static void runtime_remove_stale(const RuntimeDir *dir) {
        g_autofree char *prefix = g_strdup_printf("%s.gone-", dir->name);

        runtime_remove_matching(dir->base_fd, runtime_match_prefix, prefix);
}

void runtime_dir_remove(RuntimeDir *dir) {
        g_autofree char *gone = g_strdup_printf("%s.gone-%d", dir->name, (int)getpid());

        /* A remover of another pid namespace may have had our number. */
        runtime_remove_stale(dir);
        if (runtime_dir_is_current(dir))
                (void)renameat(dir->base_fd, dir->name, dir->base_fd, gone);

        runtime_remove_stale(dir);
        (void)rmdir(dir->base);
}

void runtime_dir_clear(RuntimeDir *dir) {
        g_clear_pointer(&dir->base, g_free);
        g_clear_pointer(&dir->name, g_free);
        g_clear_pointer(&dir->path, g_free);
        fd_close_pointer(&dir->base_fd);
        fd_close_pointer(&dir->fd);
}
