/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One pass over the line. Quotes may open in the middle of a word, as in systemd and in a shell. */

#include "words.h"

#include <string.h>

#define SPACE " \t\n\r"

/* What stands inside quotes, up to the closing one. */
static bool take_quoted(const char **cursor, GString *word) {
        char quote = *(*cursor)++;

        for (; **cursor != quote; (*cursor)++) {
                if (**cursor == '\\')
                        (*cursor)++;
                if (**cursor == '\0')
                        return false;
                g_string_append_c(word, **cursor);
        }
        (*cursor)++;
        return true;
}

WordsResult words_next(const char **cursor, const char *separators, char **ret_word,
                       char *ret_separator) {
        g_autoptr(GString) word = g_string_new(NULL);
        const char *p = *cursor + strspn(*cursor, SPACE);

        if (*p == '\0')
                return WORDS_END;
        while (*p && !strchr(SPACE, *p) && !strchr(separators, *p)) {
                if (*p == '"' || *p == '\'') {
                        if (!take_quoted(&p, word))
                                return WORDS_MALFORMED;
                        continue;
                }
                if (*p == '\\' && *++p == '\0')
                        return WORDS_MALFORMED;
                g_string_append_c(word, *p++);
        }
        *ret_separator = *p;
        *cursor = *p ? p + 1 : p;
        *ret_word = g_string_free(g_steal_pointer(&word), FALSE);
        return WORDS_WORD;
}

char **words_split(const char *text) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        for (;;) {
                char *word, separator;

                switch (words_next(&text, "", &word, &separator)) {
                case WORDS_WORD:
                        g_ptr_array_add(words, word);
                        break;
                case WORDS_MALFORMED:
                        return NULL;
                case WORDS_END:
                        g_ptr_array_add(words, NULL);
                        return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
                }
        }
}
