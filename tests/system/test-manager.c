/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the manager may do in the middle of a run, and many runs at once: the record is complete, the limits hold. */

#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define CROWD 30

typedef bool (*Disturbance)(void);

/* Limits after it are those of before: the program then meets its own. */
static void test_limits_hold(Disturbance disturb, const char *what) {
        KitOrder order = { .options = WORDS("--memory", "32M", "--tasks", "8"),
                           .command = VICTIM("child", "quit-on", "USR1", "pid", "say", "ready",
                                             "pause", "then", "reap", "forks", "20", "eat",
                                             "200") };
        Expected expected = { .outcome = "memory",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .said = "pid *\nready\nchild 0\nforks 7 EAGAIN\n",
                              .words = "cordon: memory limit hit: killed (SIGKILL) *\n",
                              .touched = "memory tasks" };
        g_autofree char *name = g_strdup_printf("limits after %s", what);
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        ok(disturb(), "%s in mid-run", what);
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        expect(run, &expected, name);
        expect_limit(run, "memory", 32 << 20, 32 << 20, "MemoryMax");
        expect_limit(run, "tasks", 8, 8, "TasksMax");
}

static void test_status_kept(Disturbance disturb, const char *what) {
        KitOrder order = { .command = VICTIM("child", "quit-on", "USR1", "pid", "say", "ready",
                                             "pause", "then", "reap", "exit", "37") };
        Expected expected = { .outcome = "exited",
                              .status = 37,
                              .exit_code = 37,
                              .said = "pid *\nready\nchild 0\n",
                              .message = "exited with 37" };
        g_autofree char *name = g_strdup_printf("a status after %s", what);
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        ok(disturb(), "%s in mid-run", what);
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        expect(run, &expected, name);
}

/* What a manager keeps of itself, because the unit failed; and what it would forget. */
static const struct {
        const char *verb, *argument;
        Expected expected;
} short_ends[] = {
        { "exit",
          "38",
          { .outcome = "exited", .status = 38, .exit_code = 38, .message = "exited with 38" } },
        { "exit", "0", { .outcome = "exited", .message = "exited with 0" } },
        { "raise",
          "TERM",
          { .outcome = "signaled",
            .status = 143,
            .exit_code = ABSENT,
            .signal = SIGTERM,
            .message = "killed (SIGTERM)",
            .words = "cordon: killed (SIGTERM) *\n" } },
};

/* It ends while the manager is busy with itself. */
static void test_status_meanwhile(Disturbance disturb, const char *what) {
        int rows = G_N_ELEMENTS(short_ends), rounds = kit_rounds(2 * rows, rows);

        for (int i = 0; i < rounds; i++) {
                int row = i % rows;
                Expected expected = short_ends[row].expected;
                g_autofree char *name = g_strdup_printf("%s %s during %s", short_ends[row].verb,
                                                        short_ends[row].argument, what);

                expected.said = "ready\n";
                KitOrder order = { .command = VICTIM("say", "ready", "nap", "50",
                                                     short_ends[row].verb,
                                                     short_ends[row].argument) };
                g_autoptr(KitRun) run = kit_start(&order);

                (void)kit_wait_line(run, "ready");
                (void)disturb();
                kit_finish(run);
                expect(run, &expected, name);
        }
}

static void test_deadline_holds(Disturbance disturb, const char *what) {
        KitOrder order = { .options = WORDS("--timeout", kit_is_slow() ? "20s" : "1s", "--grace",
                                            "0"),
                           .command = VICTIM("ignore", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .said = "ready\n",
                              .words = "cordon: timeout limit hit: killed (SIGKILL) *\n",
                              .touched = "timeout grace" };
        g_autofree char *name = g_strdup_printf("a deadline after %s", what);
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        ok(disturb(), "%s in mid-run", what);
        kit_finish(run);
        expect(run, &expected, name);
}

/* The guard must have found its way back to the manager, too. */
static void test_guard_holds(Disturbance disturb, const char *what) {
        KitOrder order = { .command = VICTIM("ignore", "TERM", "say", "ready", "pause") };
        g_autofree char *name = g_strdup_printf("SIGKILL to cordon after %s", what);
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        ok(disturb(), "%s in mid-run", what);
        kit_signal(run, SIGKILL);
        kit_finish(run);
        leftover_check(run, name);
}

/* A manager that looks for unit files while our slice is there remembers its file when both are gone. */
static void test_next_start(Disturbance disturb, const char *what) {
        g_autofree char *name = g_strdup_printf("a first start after %s", what);
        KitOrder order = { .command = VICTIM("say", "ready", "nap", "50", "end") };
        Expected expected = { .outcome = "exited", .said = "ready\n", .message = "exited with 0" };
        g_autoptr(KitRun) before = kit_start(&order);

        (void)kit_wait_line(before, "ready");
        (void)disturb();
        kit_finish(before);
        leftover_check_guard(what);

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, name);
}

static void test_disturbance(Disturbance disturb, const char *what) {
        test_limits_hold(disturb, what);
        test_status_meanwhile(disturb, what);
        test_guard_holds(disturb, what);
        test_next_start(disturb, what);
        if (kit_is_brief())
                return;
        test_status_kept(disturb, what);
        test_deadline_holds(disturb, what);
}

static void test_crowd(void) {
        KitOrder order = { .options = WORDS("--memory", "64M", "--timeout", "5m"),
                           .command = VICTIM("eat", "2", "nap", "20", "exit", "5") };
        Expected expected = { .outcome = "exited",
                              .status = 5,
                              .exit_code = 5,
                              .said = "eat all\n",
                              .message = "exited with 5" };
        KitRun *runs[CROWD];
        int count = kit_rounds(CROWD, 3);

        for (int i = 0; i < count; i++)
                runs[i] = kit_start(&order);
        for (int i = 0; i < count; i++)
                kit_finish(runs[i]);
        for (int i = 0; i < count; i++) {
                g_autofree char *name = g_strdup_printf("number %d of %d at once", i + 1, count);

                expect(runs[i], &expected, name);
                kit_run_free(runs[i]);
        }
}

/* All killed at the same moment: the guard ends them together, and they wait for one manager. */
static void test_crowd_killed(void) {
        KitOrder order = { .command = VICTIM("ignore", "TERM", "say", "ready", "pause") };
        KitRun *runs[CROWD];
        int count = kit_rounds(CROWD, 3), left = 0;

        for (int i = 0; i < count; i++)
                runs[i] = kit_start(&order);
        for (int i = 0; i < count; i++)
                (void)kit_wait_line(runs[i], "ready");
        for (int i = 0; i < count; i++)
                kit_signal(runs[i], SIGKILL);
        for (int i = 0; i < count; i++) {
                kit_finish(runs[i]);
                left += !leftover_wait(runs[i], 10 * KIT_SEC);
                kit_run_free(runs[i]);
        }
        cmp_ok(left, "==", 0, "%d cordons killed at once leave nothing", count);
}

static bool is_on_another(const char *path, const char *other) {
        struct stat here, there;

        return stat(path, &here) == 0 && stat(other, &there) == 0 && here.st_dev != there.st_dev;
}

/* On a disk they would cost the manager a sixth of its time. */
static void test_notes(void) {
        KitOrder order = { .command = VICTIM("quit-on", "TERM", "pid", "say", "ready", "pause") };
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *unit = leftover_program_unit(run->id);
        bool is_own = strcmp(kit_manager(), "private") == 0 &&
                      !g_file_test("/run/systemd/system", G_FILE_TEST_IS_DIR);
        g_autoptr(GPtrArray) dirs = NULL;
        g_autoptr(GPtrArray) runtime = NULL;
        unsigned in_memory = 0, apart = 0;

        (void)kit_wait_line(run, "ready");
        dirs = manager_transient_dirs();
        runtime = manager_runtime_dirs();
        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *path = g_build_filename(g_ptr_array_index(dirs, i), unit, NULL);
                struct statfs fs;

                in_memory += statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
                if (is_own)
                        apart += is_on_another(path, runtime->pdata[i]);
        }
        cmp_ok(in_memory, "==", 1, "the manager's file of a unit is in memory");
        cmp_ok(apart, "==", is_own ? 1 : 0, "… one of its own has a file system for them");
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGTERM);
        kit_finish(run);
}

int main(void) {
        const char *why_not;

        kit_init();
        test_disturbance(manager_reload, "a reload of the manager");
        why_not = manager_cannot_reexecute();
        skip(why_not != NULL, 1, "%s", why_not);
        test_disturbance(manager_reexecute, "a re-execution of the manager");
        end_skip;
        test_notes();
        test_crowd();
        test_crowd_killed();
        leftover_check_guard("after many runs");
        kit_clear();
        done_testing();
}
