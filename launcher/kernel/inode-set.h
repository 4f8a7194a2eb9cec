/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which files were met: eight bytes each, so that a million of them cost little. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
        uint64_t *slots; /* owned; 0: free */
        size_t size, count;
} InodeSet;

void inode_set_clear(InodeSet *set);

/* False: it was there. The device is that of stat. */
bool inode_set_add(InodeSet *set, uint64_t device, uint64_t inode);
