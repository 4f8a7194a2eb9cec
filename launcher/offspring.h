/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A gate that is a child of ours, for a scope: executed like a unit's, with the channel as its standard input and all
 * that the caller has open; held by the channel until "go". */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Nursery Nursery;

typedef struct {
        Nursery *nursery;                /* borrowed; NULL: it was not started */
        void (*handler)(void *userdata); /* it is dead */
        void *userdata;
        pid_t pid; /* 0: none, or reaped */
        bool is_taken; /* the manager has put it where it was told to: its number may be another's now */
        bool is_dead;
        int code, status; /* as waitid(2) has them, once it is dead */
} Offspring;

/* Nursery, handler and userdata are there. Ignored are the signals that the caller has so: bit n − 1 is signal n. */
bool offspring_start(Offspring *offspring, const char *gate_path, const char *id, const char *owner,
                     uint64_t ignored, int channel, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* When it is dead; and not before it is taken: its number stands in a message. */
void offspring_reap(Offspring *offspring);
void offspring_take(Offspring *offspring);

/* Whatever is left of it goes. */
void offspring_end(Offspring *offspring);
