/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signals to cordon itself: the first ends the tree with grace, the second at once, and either way there is a record. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static void test_first(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
                int number = signals[i];
                const char *short_name = sigabbrev_np(number);
                g_autofree char *name = g_strdup_printf("SIG%s to cordon", short_name);
                g_autofree char *message = g_strdup_printf("cancelled by SIG%s: killed (SIGTERM)",
                                                           short_name);
                g_autofree char *words = g_strdup_printf("cordon: %s after *s\n", message);
                KitOrder order = { .command = VICTIM("child", "pause", "then", "say", "ready",
                                                     "pause") };
                Expected expected = { .outcome = "cancelled",
                                      .status = 128 + number,
                                      .exit_code = ABSENT,
                                      .signal = SIGTERM,
                                      .message = message,
                                      .words = words,
                                      .said = "ready\n" };
                g_autoptr(KitRun) run = kit_start(&order);

                (void)kit_wait_line(run, "ready");
                kit_signal(run, number);
                kit_finish(run);
                expect(run, &expected, name);
                ok(record_has_evidence(run, "cancelled by the caller * after exec"),
                   "%s: the evidence names it", name);
        }
}

static void test_handled(void) {
        KitOrder order = { .command = VICTIM("quit-on", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "cancelled",
                              .status = 130,
                              .message = "cancelled by SIGINT: exited with 0",
                              .words = "cordon: cancelled by SIGINT: exited with 0 after *s\n",
                              .said = "ready\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        kit_signal(run, SIGINT);
        kit_finish(run);
        expect(run, &expected, "SIGINT to cordon of a program that handles TERM");
}

static void test_grace(void) {
        KitOrder order = { .options = WORDS("--grace", "300ms"),
                           .command = VICTIM("ignore", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "cancelled",
                              .status = 143,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "cancelled by SIGTERM: killed (SIGKILL)",
                              .words = "cordon: cancelled by SIGTERM: killed (SIGKILL) after *s\n",
                              .said = "ready\n",
                              .touched = "grace" };
        g_autoptr(KitRun) run = kit_start(&order);
        uint64_t told;

        (void)kit_wait_line(run, "ready");
        told = kit_now();
        kit_signal(run, SIGTERM);
        kit_finish(run);
        expect(run, &expected, "a program that ignores TERM has its grace");
        cmp_ok(run->ended_usec - told, ">=", 300 * KIT_MSEC, "all of it");
}

/* Nobody waits an hour for a program that does not want to go. */
static void test_second(void) {
        KitOrder order = { .options = WORDS("--grace", "1h"),
                           .command = VICTIM("note", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "cancelled",
                              .status = 130,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "cancelled by SIGINT: killed (SIGKILL)",
                              .words = "cordon: cancelled by SIGINT: killed (SIGKILL) after *s\n",
                              .said = "ready\ngot TERM\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        kit_signal(run, SIGINT);
        (void)kit_wait_line(run, "got TERM");
        kit_signal(run, SIGTERM);
        kit_finish(run);
        expect(run, &expected, "a second signal kills at once");
}

/* A deadline came first; what the caller does then only hurries it. */
static void test_after_deadline(void) {
        KitOrder order = { .options = WORDS("--timeout", kit_is_slow() ? "3s" : "300ms", "--grace",
                                            "1h"),
                           .command = VICTIM("note", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .words = "cordon: timeout limit hit: killed (SIGKILL) after *\n",
                              .said = "ready\ngot TERM\n",
                              .touched = "timeout" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "got TERM");
        kit_signal(run, SIGINT);
        kit_finish(run);
        expect(run, &expected, "a signal in the grace of a deadline");
}

/* A terminal sends its signals to the whole group, which a program in a service is not in. */
static void test_group(void) {
        KitOrder order = { .command = VICTIM("note", "INT", "quit-on", "TERM", "say", "ready",
                                             "pause") };
        Expected expected = { .outcome = "cancelled",
                              .status = 130,
                              .message = "cancelled by SIGINT: exited with 0",
                              .words = "*",
                              .said = kit_is_scope() ? "ready\n*" : "ready\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        kit_signal_group(run, SIGINT);
        kit_finish(run);
        expect(run, &expected, "SIGINT to cordon's process group");
}

static void ignore_hangup(void) {
        (void)signal(SIGHUP, SIG_IGN);
}

static void test_nohup(void) {
        KitOrder order = { .prepare = ignore_hangup,
                           .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        kit_signal(run, SIGHUP);
        ok(!kit_wait_process(run->pidfd, 200 * KIT_MSEC), "nohup: SIGHUP does not end cordon");
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        expect(run, &expected, "a signal that the caller had ignored");
}

/* A record of a run that was not executed claims nothing of a program. */
static bool is_right_early(const KitRun *run) {
        bool is_before = g_str_equal(record_text(run, "message"),
                                     "cancelled by SIGTERM before it was executed");

        if (!run->record)
                return true;
        return g_str_equal(record_text(run, "outcome"), "cancelled") &&
               is_before == (record_at(run, "usage") == NULL) &&
               is_before == (record_at(run, "started_at") == NULL) &&
               is_before == (record_at(run, "signal") == NULL);
}

/* Wherever it is on its way: either cordon was not yet ready for signals and just ends, or there is a record. */
static void test_early(void) {
        KitOrder plain = { .command = VICTIM("end") };
        int rounds = kit_rounds(40, 5), wrong = 0, left = 0, records = 0;
        g_autoptr(KitRun) model = kit_run(&plain);
        uint64_t span = (model->ended_usec - model->started_usec) * 3 / 2 + 10 * KIT_MSEC;

        for (int i = 0; i < rounds; i++) {
                KitOrder order = { .command = VICTIM("pause") };
                g_autoptr(KitRun) run = kit_start(&order);

                (void)kit_wait_process(run->pidfd, span * (uint64_t)(i + 1) / (uint64_t)rounds);
                kit_signal(run, SIGTERM);
                kit_finish(run);
                records += run->record != NULL;
                if (run->is_hung || run->status != 143 || !is_right_early(run)) {
                        wrong++;
                        diag("round %d: status %d, %s", i, run->status, run->record_text->str);
                }
                left += !leftover_wait(run, KIT_SEC);
        }
        note("%d of %d had a record", records, rounds);
        cmp_ok(wrong, "==", 0, "SIGTERM at any moment of the start: cancelled with 143");
        cmp_ok(records, ">", 0, "SIGTERM at a later moment of the start: a record");
        cmp_ok(left, "==", 0, "SIGTERM at any moment of the start: nothing is left");
}

int main(void) {
        kit_init();
        test_first();
        test_handled();
        test_grace();
        test_second();
        test_after_deadline();
        test_group();
        test_nohup();
        test_early();
        leftover_check_guard("after every signal");
        kit_clear();
        done_testing();
}
