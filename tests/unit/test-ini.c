/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The text of a configuration file: what its lines are, and which are none. */

#include <string.h>
#include <tap.h>

#include "units/error.h"
#include "units/ini.h"

#define LINES "accepted: KEY=VALUE, [SECTION], and comments behind # or ;"

/* clang-format off */
static const struct {
        const char *text;
        const char *entries; /* "LINE:[SECTION]" and "LINE:SECTION.KEY=<VALUE>"; NULL: refused */
        const char *message;
} rows[] = {
        { "", "", NULL },
        { "\n\n  \n\t\n", "", NULL },
        { "# a\n; b\n  # c = d\n\t;e\n", "", NULL },
        { "[A]\nk=v\n", "1:[A] 2:A.k=<v>", NULL },
        { "[A]\nk=v", "1:[A] 2:A.k=<v>", NULL },
        { "[A]\r\nk=v\r\n", "1:[A] 2:A.k=<v>", NULL },
        { "\xef\xbb\xbf[A]\nk=v\n", "1:[A] 2:A.k=<v>", NULL },
        { "  [A]  \n  k  =  v w  \n", "1:[A] 2:A.k=<v w>", NULL },
        { "[A]\nk=\n", "1:[A] 2:A.k=<>", NULL },
        { "[A]\nk=a=b\n", "1:[A] 2:A.k=<a=b>", NULL },
        { "[A]\nk=v # no comment\n", "1:[A] 2:A.k=<v # no comment>", NULL },
        { "[A]\nk=\"v\"\n", "1:[A] 2:A.k=<\"v\">", NULL },
        { "[A]\nk=\xc3\xa9\n", "1:[A] 2:A.k=<\xc3\xa9>", NULL },
        { "[A]\nk=1\nk=2\n", "1:[A] 2:A.k=<1> 3:A.k=<2>", NULL },
        { "[A]\n[B]\nk=1\n[A]\nk=2\n", "1:[A] 2:[B] 3:B.k=<1> 4:[A] 5:A.k=<2>", NULL },
        { "[]\n", "1:[]", NULL },
        { "[a b]\n", "1:[a b]", NULL },
        { "k=v\n", "1:.k=<v>", NULL },

        /* what goes on in the next line */
        { "[A]\nk=a\\\nb\nl=c\n", "1:[A] 2:A.k=<a b> 4:A.l=<c>", NULL },
        { "[A]\nk=a\\\r\nb\r\n", "1:[A] 2:A.k=<a b>", NULL },
        { "[A]\nk=a\\\n# passed over\n  ; this too\nb\n", "1:[A] 2:A.k=<a b>", NULL },
        { "[A]\nk=\\\n\\\nb\n", "1:[A] 2:A.k=<b>", NULL },
        { "[A]\nk=a\\\\\nl=b\n", "1:[A] 2:A.k=<a\\\\> 3:A.l=<b>", NULL },
        { "[A]\nk=a\\\\\\\nb\n", "1:[A] 2:A.k=<a\\\\ b>", NULL },
        { "[A]\nk=a\\", "1:[A] 2:A.k=<a>", NULL },
        { "[A]\nk=a\\\n", "1:[A] 2:A.k=<a>", NULL },
        { "[A]\n# no\\\nk=a\n", "1:[A] 3:A.k=<a>", NULL },
        { "[A]\nk=a\\\n\nl=b\n", "1:[A] 2:A.k=<a> 4:A.l=<b>", NULL },

        /* refused, with the line in which it begins */
        { "[A\n", NULL, "1: \"[A\" has no ] at its end" },
        { "[\n", NULL, "1: \"[\" has no ] at its end" },
        { "\n[A] x\n", NULL, "2: \"[A] x\" has no ] at its end" },
        { "[A]\nword\n", NULL, "2: \"word\" is not accepted; " LINES },
        { "[A]\n=v\n", NULL, "2: \"=v\" is not accepted; " LINES },
        { "[A]\n\n  = v\n", NULL, "3: \"= v\" is not accepted; " LINES },
        { "[A]\nwo\\\nrd\n", NULL, "2: \"wo rd\" is not accepted; " LINES },
        { "[A]\n\x1b\x07\n", NULL, "2: \"\\x1b\\x07\" is not accepted; " LINES },
        { "[A]\nk=\xff\n", NULL, "2: not UTF-8" },
        { "[A]\n# \xff\n", NULL, "2: not UTF-8" },
        { "[A]\nk=a\\\n\xc3\n", NULL, "3: not UTF-8" },
};
/* clang-format on */

static char *show(const GPtrArray *entries) {
        g_autoptr(GString) shown = g_string_new(NULL);

        for (guint i = 0; i < entries->len; i++) {
                const IniEntry *entry = g_ptr_array_index(entries, i);
                const char *section = entry->section ?: "";

                g_string_append_printf(shown, "%s%u:", i > 0 ? " " : "", entry->line);
                if (entry->key)
                        g_string_append_printf(shown, "%s.%s=<%s>", section, entry->key,
                                               entry->value);
                else
                        g_string_append_printf(shown, "[%s]", section);
        }
        return g_string_free(g_steal_pointer(&shown), FALSE);
}

int main(void) {
        plan(NO_PLAN);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(GPtrArray) entries = ini_read(rows[i].text, &error);
                g_autofree char *shown = entries ? show(entries) : NULL;
                g_autofree char *name = g_strescape(rows[i].text, NULL);

                is(shown, rows[i].entries, "%s", name);
                is(error ? error->message : NULL, rows[i].message, "… in words");
                ok(!error || g_error_matches(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE),
                   "… as a bad value");
        }
        done_testing();
}
