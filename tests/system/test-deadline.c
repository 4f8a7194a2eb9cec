/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Deadlines, of the clock and of CPU time: when they come, what ends then, and that nothing gets around them. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define CPU_BUDGET_USEC 200000
#define TRIES           5

typedef struct {
        const char *name;
        const char *const *options; /* beside --timeout */
        const char *const *command; /* of the victim */
        int exit_code, signal;
        const char *said, *touched;
        int outlived; /* ABSENT: any */
        bool is_extra;
} Case;

#define TERMED .exit_code = ABSENT, .signal = SIGTERM
#define KILLED .exit_code = ABSENT, .signal = SIGKILL

/* clang-format off */
static const Case timeouts[] = {
        { .name = "a program that does nothing about it", .command = WORDS("pause"), TERMED },
        { .name = "a program that handles TERM and exits 0",
          .command = WORDS("quit-on", "TERM", "pause") },
        { .name = "a program that ignores TERM", .options = WORDS("--grace", "200ms"),
          .command = WORDS("ignore", "TERM", "pause"), KILLED, .touched = "timeout grace" },
        { .name = "a program that notes TERM and goes on", .options = WORDS("--grace", "200ms"),
          .command = WORDS("note", "TERM", "pause"), KILLED, .said = "got TERM\n", .touched = "timeout grace",
          .is_extra = true },
        { .name = "grace 0", .options = WORDS("--grace", "0"),
          .command = WORDS("note", "TERM", "pause"), KILLED, .touched = "timeout grace" },
        { .name = "a child that ignores TERM", .options = WORDS("--grace", "10s"),
          .command = WORDS("child", "ignore", "TERM", "pause", "then", "pause"), TERMED, .outlived = 1 },
        { .name = "a stopped program", .command = WORDS("raise", "STOP", "pause"), TERMED },
        { .name = "a stopped program that ignores TERM", .options = WORDS("--grace", "200ms"),
          .command = WORDS("ignore", "TERM", "raise", "STOP", "pause"), KILLED, .touched = "timeout grace",
          .is_extra = true },
        { .name = "a program that forks when it is told to end", .options = WORDS("--grace", "10s"),
          .command = WORDS("breed-on", "TERM", "pause"), .outlived = 1 },
        { .name = "a child in a session of its own", .options = WORDS("--grace", "10s"),
          .command = WORDS("child", "leave", "pause", "then", "pause"), TERMED, .outlived = ABSENT,
          .is_extra = true },
        { .name = "a storm of processes", .options = WORDS("--grace", "200ms"),
          .command = WORDS("storm", "pause"), KILLED, .touched = "timeout grace", .outlived = ABSENT },
};

static const Case budgets[] = {
        { .name = "one process", .command = WORDS("spin"), TERMED },
        { .name = "three processes", .command = WORDS("child", "spin", "then", "child", "spin", "then", "spin"),
          TERMED, .outlived = ABSENT },
        { .name = "three threads", .command = WORDS("thread", "thread", "spin"), TERMED },
        { .name = "children that each use less", .command = WORDS(
                "child", "burn", "90", "then", "reap", "child", "burn", "90", "then", "reap",
                "child", "burn", "90", "then", "reap", "child", "burn", "90", "then", "reap"),
          TERMED, .said = "child 0\n*", .outlived = ABSENT },
        { .name = "a program that handles TERM and exits 0", .command = WORDS("quit-on", "TERM", "spin") },
        { .name = "a program that ignores TERM", .options = WORDS("--grace", "100ms"),
          .command = WORDS("ignore", "TERM", "spin"), KILLED, .touched = "cpu-time grace" },
};
/* clang-format on */

/* Where it is slow the program needs longer until it is ready for its deadline. */
static const char *deadline_text(void) {
        return kit_is_slow() ? "3s" : "300ms";
}

static uint64_t deadline_usec(void) {
        return kit_is_slow() ? 3 * KIT_SEC : 300 * KIT_MSEC;
}

static char **with_limit(const char *option, const char *value, const char *const *more) {
        GPtrArray *options = g_ptr_array_new();

        g_ptr_array_add(options, g_strdup(option));
        g_ptr_array_add(options, g_strdup(value));
        for (; more && *more; more++)
                g_ptr_array_add(options, g_strdup(*more));
        g_ptr_array_add(options, NULL);
        return (char **)g_ptr_array_free(options, FALSE);
}

/* "killed (SIGTERM)", "exited with 0" */
static char *ending(const Case *c) {
        return c->signal ? g_strdup_printf("killed (SIG%s)", sigabbrev_np(c->signal))
                         : g_strdup_printf("exited with %d", c->exit_code);
}

static KitRun *start_case(const Case *c, const char *key, const char *value) {
        g_autofree char *option = g_strdup_printf("--%s", key);
        g_auto(GStrv) command = kit_victim_argv(c->command);
        g_auto(GStrv) options = with_limit(option, value, c->options);
        KitOrder order = { .options = (const char *const *)options,
                           .command = (const char *const *)command };

        return kit_start(&order);
}

/* usage: what the words for people say of it beside the time. */
static void finish_case(KitRun *run, const Case *c, const char *key, const char *value,
                        const char *usage) {
        g_autofree char *end = ending(c), *name = g_strdup_printf("%s: %s", key, c->name);
        g_autofree char *message = g_strdup_printf("%s limit hit: %s [limits: %s=*]", key, end,
                                                   key);
        g_autofree char *words = g_strdup_printf("cordon: %s limit hit: %s after *s%s [%s=%s]\n",
                                                 key, end, usage, key, value);
        Expected expected = { .outcome = key,
                              .status = 124,
                              .exit_code = c->exit_code,
                              .signal = c->signal,
                              .message = message,
                              .words = words,
                              .said = c->said,
                              .touched = c->touched ?: key };

        kit_finish(run);
        expect(run, &expected, name);
        if (c->outlived != ABSENT)
                cmp_ok(record_number(run, "outlived"), "==", c->outlived, "%s: outlived by %d",
                       name, c->outlived);
}

static void finish_timeout(KitRun *run, const Case *c) {
        finish_case(run, c, "timeout", deadline_text(), "");
        cmp_ok(record_number(run, "usage.wall_usec"), ">=", deadline_usec(),
               "timeout: %s: not before its time", c->name);
        kit_run_free(run);
}

/* Some at once, because they mostly wait: natively all, where it is slow two, and the storm alone. */
static void test_timeouts(void) {
        KitRun *runs[G_N_ELEMENTS(timeouts)] = { NULL };
        size_t at_once = kit_is_slow() ? 2 : G_N_ELEMENTS(timeouts);

        for (size_t first = 0; first < G_N_ELEMENTS(timeouts); first += at_once) {
                size_t end = MIN(first + at_once, G_N_ELEMENTS(timeouts));

                for (size_t i = first; i < end; i++)
                        if (!timeouts[i].is_extra || !kit_is_brief())
                                runs[i] = start_case(&timeouts[i], "timeout", deadline_text());
                for (size_t i = first; i < end; i++)
                        if (runs[i])
                                finish_timeout(runs[i], &timeouts[i]);
        }
}

static void test_record(void) {
        g_autofree char *message = g_strdup_printf(
                "timeout limit hit: killed (SIGTERM) [limits: timeout=%" G_GUINT64_FORMAT "]",
                deadline_usec());
        KitOrder order = { .options = WORDS("--timeout", deadline_text(), "--grace", "1m30s"),
                           .command = VICTIM("pause") };
        g_autoptr(KitRun) run = kit_run(&order);

        is(record_text(run, "message"), message, "the message has the limit in microseconds");
        expect_limit(run, "timeout", (int64_t)deadline_usec(), (int64_t)deadline_usec(),
                     "RuntimeMaxUSec");
        expect_limit(run, "grace", 90000000, 90000000, "TimeoutStopUSec");
        ok(record_has_evidence(run, "wall deadline passed * after exec"),
           "the evidence names the deadline");
        leftover_check(run, "a run whose record is looked at");
}

/* The machine may be busy with something else for once; it is not always. */
static void test_precision(void) {
        int64_t best = INT64_MAX;

        skip(kit_is_slow(), 1, "n/a: no bounds of time on an emulated machine");
        for (int i = 0; i < TRIES && best > 20000; i++) {
                KitOrder order = { .options = WORDS("--timeout", "250ms"),
                                   .command = VICTIM("pause") };
                g_autoptr(KitRun) run = kit_run(&order);
                int64_t late = record_number(run, "usage.wall_usec") - 250000;

                if (late >= 0)
                        best = MIN(best, late);
        }
        cmp_ok(best, "<=", 20000, "the deadline is kept within 20 ms");
        note("%" G_GINT64_FORMAT " microseconds late", best);
        end_skip;
}

static void test_in_time(void) {
        KitOrder order = { .options = WORDS("--timeout", "1h", "--cpu-time", "1h"),
                           .command = VICTIM("burn", "20", "exit", "124") };
        Expected expected = {
                .outcome = "exited", .status = 124, .exit_code = 124, .message = "exited with 124"
        };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a program that ends in time, with 124");
}

/* An idle tree spends nothing: here the clock ends it, not the budget. */
static void test_idle(void) {
        KitOrder order = { .options = WORDS("--timeout", deadline_text(), "--cpu-time",
                                            kit_is_slow() ? "1500ms" : "200ms"),
                           .command = VICTIM("child", "pause", "then", "pause") };
        g_autoptr(KitRun) run = kit_run(&order);

        is(record_text(run, "outcome"), "timeout", "an idle tree does not use up its budget");
        ok(!record_is_true(run, "limits.cpu-time.touched"), "and has not touched it");
        leftover_check(run, "an idle tree");
}

static void test_budgets(void) {
        const char *value = "200ms";

        for (size_t i = 0; i < G_N_ELEMENTS(budgets); i++) {
                g_autoptr(KitRun) run = start_case(&budgets[i], "cpu-time", value);
                int64_t used;

                finish_case(run, &budgets[i], "cpu-time", value, ", cpu *s");
                used = record_number(run, "usage.cpu_usec");

                cmp_ok(used, ">=", CPU_BUDGET_USEC, "cpu-time: %s: not before it was used",
                       budgets[i].name);
                skip(kit_is_slow() || strstr(budgets[i].name, "ignores"), 1,
                     "n/a: no bounds of time here");
                cmp_ok(used, "<=", CPU_BUDGET_USEC + 80000, "cpu-time: %s: not much after",
                       budgets[i].name);
                end_skip;
                ok(record_has_evidence(run, "CPU budget spent * after exec") &&
                           record_has_evidence(run, "cpu_usec=*"),
                   "cpu-time: %s: the evidence names the budget and the counter", budgets[i].name);
        }
}

/* Who is frozen cannot handle a signal, only die by it. The freezer is of cgroup v2 on every machine. */
static bool freeze(const KitRun *run) {
        g_autofree char *unit = leftover_unit(run->id, "slice");
        g_autofree char *group = manager_control_group(unit);
        const char *tops[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

        for (size_t i = 0; group && i < G_N_ELEMENTS(tops); i++) {
                g_autofree char *path = g_build_filename(tops[i], group, "cgroup.freeze", NULL);
                int fd = open(path, O_WRONLY | O_CLOEXEC);
                bool is_frozen = fd >= 0 && write(fd, "1", 1) == 1;

                if (fd >= 0)
                        (void)close(fd);
                if (is_frozen)
                        return true;
        }
        return false;
}

static void test_frozen(void) {
        KitOrder order = { .options = WORDS("--timeout", kit_is_slow() ? "10s" : "500ms", "--grace",
                                            "200ms"),
                           .command = VICTIM("quit-on", "TERM", "say", "ready", "pause") };
        Expected expected = { .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .said = "ready\n",
                              .words = "cordon: timeout limit hit: killed (SIGKILL) after *\n",
                              .touched = "timeout grace" };
        g_autoptr(KitRun) run = kit_start(&order);

        ok(kit_wait_line(run, "ready") && freeze(run), "a slice can be frozen from outside");
        kit_finish(run);
        expect(run, &expected, "a frozen program");
}

int main(void) {
        kit_init();
        test_timeouts();
        test_record();
        test_precision();
        test_in_time();
        test_idle();
        test_budgets();
        test_frozen();
        kit_clear();
        done_testing();
}
