/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The runtime directory of a private manager: `BASE/private-KEY`, 0700, ours, reached without
 * following a symbolic link. BASE is /run/cordon for root, $XDG_RUNTIME_DIR/cordon for others, else
 * /tmp/cordon-UID. Both go when the manager goes, so everybody who opens them must expect to find
 * that they were removed in between: runtime_dir_is_current says whether the name still means the
 * directory that is open. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/kernel/caller.h"

typedef struct {
        char *base; /* absolute path of BASE */
        char *name; /* private-KEY */
        char *path; /* BASE/private-KEY */
        int base_fd;
        int fd;
} RuntimeDir;

#define RUNTIME_DIR_INIT ((RuntimeDir){ .base_fd = -1, .fd = -1 })

/* Finds BASE (makes it where missing), asks `key` for the KEY that belongs to it and the caller (NULL: not read yet), makes and opens the
 * directory. */
typedef char *(*RuntimeKey)(const char *base, const Caller *caller);
bool runtime_dir_open(RuntimeKey key, const Caller *caller, RuntimeDir *ret_dir, GError **error);

/* The path of the one that such a caller has; nothing is made. NULL: there is none that is ours alone. */
char *runtime_dir_find(RuntimeKey key);

/* The same from a path and an open directory: what the keeper gets from its starter. */
bool runtime_dir_adopt(const char *path, int fd, RuntimeDir *ret_dir, GError **error);

bool runtime_dir_is_current(const RuntimeDir *dir);

/* Removes what is in it, but for one name. */
void runtime_dir_empty(const RuntimeDir *dir, const char *but);

/* Takes the name away first, in one step, then what is in it, then BASE when empty. What a killed
 * remover left is removed along. */
void runtime_dir_remove(RuntimeDir *dir);

void runtime_dir_clear(RuntimeDir *dir);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RuntimeDir, runtime_dir_clear)
