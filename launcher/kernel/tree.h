/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a directory takes on disk, with all that is in it: allocated blocks, so a sparse file is small and every small file
 * a block. A file counts once, however many names it has and wherever it is moved meanwhile. What is mounted below
 * is another's. It may take long: another thread can call it off. */

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "inode-set.h"

typedef struct {
        int root_fd;               /* borrowed */
        const atomic_bool *is_off; /* called off: whatever is there by then; borrowed */
        uint64_t bytes;            /* in use */
        uint64_t entries;          /* met */
        uint64_t hidden; /* directories that could not be read, or their entries looked at */
        bool is_torn;    /* something moved: part of it was not met */
        InodeSet seen;   /* every file that was counted */
} Tree;

/* The walk, which begins anew. False: it could not be begun or went wrong half way, and errno says why. */
bool tree_walk(Tree *tree) G_GNUC_WARN_UNUSED_RESULT;
void tree_clear(Tree *tree); /* what it has found */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tree, tree_clear)

/* Counts a file of the tree that the walk did not come across. False: it did. */
bool tree_add(Tree *tree, uint64_t device, uint64_t inode, uint64_t bytes);

/* Would a file of this path, which may be gone with its directories, be of the tree, and not of what is mounted there? ROOT
 * is the path of the tree, a part of it. */
bool tree_has_place(const Tree *tree, const char *root, const char *path);
