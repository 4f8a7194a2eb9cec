// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

/*
 * TAP, the Test Anything Protocol, through the calls of libtap (the one with is() and
 * cmp_ok()), so that a test compiles against either. Points and notes go to stdout,
 * diagnostics of failures to stderr; every line is flushed, so nothing is said twice
 * after a fork.
 *
 * Two differences, both to the safe side: names are checked as printf formats, and cmp_ok()
 * compares in 128 bits, so that uint64_t amounts are not cut to int.
 *
 *         int main(void) {
 *                 plan(NO_PLAN);
 *                 ok(true, "truth holds");
 *                 is("a", "a", "%s is itself", "a");
 *                 done_testing();
 *         }
 */

#include <stddef.h>

#define NO_PLAN  (-1)
#define SKIP_ALL (-2)

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 TapNumber;
#else
typedef long long TapNumber;
#endif

#define TAP_FORMAT(at, first) __attribute__((format(printf, at, first)))

/* With a name or without: NAME(fixed…) or NAME_named(fixed…, format, …). */
#define TAP_PASTE(a, b)     a##b
#define TAP_PICK(call, ...) TAP_PASTE(call, __VA_OPT__(_named))
#define TAP_HERE            __FILE__, __LINE__

#define ok(test, ...) \
        TAP_PICK(tap_ok, __VA_ARGS__)(TAP_HERE, (test) ? 1 : 0 __VA_OPT__(, ) __VA_ARGS__)
#define pass(...) ok(1 __VA_OPT__(, ) __VA_ARGS__)
#define fail(...) ok(0 __VA_OPT__(, ) __VA_ARGS__)
#define is(got, expected, ...) \
        TAP_PICK(tap_is, __VA_ARGS__)(TAP_HERE, 1, got, expected __VA_OPT__(, ) __VA_ARGS__)
#define isnt(got, expected, ...) \
        TAP_PICK(tap_is, __VA_ARGS__)(TAP_HERE, 0, got, expected __VA_OPT__(, ) __VA_ARGS__)
#define cmp_ok(a, op, b, ...) \
        TAP_PICK(tap_cmp, __VA_ARGS__)(TAP_HERE, a, op, b __VA_OPT__(, ) __VA_ARGS__)
#define cmp_mem(got, expected, n, ...) \
        TAP_PICK(tap_mem, __VA_ARGS__)(TAP_HERE, got, expected, n __VA_OPT__(, ) __VA_ARGS__)
#define like(got, pattern, ...) \
        TAP_PICK(tap_like, __VA_ARGS__)(TAP_HERE, 1, got, pattern __VA_OPT__(, ) __VA_ARGS__)
#define unlike(got, pattern, ...) \
        TAP_PICK(tap_like, __VA_ARGS__)(TAP_HERE, 0, got, pattern __VA_OPT__(, ) __VA_ARGS__)

/* plan(n), plan(NO_PLAN), plan(SKIP_ALL, reason…): the last ends the program, as libtap does. */
#define plan(tests, ...) TAP_PICK(tap_plan, __VA_ARGS__)(tests __VA_OPT__(, ) __VA_ARGS__)
#define done_testing()   return exit_status()
#define BAIL_OUT(...)    TAP_PICK(tap_bail_out, __VA_ARGS__)(__VA_ARGS__)

/* skip(no_ground, 2, "reason"); …two points… end_skip; */
#define skip(test, n, ...)                                                             \
        do {                                                                           \
                if (test) {                                                            \
                        TAP_PICK(tap_skip, __VA_ARGS__)(n __VA_OPT__(, ) __VA_ARGS__); \
                        break;                                                         \
                }
#define end_skip \
        }        \
        while (0)

/* todo("reason"); …points that may fail… end_todo; */
#define todo(...) TAP_PICK(tap_todo, __VA_ARGS__)(__VA_ARGS__)
#define end_todo  tap_end_todo()

int diag(const char *format, ...) TAP_FORMAT(1, 2);
int note(const char *format, ...) TAP_FORMAT(1, 2);

/* Prints the plan when there was none; 0 only when everything planned ran and passed. */
int exit_status(void);

/* Behind the macros. Each returns whether its point passed. */
int tap_ok(const char *file, int line, int passed);
int tap_ok_named(const char *file, int line, int passed, const char *format, ...) TAP_FORMAT(4, 5);
int tap_is(const char *file, int line, int want, const char *got, const char *expected);
int tap_is_named(const char *file, int line, int want, const char *got, const char *expected,
                 const char *format, ...) TAP_FORMAT(6, 7);
int tap_cmp(const char *file, int line, TapNumber a, const char *op, TapNumber b);
int tap_cmp_named(const char *file, int line, TapNumber a, const char *op, TapNumber b,
                  const char *format, ...) TAP_FORMAT(6, 7);
int tap_mem(const char *file, int line, const void *got, const void *expected, size_t n);
int tap_mem_named(const char *file, int line, const void *got, const void *expected, size_t n,
                  const char *format, ...) TAP_FORMAT(6, 7);
int tap_like(const char *file, int line, int want, const char *got, const char *pattern);
int tap_like_named(const char *file, int line, int want, const char *got, const char *pattern,
                   const char *format, ...) TAP_FORMAT(6, 7);
void tap_plan(int tests);
void tap_plan_named(int tests, const char *format, ...) TAP_FORMAT(2, 3);
void tap_skip(int n);
void tap_skip_named(int n, const char *format, ...) TAP_FORMAT(2, 3);
void tap_todo(void);
void tap_todo_named(const char *format, ...) TAP_FORMAT(1, 2);
void tap_end_todo(void);
void tap_bail_out(void) __attribute__((noreturn));
void tap_bail_out_named(const char *format, ...) TAP_FORMAT(1, 2) __attribute__((noreturn));
