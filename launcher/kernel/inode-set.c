/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An open hash table, at most half full. Device and inode are mixed into one number: two files that share one are as
 * likely as two equal numbers among 2^64. */

#include "inode-set.h"

#include <glib.h>

#define SIZE_MIN 1024

static uint64_t mix(uint64_t number) {
        number ^= number >> 32;
        number *= UINT64_C(0xd6e8feb86659fd93);
        number ^= number >> 32;
        number *= UINT64_C(0xd6e8feb86659fd93);
        return number ^ number >> 32;
}

static uint64_t *slot_of(uint64_t *slots, size_t size, uint64_t key) {
        size_t i = mix(key) & (size - 1);

        while (slots[i] != 0 && slots[i] != key)
                i = (i + 1) & (size - 1);
        return &slots[i];
}

static void grow(InodeSet *set) {
        size_t size = MAX(set->size * 2, SIZE_MIN);
        uint64_t *slots = g_new0(uint64_t, size);

        for (size_t i = 0; i < set->size; i++)
                if (set->slots[i] != 0)
                        *slot_of(slots, size, set->slots[i]) = set->slots[i];
        g_free(set->slots);
        set->slots = slots;
        set->size = size;
}

void inode_set_clear(InodeSet *set) {
        g_free(set->slots);
        *set = (InodeSet){ 0 };
}

bool inode_set_add(InodeSet *set, uint64_t device, uint64_t inode) {
        uint64_t key = (inode ^ mix(device)) ?: 1, *slot;

        if (set->count >= set->size / 2)
                grow(set);
        slot = slot_of(set->slots, set->size, key);
        if (*slot == key)
                return false;
        *slot = key;
        set->count++;
        return true;
}
