/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of the words we know did somebody mean? Words are offered one by one, so any table will do; what is too far
 * from all of them has no answer. */

#include <stddef.h>

typedef struct {
        const char *word; /* what was written; borrowed */
        const char *best; /* NULL: nothing is near; borrowed */
        size_t distance;
} Nearest;

Nearest nearest_to(const char *word);
/* " (did you mean main?)", to stand behind the word that was written; "" where nothing is near.
 * The caller's. */
char *nearest_of(const char *word, const char *const *words);

void nearest_offer(Nearest *nearest, const char *candidate);
