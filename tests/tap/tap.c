// SPDX-License-Identifier: LGPL-2.1-or-later

/*
 * The points of one test program, counted in one static struct because libtap's calls
 * have no object to keep them in. The hard thing is that a stream must stay readable
 * whatever a test is named: a line feed or a "#" in a name would end the point or become
 * a directive, so names are cleaned before they are printed.
 */

#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct {
        int planned;
        int ran;
        int failed;
        bool is_todo;
        char todo_reason[256];
} tap = { .planned = NO_PLAN };

/* A formatted text of any length, NULL for no format. Freed by the caller. */
__attribute__((format(printf, 1, 0))) static char *text_format(const char *format, va_list args) {
        char *text = NULL;

        if (format && vasprintf(&text, format, args) < 0)
                abort();
        return text;
}

/* The text as part of a point's line. */
static void name_print(const char *name) {
        for (const char *c = name; *c; c++) {
                if (*c == '#')
                        fputs("\\#", stdout);
                else if (*c == '\n' || *c == '\r')
                        putchar(' ');
                else
                        putchar(*c);
        }
}

static void comment_print(FILE *stream, const char *text) {
        const char *end;

        for (; (end = strchr(text, '\n')); text = end + 1)
                fprintf(stream, "# %.*s\n", (int)(end - text), text);
        if (*text)
                fprintf(stream, "# %s\n", text);
        fflush(stream);
}

int diag(const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *text = text_format(format, args);
        va_end(args);

        comment_print(stderr, text);
        free(text);
        return 0;
}

int note(const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *text = text_format(format, args);
        va_end(args);

        comment_print(stdout, text);
        free(text);
        return 0;
}

/* One point. The name is ours to free. */
static int point_print(const char *file, int line, int passed, char *name) {
        printf("%sok %d", passed ? "" : "not ", ++tap.ran);
        if (name && *name) {
                fputs(" - ", stdout);
                name_print(name);
        }
        if (tap.is_todo) {
                fputs(" # TODO ", stdout);
                name_print(tap.todo_reason);
        }
        putchar('\n');
        fflush(stdout);

        if (!passed) {
                const char *kind = tap.is_todo ? "Failed (TODO) test" : "Failed test";

                if (name && *name)
                        diag("  %s '%s'\n  at %s line %d.", kind, name, file, line);
                else
                        diag("  %s at %s line %d.", kind, file, line);
                if (!tap.is_todo)
                        tap.failed++;
        }
        free(name);
        return passed;
}

static int is_print(const char *file, int line, int want, const char *got, const char *expected,
                    char *name) {
        bool same = got && expected ? strcmp(got, expected) == 0 : got == expected;
        int passed = point_print(file, line, same == !!want, name);

        if (!passed) {
                const char *quote_got = got ? "'" : "", *quote_expected = expected ? "'" : "";

                diag("         got: %s%s%s", quote_got, got ?: "NULL", quote_got);
                diag("    expected: %s%s%s%s", want ? "" : "anything but ", quote_expected,
                     expected ?: "NULL", quote_expected);
        }
        return passed;
}

/* What a op b says; false for an operator that is not known. */
static bool number_compare(TapNumber a, const char *op, TapNumber b, bool *ret_result) {
        const struct {
                const char *op;
                TapNumber result;
        } results[] = {
                { "==", a == b },
                { "!=", a != b },
                { "<", a < b },
                { "<=", a <= b },
                { ">", a > b },
                { ">=", a >= b },
                { "&&", a && b },
                { "||", a || b },
                { "&", a & b },
                { "|", a | b },
                { "^", a ^ b },
                { "+", a + b },
                { "-", a - b },
                { "*", a != 0 && b != 0 },
                { "/", b != 0 ? a / b : 0 },
                { "%", b != 0 ? a % b : 0 },
        };

        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
                if (strcmp(results[i].op, op) == 0) {
                        *ret_result = results[i].result != 0;
                        return true;
                }
        }
        return false;
}

/* printf has no 128 bits, so the digits are ours; 39 of them, a sign and the end fit in 48. */
static const char *number_text(TapNumber number, char text[static 48]) {
        char *c = text + 47;
        bool negative = number < 0;

        *c = '\0';
        do {
                int digit = (int)(number % 10);
                *--c = (char)('0' + (digit < 0 ? -digit : digit));
                number /= 10;
        } while (number != 0);
        if (negative)
                *--c = '-';
        return c;
}

static int cmp_print(const char *file, int line, TapNumber a, const char *op, TapNumber b,
                     char *name) {
        bool result = false, known = number_compare(a, op, b, &result);
        int passed = point_print(file, line, result, name);

        if (!known) {
                diag("    unrecognized operator '%s'", op);
        } else if (!passed) {
                char text_a[48], text_b[48];

                diag("    %s", number_text(a, text_a));
                diag("        %s", op);
                diag("    %s", number_text(b, text_b));
        }
        return passed;
}

static int mem_print(const char *file, int line, const void *got, const void *expected, size_t n,
                     char *name) {
        const unsigned char *a = got, *b = expected;
        size_t offset = 0;

        if (!a || !b) {
                int passed = point_print(file, line, a == b, name);

                if (!passed) {
                        diag("         got: %s", a ? "not NULL" : "NULL");
                        diag("    expected: %s", b ? "not NULL" : "NULL");
                }
                return passed;
        }

        while (offset < n && a[offset] == b[offset])
                offset++;

        int passed = point_print(file, line, offset == n, name);

        if (!passed) {
                diag("    Difference starts at offset %zu", offset);
                diag("         got: 0x%02x", a[offset]);
                diag("    expected: 0x%02x", b[offset]);
        }
        return passed;
}

static int like_print(const char *file, int line, int want, const char *got, const char *pattern,
                      char *name) {
        regex_t regex;
        int r = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

        if (r != 0) {
                char error[256];

                regerror(r, &regex, error, sizeof(error));
                int passed = point_print(file, line, 0, name);
                diag("    regex '%s' is invalid: %s", pattern, error);
                return passed;
        }

        /* What is not there is like nothing, and unlike everything. */
        bool matches = got && regexec(&regex, got, 0, NULL, 0) == 0;
        regfree(&regex);
        int passed = point_print(file, line, matches == !!want, name);

        if (!passed) {
                const char *quote = got ? "'" : "";

                diag("                  %s%s%s", quote, got ?: "NULL", quote);
                diag("    %13s '%s'", want ? "doesn't match" : "matches", pattern);
        }
        return passed;
}

/* The calls behind the macros: with a name and without. */

int tap_ok(const char *file, int line, int passed) {
        return point_print(file, line, passed, NULL);
}

int tap_is(const char *file, int line, int want, const char *got, const char *expected) {
        return is_print(file, line, want, got, expected, NULL);
}

int tap_cmp(const char *file, int line, TapNumber a, const char *op, TapNumber b) {
        return cmp_print(file, line, a, op, b, NULL);
}

int tap_mem(const char *file, int line, const void *got, const void *expected, size_t n) {
        return mem_print(file, line, got, expected, n, NULL);
}

int tap_like(const char *file, int line, int want, const char *got, const char *pattern) {
        return like_print(file, line, want, got, pattern, NULL);
}

int tap_ok_named(const char *file, int line, int passed, const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *name = text_format(format, args);
        va_end(args);
        return point_print(file, line, passed, name);
}

int tap_is_named(const char *file, int line, int want, const char *got, const char *expected,
                 const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *name = text_format(format, args);
        va_end(args);
        return is_print(file, line, want, got, expected, name);
}

int tap_cmp_named(const char *file, int line, TapNumber a, const char *op, TapNumber b,
                  const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *name = text_format(format, args);
        va_end(args);
        return cmp_print(file, line, a, op, b, name);
}

int tap_mem_named(const char *file, int line, const void *got, const void *expected, size_t n,
                  const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *name = text_format(format, args);
        va_end(args);
        return mem_print(file, line, got, expected, n, name);
}

int tap_like_named(const char *file, int line, int want, const char *got, const char *pattern,
                   const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *name = text_format(format, args);
        va_end(args);
        return like_print(file, line, want, got, pattern, name);
}

/* Plan, skip, todo, end. */

static void plan_print(int tests, char *reason) {
        if (tests == SKIP_ALL) {
                fputs("1..0 # SKIP ", stdout);
                name_print(reason ?: "");
                putchar('\n');
                fflush(stdout);
                exit(EXIT_SUCCESS);
        }

        tap.planned = tests;
        if (tests != NO_PLAN)
                printf("1..%d\n", tests);
        fflush(stdout);
        free(reason);
}

void tap_plan(int tests) {
        plan_print(tests, NULL);
}

void tap_plan_named(int tests, const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *reason = text_format(format, args);
        va_end(args);
        plan_print(tests, reason);
}

static void skip_print(int n, char *reason) {
        while (n-- > 0) {
                printf("ok %d # SKIP ", ++tap.ran);
                name_print(reason ?: "");
                putchar('\n');
        }
        fflush(stdout);
        free(reason);
}

void tap_skip(int n) {
        skip_print(n, NULL);
}

void tap_skip_named(int n, const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *reason = text_format(format, args);
        va_end(args);
        skip_print(n, reason);
}

void tap_todo(void) {
        tap.is_todo = true;
        tap.todo_reason[0] = '\0';
}

void tap_todo_named(const char *format, ...) {
        va_list args;

        tap.is_todo = true;
        va_start(args, format);
        vsnprintf(tap.todo_reason, sizeof(tap.todo_reason), format, args);
        va_end(args);
}

void tap_end_todo(void) {
        tap.is_todo = false;
}

__attribute__((noreturn)) static void bail_out(const char *reason) {
        fputs("Bail out!  ", stdout);
        name_print(reason);
        putchar('\n');
        fflush(stdout);
        exit(255);
}

void tap_bail_out(void) {
        bail_out("");
}

void tap_bail_out_named(const char *format, ...) {
        va_list args;

        va_start(args, format);
        char *reason = text_format(format, args);
        va_end(args);
        bail_out(reason ?: "");
}

int exit_status(void) {
        int status = 0;

        if (tap.planned == NO_PLAN) {
                printf("1..%d\n", tap.ran);
                fflush(stdout);
        } else if (tap.ran != tap.planned) {
                diag("Looks like you planned %d test%s but ran %d.", tap.planned,
                     tap.planned == 1 ? "" : "s", tap.ran);
                status = 2;
        }
        if (tap.failed > 0) {
                diag("Looks like you failed %d test%s of %d run.", tap.failed,
                     tap.failed == 1 ? "" : "s", tap.ran);
                status = 1;
        }
        return status;
}
