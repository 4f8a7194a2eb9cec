/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text of strangers, made fit for one line. */

#include <string.h>
#include <tap.h>

#include <glib.h>

#include "units/text.h"

/* clang-format off */
static const struct {
        const char *expected;
        const char *text;
        size_t max;
} rows[] = {
        { "", NULL, 10 }, { "", "", 10 }, { "abc", "abc", 10 }, { "abc", "abc", 3 }, { "a…", "abc", 2 },
        { "…", "abc", 1 }, { "", "abc", 0 },
        { "äöü", "äöü", 3 }, { "ä…", "äöü", 2 }, { "日本", "日本", 2 }, { "日…", "日本語", 2 },
        { "a\\x0ab", "a\nb", 10 }, { "\\x1b[31m", "\033[31m", 10 }, { "\\x7f", "\x7f", 10 },
        { "\\xff\\xfe", "\xff\xfe", 10 }, { "\\xc3", "\xc3", 10 }, { "\\xc0\\x80", "\xc0\x80", 10 },
        { "\\xe2\\x80\\xae", "\u202e", 12 },           /* turns the reading direction */
        { "\\xc2\\x85", "\xc2\x85", 10 },                /* a line end of C1 */
        { "a…", "a\n\n", 5 }, { "a\\x0a…", "a\n\n", 6 }, { "\\x0a\\x0a", "\n\n", 8 }, { "\\x0a…", "\n\n", 7 },
        { "e\xcc\x81", "e\xcc\x81", 10 },              /* an accent of its own */
};
/* clang-format on */

static void test_rows(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *text = text_printable(rows[i].text, rows[i].max);

                is(text, rows[i].expected, "row %zu is fit for a line", i);
        }
}

static void test_any_bytes(void) {
        size_t n_wrong = 0;
        unsigned random = 1;

        for (int i = 0; i < 20000; i++) {
                char bytes[24] = { 0 };
                g_autofree char *text = NULL;

                for (size_t j = 0; j < sizeof(bytes) - 1; j++) {
                        random = random * 1103515245U + 12345U;
                        bytes[j] = (char)(random >> 16);
                }
                text = text_printable(bytes, 20);
                if (!g_utf8_validate(text, -1, NULL) || g_utf8_strlen(text, -1) > 20)
                        n_wrong++;
                for (const char *c = text; *c; c++)
                        n_wrong += (unsigned char)*c < ' ' || *c == 127;
        }

        cmp_ok(n_wrong, "==", 0, "any bytes become a bounded line of UTF-8");
}

static void test_command(void) {
        char *const command[] = { "python3", "a b.py", "", "x\ny", NULL };
        g_autofree char *whole = text_command(command, 80), *cut = text_command(command, 12);
        g_autofree char *at_space = text_command(command, 7), *none = text_command(NULL, 80);

        is(whole, "python3 a b.py  x\\x0ay", "a command in one line");
        is(cut, "python3 a b…", "a long one is cut");
        is(at_space, "python…", "also at the end of a word");
        is(none, "", "no command is nothing");
}

static void test_long(void) {
        g_autofree char *long_text = g_strnfill(1 << 22, 'x');
        g_autofree char *text = text_printable(long_text, 40);

        cmp_ok(g_utf8_strlen(text, -1), "==", 40, "megabytes are cut without being read");
}

static void test_replace(void) {
        g_autofree char *place = NULL;

        text_replace(&place, "a");
        is(place, "a", "text is put in an empty place");
        text_replace(&place, place);
        is(place, "a", "it may be what is there already");
        text_replace(&place, NULL);
        is(place, NULL, "or nothing");
}

int main(void) {
        plan(NO_PLAN);
        test_replace();
        test_rows();
        test_any_bytes();
        test_command();
        test_long();
        done_testing();
}
