/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file that takes another's place in its directory: nobody sees it before it is whole, and until then the other one is
 * what it was. It has no name while it is written, where the file system can do that: what is killed leaves nothing. */

#include <stdbool.h>
#include <sys/stat.h>

typedef struct {
        int dir_fd;      /* −1: none */
        char *name;      /* whose place it takes */
        int fd;          /* −1: not begun */
        char *temporary; /* its own name meanwhile; NULL: it has none */
} Replacement;

#define REPLACEMENT_INIT \
        { .dir_fd = -1, .fd = -1 }

/* Where: symbolic links are followed to what they point to. old: what is there, NULL: nothing. False, here and below:
 * errno tells. */
bool replacement_find(Replacement *replacement, const char *path, const struct stat *old);

/* Begins it, with owner and mode of the old one; without a name only, or with one where it cannot be helped. */
bool replacement_begin(Replacement *replacement, const struct stat *old, bool may_have_name);

/* To the disk, and into place. */
bool replacement_end(Replacement *replacement);

/* What was begun and not ended is gone. */
void replacement_clear(Replacement *replacement);
