/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A line into words as systemd does it: space between them, 'quotes' and "quotes" keep what is inside together, a
 * backslash makes the next character an ordinary one. */

#include <glib.h>
#include <stdbool.h>

typedef enum {
        WORDS_WORD,
        WORDS_END,       /* there is none any more */
        WORDS_MALFORMED, /* a quote without its end, a backslash at the end */
} WordsResult;

/* Moves the cursor behind the word and the separator that ended it: one of the separators, a space, or '\0'. */
WordsResult words_next(const char **cursor, const char *separators, char **ret_word,
                       char *ret_separator) G_GNUC_WARN_UNUSED_RESULT;

/* All of them; NULL: malformed. No words at all is an empty list. */
char **words_split(const char *text);
