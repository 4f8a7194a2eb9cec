/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The other limits, each met by a program: what it gets to feel, what the record says of it, and that what is in force
 * is what was asked for. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options;
        const char *const *command; /* of the victim */
        Expected expected;
        bool is_extra;
} cases[] = {
        { "fsize: a file that grows too large", WORDS("--fsize", "64K"), WORDS("write", "large", "131072"),
          { .outcome = "fsize", .status = 153, .exit_code = ABSENT, .signal = SIGXFSZ, .touched = "fsize",
            .message = "fsize limit hit: killed (SIGXFSZ) [limits: fsize=65536]",
            .words = "cordon: fsize limit hit: killed (SIGXFSZ) after *s [fsize=64K]\n" } },
        { "fsize: a program that ignores SIGXFSZ ends as it likes", WORDS("--fsize", "64K"),
          WORDS("ignore", "XFSZ", "write", "large", "131072", "exit", "4"),
          { .outcome = "exited", .status = 4, .exit_code = 4, .said = "write 65536 EFBIG\n" } },
        { "fsize: 0 means no file at all", WORDS("--fsize", "0"),
          WORDS("ignore", "XFSZ", "write", "large", "1"),
          { .outcome = "exited", .said = "write 0 EFBIG\n" }, .is_extra = true },
        { "fsize: a child that meets it is its parent's business", WORDS("--fsize", "64K"),
          WORDS("child", "write", "large", "131072", "then", "reap", "exit", "5"),
          { .outcome = "exited", .status = 5, .exit_code = 5, .said = "child XFSZ\n" }, .is_extra = true },
        { "fsize: SIGXFSZ without a limit is a signal", NULL, WORDS("raise", "XFSZ", "pause"),
          { .outcome = "signaled", .status = 153, .exit_code = ABSENT, .signal = SIGXFSZ,
            .message = "killed (SIGXFSZ)", .words = "cordon: killed (SIGXFSZ) after *s\n" }, .is_extra = true },
        { "tasks: denied forks are touched, not an outcome", WORDS("--tasks", "8"), WORDS("forks", "20"),
          { .outcome = "exited", .touched = "tasks", .said = "forks 7 EAGAIN\n", .message = "exited with 0 [limits: tasks=8]" } },
        { "tasks: a failure after denied forks may be explained", WORDS("--tasks", "8"),
          WORDS("forks", "20", "exit", "3"),
          { .outcome = "exited", .status = 3, .exit_code = 3, .touched = "tasks", .said = "forks 7 EAGAIN\n",
            .message = "exited with 3 [limits: tasks=8]", .words = "*" } },
        { "tasks: threads count", WORDS("--tasks", "2"), WORDS("thread", "thread", "thread"),
          { .outcome = "exited", .touched = "tasks", .said = "thread EAGAIN\nthread EAGAIN\n" }, .is_extra = true },
        { "tasks: fewer than allowed", WORDS("--tasks", "8"), WORDS("forks", "3"),
          { .outcome = "exited", .said = "forks 3 all\n" } },
        { "nofile: one file more than allowed", WORDS("--nofile", "16"), WORDS("open", "100"),
          { .outcome = "exited", .said = "open 13 EMFILE\n" } },
        { "address-space: a mapping that is too large", WORDS("--address-space", "64M"), WORDS("map", "200", "exit", "2"),
          { .outcome = "exited", .status = 2, .exit_code = 2, .said = "map ENOMEM\n" } },
        { "stack: too deep", WORDS("--stack", "256K"), WORDS("recurse", "1024"),
          { .outcome = "signaled", .status = 139, .exit_code = ABSENT, .signal = SIGSEGV,
            .message = "killed (SIGSEGV)", .words = "cordon: killed (SIGSEGV) after *s\n" } },
        { "stack: deep enough", WORDS("--stack", "256K"), WORDS("recurse", "128"),
          { .outcome = "exited", .said = "recurse all\n" }, .is_extra = true },
        { "cpu: slowed down, not ended", WORDS("--cpu", "20%"), WORDS("burn", "100"),
          { .outcome = "exited", .touched = "cpu", .message = "exited with 0" } },
        { "cpu: enough of it", WORDS("--cpu", "200%"), WORDS("end"), { .outcome = "exited" }, .is_extra = true },
        { "two limits: the one that ended it is the outcome, the other is touched",
          WORDS("--tasks", "4", "--timeout", "2s"), WORDS("forks", "10", "pause"),
          { .outcome = "timeout", .status = 124, .exit_code = ABSENT, .signal = SIGTERM,
            .touched = "timeout tasks", .said = "forks 3 EAGAIN\n",
            .message = "timeout limit hit: killed (SIGTERM) [limits: timeout=2000000, tasks=4]",
            .words = "cordon: timeout limit hit: killed (SIGTERM) after *s [timeout=2s, tasks=4]\n" } },
        { "two limits: memory before its deadline", WORDS("--memory", "32M", "--timeout", "2m", "--cpu-time", "2m"),
          WORDS("eat", "200"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=32M]\n" } },
};

/* The smallest that is accepted lets the smallest program run; so no less may be accepted, and no more be asked. */
static const struct {
        const char *option, *least, *below;
} smallest[] = {
        { "--memory", "4M", "4095K" },
        { "--address-space", "4M", "4095K" },
        { "--stack", "64K", "63K" },
        { "--nofile", "8", "7" },
        { "--tasks", "1", "0" },
        { "--cpu", "1%", "0.9%" },
        { "--timeout", "1ms", "0.9ms" },
        { "--cpu-time", "1ms", "0.9ms" },
};
/* clang-format on */

static void test_cases(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GStrv) command = kit_victim_argv(cases[i].command);
                KitOrder order = { .options = cases[i].options,
                                   .command = (const char *const *)command };

                if (cases[i].is_extra && kit_is_brief())
                        continue;

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &cases[i].expected, cases[i].name);
        }
}

static void test_quota(void) {
        KitOrder order = { .options = WORDS("--cpu", "20%"), .command = VICTIM("burn", "100") };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(record_number(run, "usage.wall_usec"), ">=", 300000,
               "100 ms of CPU time take long with a fifth of a CPU");
        leftover_check(run, "a slow program");
}

/* Rows of /proc/self/limits, as the kernel names them. */
static const char *const rows[] = {
        "Max file size 1048576 1048576 bytes",
        "Max stack size 1048576 1048576 bytes",
        "Max core file size 0 0 bytes",
        "Max open files 32 32 files",
        "Max address space 1073741824 1073741824 bytes",
        "Max cpu time 13 14 seconds",
};

static bool shows(const KitRun *run, const char *row) {
        g_autoptr(GRegex) spaces = g_regex_new(" +", 0, 0, NULL);
        g_autofree char *text = g_regex_replace_literal(spaces, run->output->str, -1, 0, " ", 0,
                                                        NULL);

        return strstr(text, row) != NULL;
}

static void test_all_at_once(void) {
        KitOrder order = {
                .options = WORDS("--memory", "64M", "--tasks", "16", "--nofile", "32", "--fsize",
                                 "1M", "--stack", "1M", "--core", "0", "--address-space", "1G",
                                 "--cpu", "350%", "--timeout", "1m", "--grace", "2s", "--cpu-time",
                                 "10s"),
                .command = VICTIM("cat", "/proc/self/limits"),
        };
        Expected expected = { .outcome = "exited", .said = "*" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "every limit at once");
        expect_limit(run, "memory", 67108864, 67108864, "MemoryMax");
        expect_limit(run, "swap", 0, 0, "MemorySwapMax");
        expect_limit(run, "tasks", 16, 16, "TasksMax");
        expect_limit(run, "nofile", 32, 32, "LimitNOFILE");
        expect_limit(run, "fsize", 1048576, 1048576, "LimitFSIZE");
        expect_limit(run, "stack", 1048576, 1048576, "LimitSTACK");
        expect_limit(run, "core", 0, 0, "LimitCORE");
        expect_limit(run, "address-space", 1073741824, 1073741824, "LimitAS");
        expect_limit(run, "cpu", 3500000, 3500000, "CPUQuotaPerSecUSec");
        expect_limit(run, "timeout", 60000000, 60000000, "RuntimeMaxUSec");
        expect_limit(run, "grace", 2000000, 2000000, "TimeoutStopUSec");
        expect_limit(run, "cpu-time", 10000000, 10000000, "LimitCPU");
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                ok(shows(run, rows[i]), "the program sees \"%s\"", rows[i]);
}

static void test_smallest(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(smallest); i++) {
                /* A hundredth of an emulated CPU starts nothing in time. */
                if (kit_is_slow() && g_str_equal(smallest[i].option, "--cpu"))
                        continue;

                KitOrder least = { .options = WORDS(smallest[i].option, smallest[i].least),
                                   .command = WORDS("/bin/true") };
                KitOrder below = { .options = WORDS(smallest[i].option, smallest[i].below),
                                   .command = WORDS("/bin/true") };
                g_autofree char *words = g_strdup_printf(
                        "cordon: %s: \"%s\" is out of range; accepted: %s to *\n",
                        smallest[i].option, smallest[i].below, smallest[i].least);
                g_autofree char *name = g_strdup_printf("%s %s", smallest[i].option,
                                                        smallest[i].least);
                g_autoptr(KitRun) run = kit_run(&least);
                g_autoptr(KitRun) less = kit_run(&below);

                /* Deadlines may well be met, and that is their right. */
                if (strstr(smallest[i].option, "time"))
                        ok(run->status == 0 || run->status == 124, "%s is accepted", name);
                else
                        cmp_ok(run->status, "==", 0, "%s is enough for true: %s", name,
                               run->errors->str);
                leftover_check(run, name);
                cmp_ok(less->status, "==", 125, "less than %s is refused", name);
                ok(g_pattern_match_simple(words, less->errors->str),
                   "and told what is accepted: %s", less->errors->str);
        }
}

/* cpuset is delegated to nobody but the system manager: then it is in force, else it is refused. */
static void test_cpus(void) {
        KitOrder order = { .options = WORDS("--cpus", "0"),
                           .command = VICTIM("cat", "/proc/self/status") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "unenforceable",
                             .message = "--cpus *",
                             .words = "cordon: --cpus *\n" };
        Expected held = { .outcome = "exited", .said = "*\nCpus_allowed_list:\t0\n*" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, run->status == 125 ? &refused : &held, "cpus are in force or refused");
        skip(!g_str_equal(kit_manager(), "system"), 1, "n/a: cpuset is not delegated to it");
        cmp_ok(run->status, "==", 0, "the system manager has cpuset");
        end_skip;
}

#define STAND_IN "not enforced: --cpus (CPUAffinity, which the program can change)\n"

/* Where there is no cpuset, an affinity stands in for it, and the record says that it is no more than that. */
static void test_cpus_best_effort(void) {
        KitOrder order = { .options = WORDS("--best-effort", "--cpus", "0"),
                           .command = VICTIM("cat", "/proc/self/status") };
        KitOrder late = { .options = WORDS("--best-effort", "--cpus", "0", "--timeout", "300ms"),
                          .command = VICTIM("pause") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(KitRun) ended = kit_run(&late);
        bool is_enforced = record_is_true(run, "limits.cpus.enforced");
        Expected held = { .outcome = "exited",
                          .said = "*\nCpus_allowed_list:\t0\n*",
                          .words = is_enforced ? NULL : "cordon: " STAND_IN };
        Expected both = { .outcome = "timeout",
                          .status = 124,
                          .exit_code = ABSENT,
                          .signal = SIGTERM,
                          .touched = "timeout",
                          .words = is_enforced ? "cordon: timeout limit hit: *]\n"
                                               : "cordon: timeout limit hit: *]; " STAND_IN };

        expect(run, &held, "cpus with --best-effort");
        is(record_text(run, "limits.cpus.by"), is_enforced ? "AllowedCPUs" : "CPUAffinity",
           "the record says what holds them");
        cmp_ok(record_number(run, "limits.cpus.effective"), "==", 1, "and how many there are");
        ok(is_enforced || !g_str_equal(kit_manager(), "system"), "the system manager has cpuset");
        expect(ended, &both, "what is not enforced is said in the same line");
}

/* Asked for what this machine has not got, or for more than it has. */
static void test_cpus_missing(void) {
        KitOrder none = { .options = WORDS("--cpus", "8191"), .command = VICTIM("end") };
        KitOrder best = { .options = WORDS("--best-effort", "--cpus", "8191"),
                          .command = VICTIM("end") };
        KitOrder more = { .options = WORDS("--best-effort", "--cpus", "0-4095"),
                          .command = VICTIM("end") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "unenforceable",
                             .words = "cordon: --cpus *\n" };
        Expected told = { .outcome = "exited", .words = "cordon: not enforced: --cpus\n" };
        g_autoptr(KitRun) strict = kit_run(&none);
        g_autoptr(KitRun) run = kit_run(&best);
        g_autoptr(KitRun) all = kit_run(&more);

        skip(g_get_num_processors() > 4096, 1, "n/a: a machine with more than 4096 CPUs");
        expect(strict, &refused, "a CPU that is not there");
        expect(run, &told, "a CPU that is not there, with --best-effort");
        ok(!record_is_true(run, "limits.cpus.enforced") && !record_at(run, "limits.cpus.effective"),
           "nothing of it holds");
        cmp_ok(all->status, "==", 0, "more CPUs than there are: %s", all->errors->str);
        cmp_ok(record_number(all, "limits.cpus.effective"), "<", 4096, "are as many as there are");
        leftover_check(all, "more CPUs than there are");
        end_skip;
}

/* Version 1 has no such file: what is set goes nowhere, and reading back must see it. */
static void test_memory_high(void) {
        bool is_v1 = g_file_test("/sys/fs/cgroup/memory/memory.limit_in_bytes", G_FILE_TEST_EXISTS);
        KitOrder order = { .options = WORDS("--memory-high", "64M"),
                           .command = VICTIM("exit", "0") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "unenforceable",
                             .message = "--memory-high cannot be enforced here: *\"memory\"*",
                             .words = "cordon: --memory-high cannot be enforced here: *\n" };
        Expected held = { .outcome = "exited" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, is_v1 ? &refused : &held,
               is_v1 ? "memory-high is refused with version 1" : "memory-high is in force");
}

/* What is dumped where is the machine's choice. */
static void test_core(void) {
        g_autofree char *pattern = NULL;
        KitOrder order = { .options = WORDS("--core", "8M"), .command = VICTIM("raise", "SEGV") };

        (void)g_file_get_contents("/proc/sys/kernel/core_pattern", &pattern, NULL, NULL);
        skip(g_strcmp0(pattern, "core\n") != 0, 3, "n/a: cores of this machine go elsewhere");

        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 139, "a program that dumps core ends by its signal");
        ok(record_is_true(run, "core_dumped"), "that it dumped core is in the record");
        is(record_text(run, "message"), "killed (SIGSEGV, core dumped)", "and in the message");
        leftover_check(run, "a run that dumped core");
        end_skip;
}

/* What is larger than its address space cannot be loaded, and the kernel ends it when it is too late to say so. */
static void test_large_program(void) {
        g_autofree char *large = kit_program("victim-large");
        KitOrder order = { .options = WORDS("--address-space", "64M"), .command = WORDS(large) };
        Expected expected = { .outcome = "signaled",
                              .status = 139,
                              .exit_code = ABSENT,
                              .signal = SIGSEGV,
                              .message = "killed (SIGSEGV)",
                              .words = "cordon: killed (SIGSEGV) after *s\n" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "700 MB of variables under a smaller address space");
}

int main(void) {
        kit_init();
        test_cases();
        test_quota();
        test_all_at_once();
        test_smallest();
        test_cpus();
        test_cpus_best_effort();
        test_cpus_missing();
        test_memory_high();
        test_core();
        test_large_program();
        kit_clear();
        done_testing();
}
