/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "wrap.h"

#include <stdbool.h>

#include "text.h"

void wrap_append(GString *out, const char *text, size_t column, size_t begin) {
        g_autofree char *printable = text_printable(text, G_MAXSIZE);
        g_auto(GStrv) words = g_strsplit(printable, " ", -1);
        bool is_first = true;

        for (char **word = words; *word; word++) {
                size_t length = (size_t)g_utf8_strlen(*word, -1);

                if (!is_first && column + 1 + length > WRAP_COLUMNS) {
                        g_string_append_printf(out, "\n%*s", (int)begin, "");
                        column = begin;
                } else if (!is_first) {
                        g_string_append_c(out, ' ');
                        column++;
                }
                g_string_append(out, *word);
                column += length;
                is_first = false;
        }
        g_string_append_c(out, '\n');
}
