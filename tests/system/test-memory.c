/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory: who is killed for it, who only looks as if, and what the counters say. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define MIB (INT64_C(1) << 20)

/* On a mixed machine the memory controller is in version 1: then nobody kills the whole group. */
static bool is_unified(void) {
        g_autofree char *controllers = NULL;

        return g_file_get_contents("/sys/fs/cgroup/cgroup.controllers", &controllers, NULL, NULL) &&
               strstr(controllers, "memory");
}

static void test_parent(void) {
        KitOrder order = { .options = WORDS("--memory", "32M"), .command = VICTIM("eat", "200") };
        Expected expected = {
                .outcome = "memory",
                .status = 137,
                .exit_code = ABSENT,
                .signal = SIGKILL,
                .message = "memory limit hit: killed (SIGKILL) [limits: memory=33554432]",
                .words = "cordon: memory limit hit: killed (SIGKILL) after *s, peak 32M [memory=32M]\n",
                .touched = "memory",
        };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a program that eats too much");
        expect_limit(run, "memory", 32 * MIB, 32 * MIB, "MemoryMax");
        expect_limit(run, "swap", 0, 0, "MemorySwapMax");
        ok(record_has_evidence(run, "memory.* oom_kill=*"), "the evidence is the kernel's counter");
        ok(record_has_evidence(run, "main process killed by SIGKILL"), "and the wait status");
        cmp_ok(record_number(run, "usage.memory_peak_bytes"), "<=", 32 * MIB, "it never had more");
        cmp_ok(record_number(run, "usage.memory_peak_bytes"), ">=", 31 * MIB, "nor much less");
}

/* The parent would have exited 0 and nobody would have known. */
static void test_child(void) {
        KitOrder order = { .options = WORDS("--memory", "32M"),
                           .command = VICTIM("child", "eat", "200", "then", "reap", "nap", "300",
                                             "exit", "0") };
        Expected whole = { .outcome = "memory",
                           .status = 137,
                           .exit_code = ABSENT,
                           .signal = SIGKILL,
                           .message = "memory limit hit: killed (SIGKILL) [limits: memory=33554432]",
                           .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=32M]\n",
                           .touched = "memory",
                           .said = "*" };
        Expected single = { .outcome = "memory",
                            .status = 137,
                            .message = "memory limit hit: exited with 0 [limits: memory=33554432]",
                            .words = "cordon: memory limit hit: exited with 0 *[memory=32M]\n",
                            .touched = "memory",
                            .said = "child KILL\n" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, is_unified() ? &whole : &single, "a child that eats too much");
        ok(!record_is_true(run, "ok"), "a run in which somebody was killed for memory is not ok");
}

/* Sixteen siblings, each of which would fit, and a parent that exits 0 at once. */
static void test_siblings(void) {
        GPtrArray *words = g_ptr_array_new();

        g_ptr_array_add(words, (char *)kit_victim());
        for (int i = 0; i < 16; i++)
                for (const char *const *w = WORDS("child", "eat", "16", "pause", "then"); *w; w++)
                        g_ptr_array_add(words, (char *)*w);
        for (const char *const *w = WORDS("reap", "exit", "0"); *w; w++)
                g_ptr_array_add(words, (char *)*w);
        g_ptr_array_add(words, NULL);

        KitOrder order = { .options = WORDS("--memory", "48M", "--timeout",
                                            kit_is_slow() ? "60s" : "1s"),
                           .command = (const char *const *)words->pdata };
        g_autoptr(KitRun) run = kit_run(&order);

        skip(!is_unified(), 1, "n/a: v1 leaves the others alive");
        is(record_text(run, "outcome"), "memory", "the memory of all together is what counts");
        end_skip;
        ok(record_is_true(run, "limits.memory.touched"), "siblings: the limit was touched");
        leftover_check(run, "siblings");
        g_ptr_array_unref(words);
}

/* clang-format off */
static const struct {
        const char *name;
        const char *const *command; /* of the victim */
        Expected expected;
} innocents[] = {
        { "exit 137 under a memory limit", WORDS("exit", "137"),
          { .outcome = "exited", .status = 137, .exit_code = 137, .message = "exited with 137" } },
        { "SIGKILL by itself under a memory limit", WORDS("raise", "KILL", "pause"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "killed (SIGKILL)", .words = "cordon: killed (SIGKILL) after *\n" } },
        { "a child that kills itself under a memory limit",
          WORDS("child", "raise", "KILL", "pause", "then", "reap", "exit", "0"),
          { .outcome = "exited", .message = "exited with 0", .said = "child KILL\n" } },
        { "a program that eats less than its limit", WORDS("eat", "16"),
          { .outcome = "exited", .message = "exited with 0", .said = "eat all\n" } },
};
/* clang-format on */

static void test_innocents(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(innocents); i++) {
                g_auto(GStrv) command = kit_victim_argv(innocents[i].command);
                KitOrder order = { .options = WORDS("--memory", "64M"),
                                   .command = (const char *const *)command };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &innocents[i].expected, innocents[i].name);
        }
}

static void test_administrator(void) {
        KitOrder order = { .options = WORDS("--memory", "64M"),
                           .command = VICTIM("pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "signaled",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "killed (SIGKILL)",
                              .words = "cordon: killed (SIGKILL) after *\n",
                              .said = "pid *\nready\n" };
        g_autoptr(KitRun) run = kit_start(&order);

        if (kit_wait_line(run, "ready"))
                (void)kill((pid_t)kit_said_number(run, "pid"), SIGKILL);
        kit_finish(run);
        expect(run, &expected, "an administrator's SIGKILL");
}

static void test_peak(void) {
        KitOrder order = { .command = VICTIM("eat", "24") };
        g_autoptr(KitRun) run = kit_run(&order);
        int64_t peak = record_number(run, "usage.memory_peak_bytes");

        cmp_ok(peak, ">=", 24 * MIB, "the peak of memory is at least what was touched");
        cmp_ok(peak, "<=", 30 * MIB, "and not much more");
        leftover_check(run, "a run without a limit");
}

/* The kernel counts in pages; the record says what is in force. */
static void test_rounding(void) {
        int64_t page = sysconf(_SC_PAGESIZE);
        KitOrder order = { .options = WORDS("--memory", "100000001"), .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        expect_limit(run, "memory", 100000001, 100000001 / page * page, "MemoryMax");
        leftover_check(run, "a limit that is no multiple of pages");
}

static void test_high(void) {
        KitOrder order = { .options = WORDS("--memory-high", "16M", "--timeout",
                                            kit_is_slow() ? "20s" : "1s", "--grace", "0"),
                           .command = VICTIM("eat", "18") };
        g_autoptr(KitRun) run = kit_run(&order);
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "unenforceable",
                             .message = "--memory-high cannot be enforced here: *",
                             .words = "cordon: --memory-high cannot be enforced here: *\n" };

        if (!is_unified()) {
                expect(run, &refused, "memory-high where version 1 has no such thing");
                return;
        }
        expect_limit(run, "memory-high", 16 * MIB, 16 * MIB, "MemoryHigh");
        ok(record_is_true(run, "limits.memory-high.touched"), "memory-high is touched above it");
        leftover_check(run, "memory-high");
}

/* A limit of its own gives the unit a group of its own, also where it had none, and what is killed is counted there. */
static void test_own_group(void) {
        KitOrder order = { .options = WORDS("--memory", "32M"),
                           .command = VICTIM("child", "quit-on", "USR1", "pid", "say", "ready",
                                             "pause", "then", "reap", "eat", "200") };
        Expected expected = { .outcome = "memory",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .said = "pid *\nready\nchild 0\n",
                              .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=32M]\n",
                              .touched = "memory" };
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *unit = NULL;

        (void)kit_wait_line(run, "ready");
        unit = leftover_program_unit(run->id);
        ok(manager_limit_memory(unit, 1024 * MIB), "the program's unit gets a limit in mid-run");
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        expect(run, &expected, "a kill in the unit's own group");
}

int main(void) {
        kit_init();
        test_parent();
        test_child();
        test_siblings();
        test_innocents();
        test_administrator();
        test_own_group();
        test_peak();
        test_rounding();
        test_high();
        kit_clear();
        done_testing();
}
