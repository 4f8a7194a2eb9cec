/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools: limits that bound several runs together, and how many there are at a time. A pool comes with its first run and
 * is gone with its last one, however they end. */

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define MIB      (INT64_C(1) << 20)
#define HOLDING  VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause")
#define LAUNCHES 50
#define PLACES   3

/* One for each test, so that what one has left is not met by the next. */
static char *pool_new_name(void) {
        static unsigned count;

        return g_strdup_printf("test-%d-%u", (int)getpid(), ++count);
}

static KitRun *hold(const char *const *options) {
        KitRun *run = kit_start(&(KitOrder){ .options = options, .command = HOLDING });

        (void)kit_wait_line(run, "ready");
        return run;
}

static const Expected held = { .outcome = "exited", .said = "pid *\nready\n" };
static const Expected done = { .outcome = "exited" };

static void let_go(KitRun *run, const char *name) {
        pid_t pid = (pid_t)kit_said_number(run, "pid");

        ok(pid > 0 && kill(pid, SIGUSR1) == 0, "%s: it is told to end", name);
        kit_finish(run);
        expect(run, &held, name);
}

static Expected refused(const char *code, const char *message) {
        static char words[256];

        g_snprintf(words, sizeof words, "cordon: %s*\n", message);
        return (Expected){ .outcome = "refused",
                           .status = 125,
                           .exit_code = ABSENT,
                           .error = code,
                           .words = words };
}

/* Limits of the total */

static void test_record(void) {
        g_autofree char *pool = pool_new_name();
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-memory", "64M", "--pool-cpu",
                                            "150%", "--pool-tasks", "40", "--memory", "32M"),
                           .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &done, "a run in a pool");
        is(record_text(run, "pool"), pool, "the record names it");
        expect_limit(run, "pool-memory", 64 * MIB, 64 * MIB, "MemoryMax");
        expect_limit(run, "pool-swap", 0, 0, "MemorySwapMax");
        expect_limit(run, "pool-cpu", 1500000, 1500000, "CPUQuotaPerSecUSec");
        expect_limit(run, "pool-tasks", 40, 40, "TasksMax");
        expect_limit(run, "memory", 32 * MIB, 32 * MIB, "MemoryMax");
        leftover_check_pool(pool, "after its only run");
}

static void test_tasks(void) {
        g_autofree char *pool = pool_new_name();
        const char *const *options = WORDS("--pool", pool, "--pool-tasks", "20");
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-tasks", "20", "--tasks", "64"),
                           .command = VICTIM("forks", "10", "say", "ready") };
        g_autoptr(KitRun)
                first = kit_start(&(KitOrder){ .options = options,
                                               .command = VICTIM("quit-on", "USR1", "pid", "forks",
                                                                 "12", "say", "ready", "pause") });
        int64_t got;

        (void)kit_wait_line(first, "ready");

        g_autoptr(KitRun) second = kit_run(&order);

        got = kit_said_number(second, "forks");
        ok(second->status == 0 && got >= 0 && got < 10 && got + 1 + 13 <= 20,
           "what one run has forked is denied to the other: it got %d", (int)got);
        ok(!record_is_true(second, "limits.tasks.touched"), "… by the pool, and not by --tasks");
        ok(kill((pid_t)kit_said_number(first, "pid"), SIGUSR1) == 0, "the first one may end");
        kit_finish(first);
        ok(first->status == 0 && kit_said_number(first, "forks") == 12,
           "the first one had all it wanted");
        leftover_check(first, "the first one");
        leftover_check(second, "the second one");
        leftover_check_pool(pool, "after tasks");
}

static void test_memory(const char *own) {
        g_autofree char *pool = pool_new_name();
        g_autofree char *name = g_strdup_printf("the pool's memory, own limit %s", own ?: "none");
        g_autofree char *message = g_strdup_printf("memory limit of pool %s hit: killed (SIGKILL) "
                                                   "?limits: pool-memory=67108864?",
                                                   pool);
        g_autofree char *words = g_strdup_printf(
                "cordon: memory limit of pool %s hit: killed (SIGKILL) after *s, peak * "
                "?pool-memory=64M?\n",
                pool);
        g_autofree char *evidence = NULL;
        const char *const *options = WORDS("--pool", pool, "--pool-memory", "64M");
        KitOrder order = { .options = own ? WORDS("--pool", pool, "--pool-memory", "64M",
                                                  "--memory", own)
                                          : options,
                           .command = VICTIM("eat", "200") };
        Expected expected = { .outcome = "memory",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = message,
                              .words = words,
                              .touched = "pool-memory" };
        Expected neighbour = { .outcome = "exited", .said = "eat all\npid *\nready\n" };
        g_autoptr(KitRun)
                other = kit_start(&(KitOrder){ .options = options,
                                               .command = VICTIM("quit-on", "USR1", "eat", "20",
                                                                 "pid", "say", "ready", "pause") });
        g_autofree char *slice = leftover_pool_slice(pool);

        (void)kit_wait_line(other, "ready");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, name);
        evidence = g_strdup_printf("own memory limit not met, but that of *%s", slice);
        ok(record_has_evidence(run, evidence), "%s: the evidence names the pool", name);
        ok(kill((pid_t)kit_said_number(other, "pid"), SIGUSR1) == 0, "%s: the other one goes on",
           name);
        kit_finish(other);
        expect(other, &neighbour, "who shares the pool and is smaller");
        leftover_check_pool(pool, name);
}

static void test_best_effort(const char *pool) {
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-memory", "32M",
                                            "--best-effort"),
                           .command = VICTIM("end") };
        Expected expected = done;
        g_autoptr(KitRun) run = kit_run(&order);

        expected.words = "cordon: not enforced: --pool-memory\n";
        expect(run, &expected, "who makes do with the pool's");
        ok(record_number(run, "limits.pool-memory.effective") == 64 * MIB &&
                   !record_is_true(run, "limits.pool-memory.enforced"),
           "what holds is reported");
}

/* Whoever comes later has what is there, or is refused. */
static void test_others(void) {
        g_autofree char *pool = pool_new_name();
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--pool-memory", "64M"));
        static const struct {
                const char *option, *value;
                const char *message; /* NULL: it may */
        } rows[] = {
                { "--pool-memory", "64M", NULL },
                { "--pool-memory", "65536K", NULL },
                { "--memory", "16M", NULL },
                { "--pool-memory", "128M",
                  "--pool-memory: 128M is asked for, but pool \"*\" was started with 64M; *" },
                { "--pool-memory", "32M",
                  "--pool-memory: 32M is asked for, but pool \"*\" was started with 64M; *" },
                { "--pool-tasks", "9",
                  "--pool-tasks: 9 is asked for, but pool \"*\" was started with none; *" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                KitOrder order = { .options = WORDS("--pool", pool, rows[i].option, rows[i].value),
                                   .command = VICTIM("end") };
                g_autoptr(KitRun) run = kit_run(&order);
                g_autofree char *name = g_strdup_printf("who comes with %s %s", rows[i].option,
                                                        rows[i].value);
                Expected expected = rows[i].message ? refused("unenforceable", rows[i].message)
                                                    : done;

                expect(run, &expected, name);
        }
        test_best_effort(pool);
        let_go(holder, "who has started it");
        leftover_check_pool(pool, "after several runs");
}

/* Changed at the manager behind our back: what holds is read back, not believed. */
static void test_changed(void) {
        g_autofree char *pool = pool_new_name();
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--pool-memory", "64M"));
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-memory", "64M"),
                           .command = VICTIM("end") };
        g_autofree char *slice = leftover_pool_slice(pool);
        Expected expected = refused("unenforceable", "--pool-memory is not in force: *");

        ok(manager_limit_memory(slice, (uint64_t)(256 * MIB)), "somebody raises the pool's limit");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a limit of the pool that does not hold");
        let_go(holder, "who is in the pool already");
        leftover_check_pool(pool, "after a change");
}

/* Several start it in the same moment: one pool, with its limits, for all of them. */
static void test_at_once(void) {
        KitRun *runs[6];
        int rounds = kit_rounds(15, 2), good = 0;

        for (int i = 0; i < rounds; i++) {
                g_autofree char *pool = pool_new_name();
                KitOrder order = { .options = WORDS("--pool", pool, "--pool-tasks", "50"),
                                   .command = VICTIM("end") };

                for (size_t j = 0; j < G_N_ELEMENTS(runs); j++)
                        runs[j] = kit_start(&order);
                for (size_t j = 0; j < G_N_ELEMENTS(runs); j++) {
                        kit_finish(runs[j]);
                        if (runs[j]->status == 0 &&
                            record_number(runs[j], "limits.pool-tasks.effective") == 50)
                                good++;
                        else
                                diag("%s%s", runs[j]->errors->str, runs[j]->record_text->str);
                        kit_run_free(runs[j]);
                }
                if (i == rounds - 1)
                        leftover_check_pool(pool, "after runs that started it at once");
        }
        cmp_ok(good, "==", rounds * (int)G_N_ELEMENTS(runs), "who starts a pool with others is in");
}

/* An administrator's slice of that name is not touched, nor taken for a pool. */
static void test_stranger(void) {
        g_autofree char *pool = pool_new_name();
        g_autofree char *slice = leftover_pool_slice(pool);
        g_autofree char *directory = manager_unit_dir();
        g_autofree char *path = directory ? g_build_filename(directory, slice, NULL) : NULL;
        KitOrder order = { .options = WORDS("--pool", pool), .command = VICTIM("end") };
        Expected expected = refused("unenforceable",
                                    "--pool: cordon-pool-*.slice is there, and not one of "
                                    "cordon's: \"Mine\"");
        bool is_written = path && g_mkdir_with_parents(directory, 0755) == 0 &&
                          g_file_set_contents(path, "[Unit]\nDescription=Mine\n", -1, NULL) &&
                          manager_reload();

        ok(is_written, "somebody has a slice of that name");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a pool that is somebody's");
        ok(manager_stop_unit(slice) && unlink(path) == 0 && manager_reload(),
           "he stops it, and forgets it");
        leftover_check_pool(pool, "after somebody's slice");
}

/* The manager forgets what it was told of a slice whose file is gone. */
static void test_without_file(void) {
        g_autofree char *pool = pool_new_name();
        g_autofree char *slice = leftover_pool_slice(pool);
        const char *const names[] = { slice, "cordon-pool.slice" };
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--pool-memory", "64M"));
        g_autoptr(GPtrArray) dirs = manager_transient_dirs();
        unsigned unlinked = 0;

        for (guint i = 0; i < 2 * dirs->len; i++) {
                g_autofree char *path = g_build_filename(g_ptr_array_index(dirs, i / 2),
                                                         names[i % 2], NULL);

                unlinked += unlink(path) == 0;
        }
        ok(unlinked == 2 && manager_reload(), "the slices have lost their files");
        let_go(holder, "a run in a pool without a file");
        leftover_check_pool(pool, "after a pool without a file");
}

/* It looks for a file that has gone with the slice. */
static void test_reloaded(void) {
        g_autofree char *pool = pool_new_name();
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-memory", "64M"),
                           .command = VICTIM("end") };
        g_autoptr(KitRun) other = hold(NULL);
        g_autoptr(KitRun) holder = hold(order.options);

        ok(manager_reload(), "the manager is reloaded");
        let_go(holder, "a run in a pool meanwhile");
        leftover_check_pool(pool, "after a reload");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &done, "the next run of that pool");
        expect_limit(run, "pool-memory", 64 * MIB, 64 * MIB, "MemoryMax");
        let_go(other, "a run in no pool");
        leftover_check_pool(pool, "after the next run");
}

static void test_killed(void) {
        g_autofree char *pool = pool_new_name();
        g_autoptr(KitRun)
                first = hold(WORDS("--pool", pool, "--pool-memory", "64M", "--max-parallel", "9"));
        g_autoptr(KitRun)
                second = hold(WORDS("--pool", pool, "--pool-memory", "64M", "--max-parallel", "9"));

        kit_signal(first, SIGKILL);
        kit_finish(first);
        leftover_check(first, "a run whose launcher is killed");
        ok(kill((pid_t)kit_said_number(second, "pid"), 0) == 0, "the other one lives");
        kit_signal(second, SIGKILL);
        kit_finish(second);
        leftover_check(second, "the last run of a pool, its launcher killed");
        leftover_check_pool(pool, "with launchers killed");
}

/* At whatever point of the start. */
static void test_killed_early(void) {
        g_autofree char *pool = pool_new_name();
        KitOrder order = { .options = WORDS("--pool", pool, "--pool-tasks", "50", "--max-parallel",
                                            "100"),
                           .command = VICTIM("pause") };
        int rounds = kit_rounds(40, 5);

        for (int i = 0; i < rounds; i++) {
                g_autoptr(KitRun) run = kit_start(&order);
                uint64_t until = kit_now() + (uint64_t)i * kit_patience(KIT_MSEC);

                while (kit_now() < until)
                        (void)sched_yield();
                kit_signal(run, SIGKILL);
                kit_finish(run);
                if (i == rounds - 1)
                        leftover_check(run, "the last of many that were killed early");
        }
        leftover_check_pool(pool, "with launchers killed early");
}

/* How many at a time */

static void test_fail(void) {
        g_autofree char *pool = pool_new_name();
        const char *const *options = WORDS("--pool", pool, "--max-parallel", "1", "--on-full",
                                           "fail");
        KitOrder order = { .options = options, .command = VICTIM("end") };
        Expected expected = refused("capacity", "--max-parallel: pool \"*\" is full, 1 or more");
        g_autoptr(KitRun) holder = hold(options);
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(KitRun) uncounted = kit_run(
                &(KitOrder){ .options = WORDS("--pool", pool), .command = VICTIM("end") });

        expect(run, &expected, "a full pool");
        expect(uncounted, &done, "who does not ask how many there are");
        let_go(holder, "who has the slot");

        g_autoptr(KitRun) again = kit_run(&order);

        expect(again, &done, "when there is room again");
        leftover_check_pool(pool, "after a refusal");
}

static void test_wait(void) {
        g_autofree char *pool = pool_new_name();
        const char *const *options = WORDS("--pool", pool, "--max-parallel", "1", "-v", "--timeout",
                                           "1s");
        KitOrder order = { .options = options, .command = VICTIM("end") };
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--max-parallel", "1"));
        g_autoptr(KitRun) waiter = kit_start(&order);

        ok(kit_wait_words(waiter, "cordon: waiting: pool * is full\n*"), "it says that it waits");
        let_go(holder, "who has the slot");
        kit_finish(waiter);
        ok(waiter->status == 0 && g_str_equal(record_text(waiter, "outcome"), "exited"),
           "then it runs, and its time begins");
        leftover_check(waiter, "who has waited");
        leftover_check_pool(pool, "after a wait");
}

static void test_cancelled(void) {
        g_autofree char *pool = pool_new_name();
        KitOrder order = { .options = WORDS("--pool", pool, "--max-parallel", "1", "-v"),
                           .command = VICTIM("end") };
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--max-parallel", "1"));
        Expected expected = { .outcome = "cancelled",
                              .status = 143,
                              .exit_code = ABSENT,
                              .message = "cancelled by SIGTERM before it was executed",
                              .words = "cordon: waiting: pool * is full\n"
                                       "cordon: cancelled by SIGTERM before it was executed\n" };
        g_autoptr(KitRun) waiter = kit_start(&order);

        ok(kit_wait_words(waiter, "cordon: waiting: *"), "it waits");
        kit_signal(waiter, SIGTERM);
        kit_finish(waiter);
        ok(waiter->status == 143 && g_str_equal(record_text(waiter, "outcome"), "cancelled") &&
                   g_pattern_match_simple(expected.words, waiter->errors->str),
           "a signal ends who waits, with a record");
        let_go(holder, "who has the slot");
        leftover_check_pool(pool, "after one that was cancelled");
}

static bool is_launcher_gone(const void *run) {
        g_autoptr(GArray) pids = leftover_processes(((const KitRun *)run)->id);

        return pids->len == 0;
}

static bool has_slot_open(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);

        for (const char *name; dir && (name = g_dir_read_name(dir));) {
                g_autofree char *file = g_build_filename(path, name, NULL);
                g_autofree char *link = g_file_read_link(file, NULL);

                if (link && strstr(link, "/pools/test-"))
                        return true;
        }
        return false;
}

/* It watches somebody's slot; its caller does not. */
static bool is_waiting(const void *run) {
        g_autoptr(GArray) pids = leftover_processes(((const KitRun *)run)->id);

        for (guint i = 0; i < pids->len; i++)
                if (has_slot_open(g_array_index(pids, pid_t, i)))
                        return true;
        return false;
}

/* The caller is interrupted while its launcher waits: nobody would know of the run. */
static void test_detached(void) {
        g_autofree char *pool = pool_new_name();
        g_autofree char *record = g_build_filename(kit_directory(), "detached", NULL);
        g_autofree char *text = NULL;
        g_autoptr(KitRun) holder = hold(WORDS("--pool", pool, "--max-parallel", "1"));
        KitOrder order = { .options = WORDS("--detach", "--pool", pool, "--max-parallel", "1"),
                           .record = record,
                           .command = VICTIM("pause") };
        g_autoptr(KitRun) waiter = kit_start(&order);

        ok(kit_wait_until(is_waiting, waiter, kit_patience(10 * KIT_SEC)),
           "a detached launcher waits");
        kit_signal(waiter, SIGINT);
        kit_finish(waiter);
        cmp_ok(waiter->status, "==", 130, "the caller of a launcher that waits is interrupted");
        ok(kit_wait_until(is_launcher_gone, waiter, kit_patience(10 * KIT_SEC)),
           "and the launcher with it");
        ok(g_file_get_contents(record, &text, NULL, NULL) && kit_is_record(text) &&
                   strstr(text, "\"cancelled\""),
           "the record says so");
        let_go(holder, "who has the slot");
        (void)unlink(record);
        leftover_check(waiter, "who has waited detached");
        leftover_check_pool(pool, "after a launcher that waited detached");
}

static void test_crash(void) {
        g_autofree char *pool = pool_new_name();
        KitOrder order = { .options = WORDS("--pool", pool, "--max-parallel", "1", "-v"),
                           .command = HOLDING };
        KitRun *holder = hold(order.options);
        int rounds = kit_rounds(20, 3), woken = 0;

        for (int i = 0; i < rounds; i++) {
                KitRun *next = kit_start(&order);

                if (i % 2 == 0)
                        (void)kit_wait_words(next, "cordon: waiting: *");
                kit_signal(holder, SIGKILL);
                woken += kit_wait_line(next, "ready");
                kit_finish(holder);
                kit_run_free(holder);
                holder = next;
        }
        cmp_ok(woken, "==", rounds, "who waits for one that is killed gets its turn");
        kit_signal(holder, SIGKILL);
        kit_finish(holder);
        leftover_check(holder, "the last one, killed");
        kit_run_free(holder);
        leftover_check_pool(pool, "after crashes");
}

/* Each takes one of three places that can be had once; there is a place for whoever is inside. */
static void test_race(void) {
        g_autofree char *pool = pool_new_name();
        g_autofree char *tokens = g_build_filename(kit_directory(), "tokens", NULL);
        static const char script[] =
                "i=0; while [ $i -lt 3 ]; do"
                " if mkdir \"$0/$i\" 2>/dev/null; then rmdir \"$0/$i\"; exit 0; fi;"
                " i=$((i+1)); done; exit 9";
        int count = kit_rounds(LAUNCHES, 8), good = 0;
        g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)kit_run_free);
        KitOrder order = { .options = WORDS("--pool", pool, "--max-parallel", G_STRINGIFY(PLACES)),
                           .command = WORDS("/bin/sh", "-c", script, tokens) };

        (void)mkdir(tokens, 0777);
        for (int i = 0; i < count; i++)
                g_ptr_array_add(runs, kit_start(&order));
        for (int i = 0; i < count; i++) {
                KitRun *run = g_ptr_array_index(runs, i);

                kit_finish(run);
                good += run->status == 0;
                if (run->status != 0)
                        diag("status %d: %s", run->status, run->errors->str);
        }
        cmp_ok(good, "==", count, "of many that race never more than three are inside");
        (void)rmdir(tokens);
        leftover_check_pool(pool, "after a race");
}

/* Cordon in cordon in cordon, whatever manager each of them has. */
static void test_nested(void) {
        g_autofree char *pool = pool_new_name();
        const char *cordon = kit_cordon(), *self = kit_victim();
        KitOrder two = { .options = WORDS("--pool", pool, "--max-parallel", "2", "--on-full",
                                          "fail"),
                         .command = WORDS(cordon, "run", "--pool", pool, "--max-parallel", "2",
                                          "--on-full", "fail", "--", self, "exit", "7") };
        KitOrder three = { .options = two.options,
                           .command = WORDS(cordon, "run", "--pool", pool, "--max-parallel", "2",
                                            "--on-full", "fail", "--", cordon, "run", "--pool",
                                            pool, "--max-parallel", "2", "--on-full", "fail", "-q",
                                            "--", self, "exit", "7") };
        g_autoptr(KitRun) fits = kit_run(&two);
        g_autoptr(KitRun) full = kit_run(&three);

        cmp_ok(fits->status, "==", 7, "one in another: two slots");
        if (fits->status != 7)
                diag("%s", fits->errors->str);
        cmp_ok(full->status, "==", 125, "a third one inside finds the pool full");
        /* A private manager in a sandbox has groups in hierarchies that go with the outer one alone. */
        ok(leftover_wait(fits, 10 * KIT_SEC) && leftover_wait(full, 10 * KIT_SEC),
           "nothing is left of nesting");
        leftover_check_pool(pool, "after nesting");
}

static void test_usage(void) {
        static const struct {
                const char *options[4];
                const char *code, *message;
        } rows[] = {
                { { "--pool-memory", "64M" }, "usage", "--pool-memory needs --pool: *" },
                { { "--max-parallel", "2" }, "usage", "--max-parallel needs --pool: *" },
                { { "--pool=x", "--on-full=fail" }, "usage", "--on-full needs --max-parallel: *" },
                { { "--pool", "a b" }, "bad-value", "--pool: \"a b\" is not the name of a pool; *" },
                { { "--pool", "" }, "bad-value", "--pool: \"\" is not the name of a pool; *" },
                { { "--pool=x", "--max-parallel=0" },
                  "bad-value",
                  "--max-parallel: \"0\" is not *" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                KitOrder order = { .options = rows[i].options, .command = VICTIM("end") };
                Expected expected = refused(rows[i].code, rows[i].message);
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, rows[i].message);
        }
}

int main(void) {
        kit_init();
        test_record();
        test_usage();
        test_tasks();
        test_memory(NULL);
        test_others();
        test_fail();
        test_wait();
        test_cancelled();
        test_detached();
        test_killed();
        test_at_once();
        test_crash();
        test_race();
        if (!kit_is_brief()) {
                test_memory("1G");
                test_changed();
                test_stranger();
                test_without_file();
                test_reloaded();
                test_killed_early();
                test_nested();
        }
        leftover_check_guard("after pools");
        kit_clear();
        done_testing();
}
