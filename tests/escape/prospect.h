/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* THE table of what is tried, and what comes of it: the tests hold it to be true both ways, and docs/escape.md shows it.
 * Under --untrusted nothing escapes but what the table of residuals names. */

#include <stdbool.h>
#include <stddef.h>

typedef enum {
        PROSPECT_HELD,
        PROSPECT_ESCAPES,
        PROSPECT_DEPENDS, /* on the machine: its kernel, its settings, what is installed */
} Prospects;

typedef struct {
        const char *name, *theme, *meaning;
        Prospects root, user; /* without --untrusted, for a caller who is root, or who is not */
        Prospects without_network; /* of the theme "network": with --net none */
} Prospect;

/* What the record of a run calls a residual: then, and only then, this escapes. */
typedef struct {
        const char *name;
        const char *word;     /* in isolation.untrusted.residuals */
        const char *managers; /* separated by spaces: nowhere else may it be */
} Residual;

extern const Prospect prospects[]; /* the last has no name */
extern const Residual residuals[];

const Prospect *prospect_find(const char *name);
const Residual *residual_find(const char *name);
bool residual_may_be(const Residual *residual, const char *manager);
