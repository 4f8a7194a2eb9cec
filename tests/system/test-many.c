/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Many runs of one process: 200 of them, 1000 with CORDON_TEST_FULL=1. They all start, they are all known of to their end,
 * whatever happens to the guard or the connection, and none outlives the process. What one costs is bounded. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "build.h"
#include "leftover.h"
#include "manager.h"

#define GONE_USEC  (1 * KIT_SEC)
#define DEAD_EACH  (1 * KIT_MSEC)
#define UNITS_USEC (3 * KIT_SEC)
#define GONE_EACH  (10 * KIT_MSEC) /* a manager takes its time over each of them */
#define RSS_KB_MAX 64
#define FDS_MAX \
        7 /* pidfd, cgroup; where there is version 1: its memory's, the parent's, an eventfd each */
#define SHOWN_MAX  5
#define FDS_OTHERS 64
#define IN_FLIGHT  8
#define MANY       100
#define SAY_EVERY  100

typedef struct {
        char *prefix;
        unsigned count;
        KitRun *run;
} Crowd;

static const char *marked; /* the prefix, for the child */

static void mark(void) {
        (void)setenv(KIT_MARK, marked, 1);
}

static unsigned wanted(void) {
        struct rlimit limit = { 0 };
        unsigned count = g_getenv("CORDON_TEST_FULL") && !kit_is_slow()
                                 ? 1000
                                 : (unsigned)kit_rounds(200, 20);

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
            limit.rlim_max < (rlim_t)count * FDS_MAX + FDS_OTHERS)
                BAIL_OUT("%u runs need more descriptors than may be had", count);
        return count;
}

static void await_running(Crowd *crowd, unsigned until) {
        for (unsigned n = SAY_EVERY; n < until + SAY_EVERY; n += SAY_EVERY) {
                g_autofree char *line = g_strdup_printf("running %u", MIN(n, until));

                if (!kit_wait_line(crowd->run, line))
                        BAIL_OUT("not all of them start: %s", crowd->run->errors->str);
        }
}

/* Those of a test; they sleep, and do not mind what they are told. */
static Crowd begin(const Build *build, const char *name, unsigned count) {
        Crowd crowd = { .prefix = g_strdup_printf("%s_%d", name, (int)getpid()), .count = count };
        g_autofree char *number = g_strdup_printf("%u", count);
        const char *const words[] = { crowd.prefix,
                                      number,
                                      "--grace",
                                      "0",
                                      "--tasks",
                                      "8",
                                      "--memory",
                                      "64M",
                                      "--timeout",
                                      "1h",
                                      kit_is_scope() ? "--scope" : "--service",
                                      "--",
                                      kit_victim(),
                                      "ignore",
                                      "TERM",
                                      "pause",
                                      NULL };
        KitOrder order = { .program = build->cordon, .command = words, .prepare = mark };

        marked = crowd.prefix;
        crowd.run = kit_start(&order);
        return crowd;
}

static void crowd_clear(Crowd *crowd) {
        kit_run_free(crowd->run);
        g_free(crowd->prefix);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Crowd, crowd_clear)

static bool are_dead(const void *what) {
        g_autoptr(GArray) left = leftover_processes(((const Crowd *)what)->prefix);

        return left->len == 0;
}

static GPtrArray *units_of(const Crowd *crowd) {
        g_autofree char *pattern = g_strdup_printf("cordon-%s*", crowd->prefix);

        return manager_units(WORDS(pattern));
}

static bool are_gone(const void *what) {
        g_autoptr(GPtrArray) units = units_of(what);

        return units->len == 0;
}

static void tell_left(const Crowd *crowd) {
        g_autoptr(GPtrArray) units = units_of(crowd);

        diag("%u units are left", units->len);
        for (guint i = 0; i < MIN(units->len, SHOWN_MAX); i++)
                diag("%s", (char *)units->pdata[i]);
}

/* The test's own looks take their time, too: at every process of the machine. */
static void expect_gone(const Crowd *crowd, const char *name) {
        uint64_t since = kit_now(), dead;

        ok(kit_wait_until(are_dead, crowd, kit_patience(GONE_USEC + crowd->count * DEAD_EACH)),
           "%s: all of their processes are gone", name);
        dead = kit_now();
        if (!ok(kit_wait_until(are_gone, crowd,
                               kit_patience(UNITS_USEC + crowd->count * GONE_EACH)),
                "%s: … and all units", name))
                tell_left(crowd);
        note("after %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " ms", (dead - since) / KIT_MSEC,
             (kit_now() - since) / KIT_MSEC);
}

/* Each of them came to the end that it was to have, and all is known of it. */
static void expect_ended(Crowd *crowd, const char *name) {
        g_autofree char *cancelled = g_strdup_printf("cancelled %u", crowd->count);
        g_autofree char *whole = g_strdup_printf("whole %u", crowd->count);

        kit_signal(crowd->run, SIGTERM);
        ok(kit_wait_line(crowd->run, cancelled), "%s: all are ended by us", name);
        ok(kit_wait_line(crowd->run, whole), "%s: … and all is known of each", name);
        kit_finish(crowd->run);
        cmp_ok(crowd->run->status, "==", 0, "%s: … and the process ends well", name);
        is(crowd->run->errors->str, "", "%s: … without complaints", name);
        expect_gone(crowd, name);
}

static void expect_killed(Crowd *crowd, const char *name) {
        kit_signal(crowd->run, SIGKILL);
        expect_gone(crowd, name);
        kit_finish(crowd->run);
}

typedef struct {
        unsigned long rss_kb;
        unsigned fds;
        long cpu_usec;
} Cost;

static Cost cost_of(const Crowd *crowd, const char *word) {
        g_autofree char *text = kit_said(crowd->run, word);
        Cost cost = { 0 };

        if (!text ||
            sscanf(text, "rss %lu fds %u cpu %ld", &cost.rss_kb, &cost.fds, &cost.cpu_usec) != 3)
                BAIL_OUT("it does not say what it costs: %s", crowd->run->output->str);
        return cost;
}

static void test_all(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "all", count);
        Cost base, running, end, begun;
        unsigned long rss_kb;
        unsigned fds;

        await_running(&crowd, count);
        kit_signal(crowd.run, SIGUSR1);
        ok(kit_wait_line(crowd.run, "told"), "%u run at once", count);
        base = cost_of(&crowd, "base");
        running = cost_of(&crowd, "cost");
        rss_kb = (running.rss_kb - MIN(base.rss_kb, running.rss_kb)) / count;
        fds = (running.fds - base.fds) / count;
        note("each: %lu KB, %u descriptors, %ld us CPU to start", rss_kb, fds,
             (running.cpu_usec - base.cpu_usec) / (long)count);
        cmp_ok(fds, "<=", FDS_MAX, "each has %u descriptors open", fds);
        skip(kit_is_sanitized() || count < MANY, 1,
             "n/a: sanitizers remember what was freed, and of few runs what they share is most");
        cmp_ok(rss_kb, "<=", RSS_KB_MAX, "each takes %lu KB of ours", rss_kb);
        end_skip;
        expect_ended(&crowd, "SIGTERM");
        begun = cost_of(&crowd, "begin");
        end = cost_of(&crowd, "end");
        cmp_ok(end.fds, "==", begun.fds, "no descriptor is left open");
        note("each: %ld us CPU to end", (end.cpu_usec - running.cpu_usec) / (long)count);
}

static void test_killed(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "killed", count);

        await_running(&crowd, count);
        expect_killed(&crowd, "SIGKILL");
}

/* In the midst of the starts. */
static void test_killed_early(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "early", count);

        await_running(&crowd, MIN(count, SAY_EVERY));
        expect_killed(&crowd, "SIGKILL while they start");
}

static pid_t guard_pid(void) {
        g_autofree char *pattern = g_strdup_printf("cordon-guard-*-%u.service",
                                                   (unsigned)geteuid());
        g_autoptr(GPtrArray) units = manager_units(WORDS(pattern));

        return units->len == 1 ? manager_main_pid(g_ptr_array_index(units, 0)) : 0;
}

static bool is_another_guard(const void *before) {
        pid_t now = guard_pid();

        return now > 0 && now != *(const pid_t *)before;
}

static void kill_guard(const char *name) {
        pid_t guard = guard_pid();

        ok(guard > 0 && kill(guard, SIGKILL) == 0 &&
                   kit_wait_until(is_another_guard, &guard, kit_patience(10 * KIT_SEC)),
           "%s: the guard is killed, and another takes over", name);
}

static void test_guard_killed(const Build *build, unsigned count) {
        g_auto(Crowd) unharmed = begin(build, "unharmed", count), doomed = { 0 };

        await_running(&unharmed, MIN(count, SAY_EVERY));
        kill_guard("while they start");
        await_running(&unharmed, count);
        kill_guard("while they run");
        expect_ended(&unharmed, "after two guards were killed");

        doomed = begin(build, "doomed", count);
        await_running(&doomed, count);
        kill_guard("before the process");
        expect_killed(&doomed, "SIGKILL after the guard was killed");
}

/* The manager is there, and closes its end or lost it. What is just being started may be refused; here nothing is. */
static void test_disconnected(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "broken", count);

        await_running(&crowd, count);
        kit_signal(crowd.run, SIGUSR2);
        ok(kit_wait_line(crowd.run, "back"), "a connection that broke is made anew");
        expect_ended(&crowd, "after the connection broke");
}

/* What was just being started may be refused, as nobody knows what came of it; what comes later waits. */
static void test_disconnected_early(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "cut", count);
        int64_t refused, cancelled;

        await_running(&crowd, MIN(count, SAY_EVERY));
        kit_signal(crowd.run, SIGUSR2);
        ok(kit_wait_line(crowd.run, "settled"), "a connection that breaks while they start");
        kit_signal(crowd.run, SIGTERM);
        kit_finish(crowd.run);
        refused = MAX(kit_said_number(crowd.run, "refused"), 0);
        cancelled = kit_said_number(crowd.run, "cancelled");
        cmp_ok(refused, "<=", IN_FLIGHT, "… has no more refused than were in flight");
        cmp_ok(refused + cancelled, "==", count, "… and all others run");
        cmp_ok(kit_said_number(crowd.run, "whole"), "==", cancelled, "… to their end");
        expect_gone(&crowd, "after the connection broke early");
}

static void test_reexecuted(const Build *build, unsigned count) {
        const char *reason = manager_cannot_reexecute();

        skip(reason, 8, "%s", reason);
        g_auto(Crowd) crowd = begin(build, "again", count);

        await_running(&crowd, count);
        ok(manager_reexecute(), "the manager re-executes itself");
        ok(kit_wait_line(crowd.run, "back"), "… and is found again");
        expect_ended(&crowd, "after the manager re-executed itself");
        end_skip;
}

static void test_reloaded(const Build *build, unsigned count) {
        g_auto(Crowd) crowd = begin(build, "reloaded", count);

        await_running(&crowd, count);
        ok(manager_reload(), "the manager reloads");
        expect_ended(&crowd, "after the manager reloaded");
}

int main(void) {
        unsigned count, few;

        kit_init();
        count = wanted();
        few = MIN(count, 120);

        g_autofree char *program = kit_program("cordon-many");
        Build build = build_new("many", program);

        test_all(&build, count);
        test_killed(&build, count);
        test_killed_early(&build, few);
        test_guard_killed(&build, few);
        test_disconnected(&build, few);
        test_disconnected_early(&build, few);
        test_reexecuted(&build, few);
        test_reloaded(&build, few);
        leftover_check_guard("after all of them");
        build_clear(&build);
        kit_clear();
        done_testing();
}
