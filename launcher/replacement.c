/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A link cannot take a name that is taken, so a file without a name gets one for the moment between link and rename. */

#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_KEPT  200 /* characters, so that dots and digits fit */
#define NAMES_MAX  100
#define MODE_PARTS 0777

static bool find_directory(Replacement *replacement, const char *path) {
        g_autofree char *directory = g_path_get_dirname(path);

        replacement->dir_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        replacement->name = g_path_get_basename(path);
        return replacement->dir_fd >= 0;
}

bool replacement_find(Replacement *replacement, const char *path, const struct stat *old) {
        struct stat st;

        if (!old)
                return !g_str_has_suffix(path, "/") && find_directory(replacement, path);

        char *real = realpath(path, NULL); /* not GLib's to free */
        bool found = real && find_directory(replacement, real) &&
                     fstatat(replacement->dir_fd, replacement->name, &st, AT_SYMLINK_NOFOLLOW) ==
                             0 &&
                     st.st_dev == old->st_dev && st.st_ino == old->st_ino;

        free(real);
        if (!found)
                replacement_clear(replacement);
        return found;
}

/* Asks for names until one is free. */
static bool take_name(Replacement *replacement, bool (*take)(Replacement *)) {
        for (int i = 0; i < NAMES_MAX; i++) {
                g_free(replacement->temporary);
                replacement->temporary = g_strdup_printf(".%.*s.%06x", NAME_KEPT, replacement->name,
                                                         g_random_int() & 0xffffff);
                if (take(replacement))
                        return true;
                if (errno != EEXIST)
                        break;
        }
        g_clear_pointer(&replacement->temporary, g_free);
        return false;
}

static bool create(Replacement *replacement) {
        replacement->fd = openat(replacement->dir_fd, replacement->temporary,
                                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return replacement->fd >= 0;
}

static bool link_to(Replacement *replacement, const char *name) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", replacement->fd);

        return linkat(AT_FDCWD, path, replacement->dir_fd, name, AT_SYMLINK_FOLLOW) == 0;
}

static bool link_temporary(Replacement *replacement) {
        return link_to(replacement, replacement->temporary);
}

static bool take_after(int fd, const struct stat *old) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return false;
        if ((st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
            fchown(fd, old->st_uid, old->st_gid) < 0)
                return false;
        return fchmod(fd, old->st_mode & MODE_PARTS) == 0;
}

bool replacement_begin(Replacement *replacement, const struct stat *old, bool may_have_name) {
        replacement->fd = openat(replacement->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        if (replacement->fd < 0 && (!may_have_name || !take_name(replacement, create)))
                return false;
        return !old || take_after(replacement->fd, old);
}

bool replacement_end(Replacement *replacement) {
        /* What cannot be synchronised (EINVAL) is no disk. */
        if (fsync(replacement->fd) < 0 && errno != EINVAL && errno != EROFS)
                return false;
        if (!replacement->temporary) {
                if (link_to(replacement, replacement->name))
                        return true;
                if (errno != EEXIST || !take_name(replacement, link_temporary))
                        return false;
        }
        if (renameat(replacement->dir_fd, replacement->temporary, replacement->dir_fd,
                     replacement->name) < 0)
                return false;
        g_clear_pointer(&replacement->temporary, g_free);
        return true;
}

void replacement_clear(Replacement *replacement) {
        if (replacement->temporary)
                (void)unlinkat(replacement->dir_fd, replacement->temporary, 0);
        if (replacement->fd >= 0)
                (void)close(replacement->fd);
        if (replacement->dir_fd >= 0)
                (void)close(replacement->dir_fd);
        g_free(replacement->temporary);
        g_free(replacement->name);
        *replacement = (Replacement)REPLACEMENT_INIT;
}
