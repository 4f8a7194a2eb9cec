/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* --wait tree: a run ends with its last process. Also in scopes. */

#include <signal.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define TREE "--wait", "tree"

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options;
        const char *const *command; /* of the victim */
        Expected expected;
        int64_t wall_usec_min;
        int64_t outlived;
} rows[] = {
        { "the main process fails, another goes on", WORDS(TREE),
          WORDS("child", "nap", "300", "say", "late", "end", "then", "exit", "4"),
          { .outcome = "exited", .status = 4, .exit_code = 4, .message = "exited with 4", .said = "late\n" }, 300000, 0 },
        { "the main process succeeds, another goes on", WORDS(TREE),
          WORDS("child", "nap", "300", "say", "late", "end", "then", "end"),
          { .outcome = "exited", .message = "exited with 0", .said = "late\n" }, 300000, 0 },
        { "the main process is killed, another goes on", WORDS(TREE),
          WORDS("child", "nap", "300", "say", "late", "end", "then", "raise", "KILL"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "killed (SIGKILL)", .words = "cordon: killed (SIGKILL) after *s\n", .said = "late\n" }, 300000, 0 },
        { "nobody else is there", WORDS(TREE), WORDS("exit", "3"),
          { .outcome = "exited", .status = 3, .exit_code = 3, .message = "exited with 3" }, 0, 0 },
        { "the deadline passes afterwards", WORDS(TREE, "--timeout", "400ms"),
          WORDS("child", "pause", "then", "exit", "4"),
          { .outcome = "timeout", .status = 124, .exit_code = 4,
            .message = "timeout limit hit: exited with 4 [limits: timeout=400000]",
            .words = "cordon: timeout limit hit: exited with 4 after *s [timeout=400ms]\n", .touched = "timeout" }, 400000, 0 },
        { "the main process counts", WORDS("--wait", "main"), WORDS("child", "pause", "then", "exit", "4"),
          { .outcome = "exited", .status = 4, .exit_code = 4, .message = "exited with 4" }, 0, 1 },
};
/* clang-format on */

static void test_rows(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(GStrv) command = kit_victim_argv(rows[i].command);
                KitOrder order = { .options = rows[i].options,
                                   .command = (const char *const *)command };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &rows[i].expected, rows[i].name);
                cmp_ok(record_number(run, "usage.wall_usec"), ">=", rows[i].wall_usec_min,
                       "%s: it took as long", rows[i].name);
                cmp_ok(record_number(run, "outlived"), "==", rows[i].outlived,
                       "%s: who outlived it", rows[i].name);
        }
}

/* Whatever the manager hears first of a main process that fails at once. */
static void test_rounds(void) {
        KitOrder tree = { .options = WORDS(TREE),
                          .command = VICTIM("child", "nap", "50", "say", "late", "end", "then",
                                            "exit", "4") };
        KitOrder single = { .command = VICTIM("child", "pause", "then", "exit", "4") };
        int rounds = kit_rounds(60, 5), n_early = 0, n_uncounted = 0;

        for (int i = 0; i < rounds; i++) {
                g_autoptr(KitRun) all = kit_run(&tree);
                g_autoptr(KitRun) one = kit_run(&single);

                n_early += !g_str_equal(all->output->str, "late\n");
                n_uncounted += record_number(one, "outlived") != 1;
        }
        cmp_ok(n_early, "==", 0, "%d times nobody was ended early", rounds);
        cmp_ok(n_uncounted, "==", 0, "%d times who outlived it was counted", rounds);
}

static void test_cancelled(void) {
        KitOrder order = { .options = WORDS(TREE, "--grace", "10s"),
                           .command = VICTIM("child", "ignore", "TERM", "say", "ready", "pause",
                                             "then", "exit", "4") };
        Expected expected = { .outcome = "cancelled",
                              .status = 130,
                              .exit_code = 4,
                              .message = "cancelled by SIGINT: exited with 4",
                              .words = "cordon: cancelled by SIGINT: exited with 4 after *s\n",
                              .said = "ready\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        kit_signal(run, SIGINT);
        kit_signal(run, SIGTERM);
        kit_finish(run);
        expect(run, &expected, "the second signal kills who ignores the first");
}

static bool is_past(const void *usec) {
        return kit_now() > *(const uint64_t *)usec;
}

/* Its manager is stopped when the last process ends, and hears of it after the deadline. */
static void test_manager_late(void) {
        uint64_t timeout = kit_is_slow() ? 20 * KIT_SEC : 2 * KIT_SEC, passed;
        KitOrder order = { .options = WORDS(TREE, "--timeout", kit_is_slow() ? "20s" : "2s"),
                           .command = VICTIM("child", "nap", kit_is_slow() ? "5000" : "500", "say",
                                             "late", "end", "then", "say", "ready", "exit", "4") };
        Expected expected = { .outcome = "exited",
                              .status = 4,
                              .exit_code = 4,
                              .message = "exited with 4",
                              .said = "ready\nlate\n" };

        skip(g_str_equal(kit_manager(), "system"), 6, "n/a: nobody stops the system manager");
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *unit = leftover_program_unit(run->id);
        pid_t manager;

        (void)kit_wait_line(run, "ready");
        passed = kit_now() + timeout + 100 * KIT_MSEC;
        manager = manager_pid(unit);
        ok(manager > 1 && kill(manager, SIGSTOP) == 0, "the manager is stopped");
        (void)kit_wait_line(run, "late");
        (void)kit_wait_until(is_past, &passed, 2 * timeout);
        (void)kill(manager, SIGCONT);
        kit_finish(run);
        expect(run, &expected, "a tree that ended before its deadline did not meet it");
        cmp_ok(record_number(run, "usage.wall_usec"), "<", timeout, "nor did it take so long");
        end_skip;
}

int main(void) {
        kit_init();
        test_rows();
        test_manager_late();
        test_rounds();
        test_cancelled();
        kit_clear();
        done_testing();
}
