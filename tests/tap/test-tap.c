// SPDX-License-Identifier: LGPL-2.1-or-later

/*
 * Holds tap.c to its own output, byte by byte, the failing points above all: a test
 * library that cannot fail makes every other test worthless. It cannot use what it tests,
 * so it forks each case with stdout and stderr in a pipe and prints its TAP by hand.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Every failing point says where it is; here that is always line 7 of "t.c". */
#undef TAP_HERE
#define TAP_HERE "t.c", 7

static int case_empty(void) {
        plan(NO_PLAN);
        done_testing();
}

static int case_passes(void) {
        plan(4);
        ok(true, "truth %s", "holds");
        ok(3);
        pass();
        pass("named");
        done_testing();
}

static int case_fails(void) {
        plan(NO_PLAN);
        ok(false, "untrue");
        fail();
        ok(true, "true");
        done_testing();
}

static int case_strings(void) {
        plan(6);
        is("a", "a", "same");
        is(NULL, NULL, "both NULL");
        isnt("a", NULL, "one NULL");
        is("a", "b", "different");
        is(NULL, "b");
        isnt("a", "a", "not the same");
        done_testing();
}

static int case_numbers(void) {
        plan(8);
        cmp_ok(UINT64_MAX, ">", INT64_MAX, "unsigned amounts are not cut");
        cmp_ok(INT64_MIN, "<", UINT64_MAX, "nor taken for signed ones");
        cmp_ok(1, "==", 1);
        cmp_ok(0, "==", UINT64_MAX, "not equal");
        cmp_ok(INT64_MIN, ">", -1, "not greater");
        cmp_ok(1, "=", 1, "no operator");
        cmp_ok(1, "/", 0, "division by zero");
        cmp_ok(6, "&", 2);
        done_testing();
}

static int case_memory(void) {
        plan(4);
        cmp_mem("abc", "abd", 2, "two bytes");
        cmp_mem("abc", "abd", 3, "three bytes");
        cmp_mem(NULL, "a", 1, "one NULL");
        cmp_mem(NULL, NULL, 1);
        done_testing();
}

static int case_patterns(void) {
        plan(6);
        like("stranger", "^s.(r).*\\1$", "matches");
        unlike("stranger", "^x");
        like("stranger", "^x", "does not match");
        unlike("stranger", "r$", "matches after all");
        like(NULL, "x", "nothing");
        like("x", "(", "no pattern");
        done_testing();
}

static int case_skips(void) {
        plan(4);
        skip(true, 2, "no #%d ground", 1);
        fail("never reached");
        fail("nor this");
        end_skip;
        skip(false, 1, "ground");
        pass("reached");
        end_skip;
        pass();
        done_testing();
}

static int case_todos(void) {
        plan(3);
        todo("some day");
        fail("is not yet");
        pass("is already");
        end_todo;
        fail("is again");
        done_testing();
}

static int case_comments(void) {
        plan(NO_PLAN);
        diag("two\nlines, one # of them %d", 2);
        note("a note");
        pass("a name\nof two lines # SKIP it");
        done_testing();
}

static int case_too_few(void) {
        plan(3);
        pass();
        done_testing();
}

static int case_too_many(void) {
        plan(1);
        pass();
        fail();
        done_testing();
}

static int case_no_ground(void) {
        plan(SKIP_ALL, "no %s", "ground");
        done_testing();
}

static int case_bails(void) {
        plan(2);
        BAIL_OUT("the %s is gone", "ground");
        done_testing();
}

static int case_forks(void) {
        plan(1);
        pid_t child = fork();

        if (child == 0)
                exit(EXIT_SUCCESS);
        waitpid(child, NULL, 0);
        pass("printed once");
        done_testing();
}

static const struct {
        const char *name;
        int (*run)(void);
        int status;
        const char *output;
} cases[] = {
        { "nothing", case_empty, 0, "1..0\n" },
        { "passing points", case_passes, 0,
          "1..4\n"
          "ok 1 - truth holds\n"
          "ok 2\n"
          "ok 3\n"
          "ok 4 - named\n" },
        { "failing points", case_fails, 1,
          "not ok 1 - untrue\n"
          "#   Failed test 'untrue'\n"
          "#   at t.c line 7.\n"
          "not ok 2\n"
          "#   Failed test at t.c line 7.\n"
          "ok 3 - true\n"
          "1..3\n"
          "# Looks like you failed 2 tests of 3 run.\n" },
        { "strings", case_strings, 1,
          "1..6\n"
          "ok 1 - same\n"
          "ok 2 - both NULL\n"
          "ok 3 - one NULL\n"
          "not ok 4 - different\n"
          "#   Failed test 'different'\n"
          "#   at t.c line 7.\n"
          "#          got: 'a'\n"
          "#     expected: 'b'\n"
          "not ok 5\n"
          "#   Failed test at t.c line 7.\n"
          "#          got: NULL\n"
          "#     expected: 'b'\n"
          "not ok 6 - not the same\n"
          "#   Failed test 'not the same'\n"
          "#   at t.c line 7.\n"
          "#          got: 'a'\n"
          "#     expected: anything but 'a'\n"
          "# Looks like you failed 3 tests of 6 run.\n" },
        { "numbers", case_numbers, 1,
          "1..8\n"
          "ok 1 - unsigned amounts are not cut\n"
          "ok 2 - nor taken for signed ones\n"
          "ok 3\n"
          "not ok 4 - not equal\n"
          "#   Failed test 'not equal'\n"
          "#   at t.c line 7.\n"
          "#     0\n"
          "#         ==\n"
          "#     18446744073709551615\n"
          "not ok 5 - not greater\n"
          "#   Failed test 'not greater'\n"
          "#   at t.c line 7.\n"
          "#     -9223372036854775808\n"
          "#         >\n"
          "#     -1\n"
          "not ok 6 - no operator\n"
          "#   Failed test 'no operator'\n"
          "#   at t.c line 7.\n"
          "#     unrecognized operator '='\n"
          "not ok 7 - division by zero\n"
          "#   Failed test 'division by zero'\n"
          "#   at t.c line 7.\n"
          "#     1\n"
          "#         /\n"
          "#     0\n"
          "ok 8\n"
          "# Looks like you failed 4 tests of 8 run.\n" },
        { "memory", case_memory, 1,
          "1..4\n"
          "ok 1 - two bytes\n"
          "not ok 2 - three bytes\n"
          "#   Failed test 'three bytes'\n"
          "#   at t.c line 7.\n"
          "#     Difference starts at offset 2\n"
          "#          got: 0x63\n"
          "#     expected: 0x64\n"
          "not ok 3 - one NULL\n"
          "#   Failed test 'one NULL'\n"
          "#   at t.c line 7.\n"
          "#          got: NULL\n"
          "#     expected: not NULL\n"
          "ok 4\n"
          "# Looks like you failed 2 tests of 4 run.\n" },
        { "patterns", case_patterns, 1,
          "1..6\n"
          "ok 1 - matches\n"
          "ok 2\n"
          "not ok 3 - does not match\n"
          "#   Failed test 'does not match'\n"
          "#   at t.c line 7.\n"
          "#                   'stranger'\n"
          "#     doesn't match '^x'\n"
          "not ok 4 - matches after all\n"
          "#   Failed test 'matches after all'\n"
          "#   at t.c line 7.\n"
          "#                   'stranger'\n"
          "#           matches 'r$'\n"
          "not ok 5 - nothing\n"
          "#   Failed test 'nothing'\n"
          "#   at t.c line 7.\n"
          "#                   NULL\n"
          "#     doesn't match 'x'\n"
          "not ok 6 - no pattern\n"
          "#   Failed test 'no pattern'\n"
          "#   at t.c line 7.\n"
          "#     regex '(' is invalid: Unmatched ( or \\(\n"
          "# Looks like you failed 4 tests of 6 run.\n" },
        { "skips", case_skips, 0,
          "1..4\n"
          "ok 1 # SKIP no \\#1 ground\n"
          "ok 2 # SKIP no \\#1 ground\n"
          "ok 3 - reached\n"
          "ok 4\n" },
        { "todos", case_todos, 1,
          "1..3\n"
          "not ok 1 - is not yet # TODO some day\n"
          "#   Failed (TODO) test 'is not yet'\n"
          "#   at t.c line 7.\n"
          "ok 2 - is already # TODO some day\n"
          "not ok 3 - is again\n"
          "#   Failed test 'is again'\n"
          "#   at t.c line 7.\n"
          "# Looks like you failed 1 test of 3 run.\n" },
        { "comments and odd names", case_comments, 0,
          "# two\n"
          "# lines, one # of them 2\n"
          "# a note\n"
          "ok 1 - a name of two lines \\# SKIP it\n"
          "1..1\n" },
        { "too few points", case_too_few, 2,
          "1..3\n"
          "ok 1\n"
          "# Looks like you planned 3 tests but ran 1.\n" },
        { "too many points", case_too_many, 1,
          "1..1\n"
          "ok 1\n"
          "not ok 2\n"
          "#   Failed test at t.c line 7.\n"
          "# Looks like you planned 1 test but ran 2.\n"
          "# Looks like you failed 1 test of 2 run.\n" },
        { "no ground at all", case_no_ground, 0, "1..0 # SKIP no ground\n" },
        { "bailing out", case_bails, 255, "1..2\nBail out!  the ground is gone\n" },
        { "a fork", case_forks, 0, "1..1\nok 1 - printed once\n" },
};

/* Runs one case in a child, its stdout and stderr into output. Returns its exit status. */
static int case_capture(int (*run)(void), char *output, size_t size) {
        int ends[2], status = 0;
        size_t length = 0;
        ssize_t n;

        if (pipe(ends) < 0)
                abort();

        pid_t child = fork();

        if (child < 0)
                abort();
        if (child == 0) {
                dup2(ends[1], STDOUT_FILENO);
                dup2(ends[1], STDERR_FILENO);
                close(ends[0]);
                close(ends[1]);
                exit(run());
        }
        close(ends[1]);
        while (length < size - 1 && (n = read(ends[0], output + length, size - 1 - length)) > 0)
                length += (size_t)n;
        output[length] = '\0';
        close(ends[0]);
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void lines_print(const char *title, const char *text) {
        printf("# %s:\n#   ", title);
        for (const char *c = text; *c; c++) {
                putchar(*c);
                if (*c == '\n' && c[1])
                        fputs("#   ", stdout);
        }
        putchar('\n');
}

int main(void) {
        size_t n = sizeof(cases) / sizeof(cases[0]);
        int failed = 0;

        printf("1..%zu\n", n);
        for (size_t i = 0; i < n; i++) {
                char output[4096];

                fflush(stdout);
                int status = case_capture(cases[i].run, output, sizeof(output));
                bool same = status == cases[i].status && strcmp(output, cases[i].output) == 0;

                printf("%sok %zu - tap prints %s as it should\n", same ? "" : "not ", i + 1,
                       cases[i].name);
                if (!same) {
                        failed++;
                        printf("# status %d, expected %d\n", status, cases[i].status);
                        lines_print("got", output);
                        lines_print("expected", cases[i].output);
                }
        }
        return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
