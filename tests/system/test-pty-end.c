/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How it ends for who sits at a terminal: all that the program said is shown, without much of it ever being held, and
 * the terminal is as it was, whatever happens. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "seat.h"

/* Nobody takes it */

/* Reading stops early: no words, as of any pipe. */
static void test_reader_gone(void) {
        KitOrder order = { .options = WORDS("--pty"),
                           .command = VICTIM("say", "ready", "flood", "1000000000") };
        Expected expected = { .outcome = "cancelled",
                              .status = 141,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .message = "cancelled by SIGPIPE: killed (SIGTERM)",
                              .said = "ready\r\n*" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready\r");
        (void)close(run->fds[0]);
        run->fds[0] = -1;
        kit_finish(run);
        expect(run, &expected, "a reader that has had enough");
}

static void open_full_output(void) {
        (void)dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static void test_full(void) {
        KitOrder order = { .options = WORDS("--pty"),
                           .prepare = open_full_output,
                           .command = VICTIM("say", "hello", "pause") };
        Expected expected = {
                .outcome = "cancelled",
                .status = 125,
                .exit_code = ABSENT,
                .signal = SIGTERM,
                .words = "cordon: cannot write to standard output: No space left on device\n",
        };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "standard output on a full device");
}

/* Much */

static void test_flood(void) {
        const int64_t bytes = kit_is_slow() ? 2000000 : 50000000;
        g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, bytes);
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, NULL, VICTIM("flood", number));

        kit_finish(run);
        cmp_ok(run->status, "==", 0, "a flood ends");
        cmp_ok(run->output->len, "==", bytes, "and all of it is shown");
        skip(kit_is_sanitized(), 1, "n/a: a sanitizer needs memory of its own");
        cmp_ok(run->max_rss_bytes, "<", INT64_C(32) << 20, "cordon stays below 32 MB");
        end_skip;
        seat_check(&seat, "a flood");
        seat_close(&seat);
}

static bool is_there(const void *path) {
        return access(path, F_OK) == 0;
}

/* A program that says more than a small pipe takes, and has ended. */
static KitRun *say_much(const char *mark) {
        g_autofree char *path = g_build_filename(kit_directory(), mark, NULL);
        g_autofree char *script = g_strdup_printf("head -c 9000 /dev/zero; >%s", mark);
        KitOrder order = { .options = WORDS("--pty"), .command = WORDS("/bin/sh", "-c", script) };
        KitRun *run = kit_start(&order);

        if (fcntl(run->fds[0], F_SETPIPE_SZ, 4096) != 4096)
                BAIL_OUT("no small pipe: %s", g_strerror(errno));
        ok(kit_wait_until(is_there, path, kit_patience(10 * KIT_SEC)), "%s: it has said all", mark);
        ok(!kit_wait_process(run->pidfd, kit_patience(500 * KIT_MSEC)), "%s: cordon waits", mark);
        return run;
}

static void test_slow_reader(void) {
        g_autoptr(KitRun) run = say_much("slow");

        kit_finish(run);
        cmp_ok(run->output->len, "==", 9000, "who reads later gets all of it");
        leftover_check(run, "a slow reader");
}

/* … but not for ever when the run was ended, and not when cordon is told to go. */
static void test_no_reader(void) {
        KitOrder order = { .options = WORDS("--pty", "--timeout", kit_is_slow() ? "3s" : "300ms"),
                           .command = VICTIM("flood", "1000000000") };
        Expected expected = { .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .words = "cordon: timeout limit hit: *",
                              .said = "*",
                              .touched = "timeout" };
        g_autoptr(KitRun) first = kit_start(&order);

        ok(kit_wait_process(first->pidfd, kit_patience(6 * KIT_SEC)),
           "a deadline holds though nobody reads");
        kit_finish(first);
        g_string_truncate(first->output, 0);
        expect(first, &expected, "a deadline though nobody reads");

        g_autoptr(KitRun) second = say_much("unread");

        kit_signal(second, SIGTERM);
        ok(kit_wait_process(second->pidfd, kit_patience(5 * KIT_SEC)), "until it is told not to");
        kit_finish(second);
        cmp_ok(second->status, "==", 0, "the run had ended before");
        is(record_text(second, "outcome"), "exited", "and has its record");
}

/* Ends */

static void test_ends(void) {
        /* clang-format off */
        static const struct {
                const char *name, *options[3], *command[5];
                Expected expected;
        } rows[] = {
                { "a program that is killed", { NULL }, { "say", "on", "raise", "KILL" },
                  { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
                    .words = "cordon: killed (SIGKILL) after *s\n", .said = "on\r\n" } },
                { "a deadline", { "--timeout", "1500ms" }, { "pause" },
                  { .outcome = "timeout", .status = 124, .exit_code = ABSENT, .signal = SIGTERM,
                    .words = "cordon: timeout limit hit: *", .touched = "timeout" } },
                { "one who stays behind", { NULL }, { "child", "pause", "then", "end" },
                  { .outcome = "exited" } },
        };
        /* clang-format on */

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                Seat seat = seat_new(31, 97);
                g_auto(GStrv) command = kit_victim_argv(rows[i].command);
                g_autoptr(KitRun)
                        run = seat_run(&seat, rows[i].options, (const char *const *)command);

                kit_finish(run);
                expect(run, &rows[i].expected, rows[i].name);
                seat_check(&seat, rows[i].name);
                seat_close(&seat);
        }
}

static void test_refusals(void) {
        static const struct {
                const char *name, *options[3], *command[2];
                int status;
        } rows[] = {
                { "a mistake", { "--memory", "nonsense" }, { "true" }, 125 },
                { "no such program", { NULL }, { "/nonexistent" }, 127 },
                { "no such unit property", { "-p", "SystemCallFilter=read" }, { "true" }, 125 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                Seat seat = seat_new(31, 97);
                g_autoptr(KitRun) run = seat_run(&seat, rows[i].options, rows[i].command);

                kit_finish(run);
                cmp_ok(run->status, "==", rows[i].status, "%s: refused", rows[i].name);
                is(run->output->str, "", "%s: nothing is shown", rows[i].name);
                seat_check(&seat, rows[i].name);
                leftover_check(run, rows[i].name);
                seat_close(&seat);
        }
}

static void test_signals(void) {
        static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                Seat seat = seat_new(31, 97);
                g_autofree char *name = g_strdup_printf("SIG%s to cordon",
                                                        sigabbrev_np(numbers[i]));
                g_autofree char *words = g_strdup_printf(
                        "cordon: cancelled by SIG%s: killed (SIGTERM) after *s\n",
                        sigabbrev_np(numbers[i]));
                Expected expected = { .outcome = "cancelled",
                                      .status = 128 + numbers[i],
                                      .exit_code = ABSENT,
                                      .signal = SIGTERM,
                                      .words = words,
                                      .said = "ready\r\n" };
                g_autoptr(KitRun) run = seat_run(&seat, NULL, VICTIM("say", "ready", "pause"));

                (void)kit_wait_line(run, "ready\r");
                kit_signal(run, numbers[i]);
                kit_finish(run);
                expect(run, &expected, name);
                seat_check(&seat, name);
                seat_close(&seat);
        }
}

/* The terminal is closed with all that is at it: one wish, though it is told twice. */
static void test_hang_up(const char *const *command, const char *name) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, WORDS("--grace", "300ms"), command);
        Expected expected = { .outcome = "cancelled",
                              .status = 129,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .words = "cordon: cancelled by SIGHUP: killed (SIGKILL) after *s\n",
                              .said = "ready\r\n*",
                              .touched = "grace" };

        (void)kit_wait_line(run, "ready\r");
        seat_close(&seat);
        (void)close(run->fds[0]);
        run->fds[0] = -1;
        kit_finish(run);
        expect(run, &expected, name);
}

static void test_launcher_killed(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun)
                run = seat_run(&seat, NULL, VICTIM("ignore", "HUP", "say", "ready", "pause"));

        (void)kit_wait_line(run, "ready\r");
        kit_signal(run, SIGKILL);
        kit_finish(run);
        leftover_check(run, "SIGKILL to cordon");
        seat_close(&seat);
}

/* Into the record */

static void test_capture(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, WORDS("--capture", "--pty"), SITTER("watch"));
        Expected expected = { .outcome = "exited" };

        ok(kit_wait_until((bool (*)(const void *))seat_is_raw, &seat, kit_patience(10 * KIT_SEC)),
           "a terminal that is captured: ours is raw");
        seat_type(&seat, "hello\nquit\n");
        kit_finish(run);
        expect(run, &expected, "a terminal that is captured");
        like(record_text(run, "stdout"), "heard hello", "the record has the transcript");
        ok(record_at(run, "stdout_truncated") && !record_is_true(run, "stdout_truncated"),
           "all of it");
        ok(!record_at(run, "stderr"), "and nothing of standard error alone");
        seat_check(&seat, "a terminal that is captured");
        seat_close(&seat);
}

static void test_capture_limits(void) {
        KitOrder both = { .options = WORDS("--capture", "--pty"),
                          .command = VICTIM("say", "one", "complain", "two") };
        KitOrder cut = { .options = WORDS("--capture", "--pty", "--output", "10"),
                         .command = VICTIM("flood", "5000000", "exit", "3") };
        KitOrder killed = { .options = WORDS("--capture", "--pty", "--output", "10", "--on-output",
                                             "kill"),
                            .command = VICTIM("flood", "1000000000") };
        Expected expected = {
                .outcome = "exited", .status = 3, .exit_code = 3, .touched = "output"
        };
        Expected outgrown = { .outcome = "output",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .words = "cordon: output limit hit: killed (SIGKILL) *",
                              .touched = "output" };
        g_autoptr(KitRun) first = kit_run(&both);
        g_autoptr(KitRun) second = kit_run(&cut);
        g_autoptr(KitRun) third = kit_run(&killed);

        is(record_text(first, "stdout"), "one\r\ntwo\r\n", "a transcript has both, in their order");
        expect(second, &expected, "a transcript that is cut");
        ok(record_is_true(second, "stdout_truncated"), "which the record says");
        expect(third, &outgrown, "a transcript that outgrows its limit");
}

int main(void) {
        kit_init();
        test_reader_gone();
        test_full();
        test_flood();
        test_slow_reader();
        test_no_reader();
        test_ends();
        test_refusals();
        test_signals();
        test_hang_up(VICTIM("ignore", "TERM", "say", "ready", "pause"), "a terminal that is gone");
        test_hang_up(VICTIM("ignore", "TERM", "say", "ready", "flood", "1000000000"),
                     "a terminal that is gone while it is written to");
        test_launcher_killed();
        test_capture();
        test_capture_limits();
        leftover_check_guard("after all terminals");
        kit_clear();
        done_testing();
}
