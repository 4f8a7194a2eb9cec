/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text of strangers made fit for one line. The hard thing is to cut between characters, not inside one or inside an
 * escape, and to stay linear when somebody hands us a megabyte. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define ELLIPSIS "…"

/* What one character looks like when shown, and how many bytes of the text it took. */
typedef struct {
        char shown[8]; /* six bytes of UTF-8 at most, or \xNN */
        size_t shown_chars;
        size_t taken;
} Glyph;

static Glyph glyph_escaped(const char *text) {
        Glyph glyph = { .shown_chars = 4, .taken = 1 };

        snprintf(glyph.shown, sizeof(glyph.shown), "\\x%02x", (unsigned)(unsigned char)*text);
        return glyph;
}

static Glyph glyph_at(const char *text) {
        gunichar c = g_utf8_get_char_validated(text, -1);
        Glyph glyph = { .shown_chars = 1 };

        if (c == (gunichar)-1 || c == (gunichar)-2)
                return glyph_escaped(text);
        /* Not printable are also C1 and direction marks: an override must not reorder a terminal line. Such a
         * character is escaped byte by byte, because what is left of it is not UTF-8 any more. */
        if (!g_unichar_isprint(c))
                return glyph_escaped(text);

        glyph.taken = (size_t)(g_utf8_next_char(text) - text);
        memcpy(glyph.shown, text, glyph.taken);
        return glyph;
}

/* Appends what fits; false when something did not. The room for the ellipsis is the caller's business. */
static bool append_printable(GString *out, const char *text, size_t *budget) {
        while (*text) {
                Glyph glyph = glyph_at(text);

                if (glyph.shown_chars > *budget)
                        return false;

                g_string_append(out, glyph.shown);
                *budget -= glyph.shown_chars;
                text += glyph.taken;
        }

        return true;
}

/* Lets go of whole characters until the ellipsis fits. */
static void cut_to(GString *out, size_t max_chars) {
        if (max_chars == 0)
                return;

        while (g_utf8_strlen(out->str, (gssize)out->len) >= (glong)max_chars) {
                const char *last = g_utf8_find_prev_char(out->str, out->str + out->len);
                const char *escape = out->len >= 4 ? out->str + out->len - 4 : NULL;

                if (escape && g_str_has_prefix(escape, "\\x"))
                        last = escape;
                g_string_truncate(out, (gsize)(last - out->str));
        }

        g_string_append(out, ELLIPSIS);
}

char *text_printable(const char *text, size_t max_chars) {
        g_autoptr(GString) out = g_string_new(NULL);
        size_t budget = max_chars;

        if (text && !append_printable(out, text, &budget))
                cut_to(out, max_chars);

        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *text_command(char *const *command, size_t max_chars) {
        g_autoptr(GString) out = g_string_new(NULL);
        size_t budget = max_chars;
        bool is_whole = true;

        for (size_t i = 0; is_whole && command && command[i]; i++) {
                if (i > 0)
                        is_whole = append_printable(out, " ", &budget);
                is_whole = is_whole && append_printable(out, command[i], &budget);
        }
        if (!is_whole)
                cut_to(out, max_chars);

        return g_string_free(g_steal_pointer(&out), FALSE);
}

void text_replace(char **place, const char *text) {
        char *copy = g_strdup(text);

        g_free(*place);
        *place = copy;
}
