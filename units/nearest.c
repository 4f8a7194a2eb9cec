/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Edit distance, one row at a time: letters added, left out and exchanged; case counts for nothing. */

#include "nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 64 /* longer than any word of ours */

static size_t distance_of(const char *a, const char *b) {
        size_t row[WORD_MAX + 1], n = strlen(b);

        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t above = row[j];
                        bool is_same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);

                        row[j] = MIN(MIN(above, row[j - 1]) + 1, diagonal + !is_same);
                        diagonal = above;
                }
        }
        return row[n];
}

/* One letter may be wrong, in a longer word two: as many as exchanging two of them counts for. */
Nearest nearest_to(const char *word) {
        return (Nearest){ .word = word, .distance = strlen(word) < 5 ? 2 : 3 };
}

void nearest_offer(Nearest *nearest, const char *candidate) {
        size_t distance;

        if (strlen(nearest->word) > WORD_MAX || strlen(candidate) > WORD_MAX)
                return;
        distance = distance_of(nearest->word, candidate);
        if (distance < nearest->distance) {
                nearest->distance = distance;
                nearest->best = candidate;
        }
}
