/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The slots of a pool, as files: each that is taken is a FIFO that its holder has open for writing, so the kernel itself
 * says who lives and tells whoever reads it when nobody does any more. They lie in a place of the user's that no manager,
 * session or variable changes. Waiting is launcher/pool's business. */

#include <glib.h>
#include <stdbool.h>

/* Open, and locked: one of us looks and takes at a time. */
typedef struct {
        char *path;
        int fd; /* −1: closed */
} SlotDir;

#define SLOT_DIR_INIT ((SlotDir){ .fd = -1 })

typedef enum {
        SLOTS_OK,
        SLOTS_BUSY, /* somebody else is at it: try again in a moment */
        SLOTS_FAILED,
} SlotsResult;

SlotsResult slot_dir_open(const char *pool, SlotDir *ret_dir, GError **error);
void slot_dir_clear(SlotDir *dir);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SlotDir, slot_dir_clear)

/* The set of names of those that are taken, or were by somebody who was killed. */
GHashTable *slot_dir_list(const SlotDir *dir);

/* A descriptor that polls as hung up when the slot is free. −1: it is free now, and its file is removed; −2: cannot be
 * looked at, with errno. */
int slot_dir_watch(const SlotDir *dir, const char *name);

typedef struct {
        char *path; /* NULL: none */
        int fd;
} Slot;

#define SLOT_INIT ((Slot){ .fd = -1 })

SlotsResult slot_dir_take(const SlotDir *dir, Slot *ret_slot, GError **error);

/* Files go with the last one. */
void slot_release(Slot *slot);

/* Removes what holders left that were killed, of all pools of this user. */
void slots_sweep(void);
