/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What of the caller's world the program could not have: a row for each bit that the gate reports. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
        uint32_t bit;      /* GATE_UNAPPLIED_… */
        const char *key;   /* in the record */
        const char *words; /* for people */
        bool is_told;      /* also without -v: the program may do what its caller may not */
} Shortfall;

const Shortfall *shortfall_at(size_t index); /* NULL ends it */
