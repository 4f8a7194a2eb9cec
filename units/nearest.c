/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Edit distance, row by row: letters added, left out, exchanged, and two side by side that changed places; case counts for
 * nothing. */

#include "nearest.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 64 /* longer than any word of ours */

static bool is_same(char a, char b) {
        return g_ascii_tolower(a) == g_ascii_tolower(b);
}

static bool is_swapped(const char *a, size_t i, const char *b, size_t j) {
        return i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
}

static size_t distance_of(const char *a, const char *b) {
        size_t rows[3][WORD_MAX + 1], n = strlen(b), i;

        for (size_t j = 0; j <= n; j++)
                rows[0][j] = j;
        for (i = 1; a[i - 1]; i++) {
                size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        row[j] = MIN(MIN(above[j], row[j - 1]) + 1,
                                     above[j - 1] + !is_same(a[i - 1], b[j - 1]));
                        if (is_swapped(a, i, b, j))
                                row[j] = MIN(row[j], before[j - 2] + 1);
                }
        }
        return rows[(i + 2) % 3][n];
}

/* One slip, in a longer word two. */
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

char *nearest_of(const char *word, const char *const *words) {
        Nearest nearest = nearest_to(word);

        for (; words && *words; words++)
                nearest_offer(&nearest, *words);
        return nearest.best ? g_strdup_printf(" (did you mean %s?)", nearest.best) : g_strdup("");
}
