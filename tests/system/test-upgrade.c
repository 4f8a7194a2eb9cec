/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two builds of cordon on one machine: one whose guard speaks another protocol, and one that is replaced or removed while
 * its guard and its launchers run. Each guard sees the other's runs when it starts; neither may touch what has a
 * launcher, and what has none any more must go, whoever is there to see to it. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "config.h"
#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define GONE_USEC      (1 * KIT_SEC)
#define OTHER_PROTOCOL 9

static Build other_build(const char *name) {
        g_autofree char *program = kit_program("cordon-other");

        return build_new(name, program);
}

/* Guards and runs */

static char *guard_of(int protocol) {
        return g_strdup_printf("cordon-guard-%d-%u.service", protocol, (unsigned)geteuid());
}

static pid_t guard_pid(int protocol) {
        g_autofree char *unit = guard_of(protocol);

        return manager_main_pid(unit);
}

typedef struct {
        int protocol;
        pid_t before;
} Comeback;

/* Not one that is still on its way there, and may never arrive. */
static bool is_guard(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int)pid);
        g_autofree char *name = NULL;

        return g_file_get_contents(path, &name, NULL, NULL) && g_str_equal(name, "cordon-guard\n");
}

static bool has_come_back(const void *what) {
        const Comeback *comeback = what;
        pid_t now = guard_pid(comeback->protocol);

        return now > 0 && now != comeback->before && is_guard(now);
}

static bool kill_guard(int protocol) {
        Comeback comeback = { .protocol = protocol, .before = guard_pid(protocol) };

        return comeback.before > 0 && kill(comeback.before, SIGKILL) == 0 &&
               kit_wait_until(has_come_back, &comeback, kit_patience(10 * KIT_SEC));
}

static KitRun *start(const Build *build) {
        KitOrder order = { .cordon = build ? build->cordon : NULL,
                           .options = WORDS("--timeout", "10m"),
                           .command = VICTIM("ignore", "TERM", "child", "leave", "ignore", "TERM",
                                             "pause", "then", "quit-on", "USR1", "pid", "say",
                                             "ready", "pause") };
        KitRun *run = kit_start(&order);

        if (!kit_wait_line(run, "ready"))
                BAIL_OUT("a plain run does not start: %s", run->errors->str);
        return run;
}

static void expect_unharmed(KitRun *run, const char *name) {
        Expected expected = { .outcome = "exited",
                              .said = "pid *\nready\n",
                              .message = "exited with 0" };
        pid_t program = (pid_t)kit_said_number(run, "pid");

        ok(!run->ended_usec && program > 0 && kill(program, SIGUSR1) == 0, "%s: it runs", name);
        kit_finish(run);
        expect(run, &expected, name);
}

static void expect_killed(KitRun *run, const char *name) {
        kit_signal(run, SIGKILL);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC), "SIGKILL to %s: its run is gone within a second", name);
}

static unsigned count_guards(void) {
        g_autoptr(GPtrArray) units = manager_units(WORDS("cordon-guard-*.service"));

        return units->len;
}

/* Another protocol */

static int protocol_here(void) {
        g_autofree char *other = guard_of(OTHER_PROTOCOL);
        g_autoptr(GPtrArray) units = manager_units(WORDS("cordon-guard-*.service"));
        int protocol = 0;

        for (guint i = 0; i < units->len; i++)
                if (!g_str_equal(g_ptr_array_index(units, i), other))
                        (void)sscanf(g_ptr_array_index(units, i), "cordon-guard-%d-", &protocol);
        return protocol;
}

/* Whichever comes second finds the other's run when it starts, and again when it is killed. */
static void test_side_by_side(const Build *first, const Build *second, const char *name) {
        KitRun *one = start(first);
        KitRun *two = start(second);
        int protocol = protocol_here();

        cmp_ok(count_guards(), "==", 2, "%s: each has a guard of its own", name);
        ok(kill_guard(OTHER_PROTOCOL), "%s: the other guard is killed and comes again", name);
        ok(kill_guard(protocol), "%s: ours is killed and comes again", name);
        expect_unharmed(one, "the run of the first build");
        expect_unharmed(two, "the run of the second build");
        kit_run_free(one);
        kit_run_free(two);
        leftover_check_guard(name);
}

static void test_launchers_killed(const Build *other) {
        KitRun *ours = start(NULL);
        KitRun *theirs = start(other);
        KitRun *witness = start(NULL);

        expect_killed(theirs, "a cordon of another build");
        expect_killed(ours, "a cordon of this build");
        expect_unharmed(witness, "a run beside those two");
        kit_run_free(ours);
        kit_run_free(theirs);
        kit_run_free(witness);
        leftover_check_guard("after launchers of two builds were killed");
}

static bool is_socket_gone(const void *what) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        bool is_found = false;

        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *path = g_strdup_printf("%s/cordon/guard-%d",
                                                        (char *)g_ptr_array_index(dirs, i),
                                                        *(const int *)what);

                is_found = is_found || g_file_test(path, G_FILE_TEST_EXISTS);
        }
        return !is_found;
}

/* What a build that is gone for good has left is swept by the guard of another. */
static void test_sweep(const Build *left, const Build *next, const char *name) {
        KitOrder plain = { .cordon = next ? next->cordon : NULL, .command = VICTIM("end") };
        Expected expected = { .outcome = "exited" };
        KitRun *run = start(left);
        int protocol = left ? OTHER_PROTOCOL : protocol_here();
        g_autofree char *unit = guard_of(protocol);
        g_autoptr(KitRun) sweeper = NULL;

        kit_signal(run, SIGSTOP); /* it would start another one */
        ok(manager_stop_unit(unit), "%s: its guard is stopped for good", name);
        ok(kit_wait_until(is_socket_gone, &protocol, kit_patience(GONE_USEC)),
           "%s: its guard takes its socket along", name);
        kit_signal(run, SIGKILL);
        kit_finish(run);
        sweeper = kit_run(&plain);
        expect(sweeper, &expected, name);
        ok(leftover_wait(run, GONE_USEC), "%s: it is swept", name);
        kit_run_free(run);
        leftover_check_guard(name);
}

/* Another path */

/* The files are new ones, the processes go on with the old. */
static void test_replaced(void) {
        g_auto(Build) build = build_new("replaced", kit_cordon());
        KitRun *before = start(&build), *after;
        int protocol = protocol_here();
        pid_t guard = guard_pid(protocol);

        build_install(&build, kit_cordon());
        after = start(&build);
        cmp_ok(guard_pid(protocol), "==", guard, "replaced: the guard that was there serves both");
        expect_killed(after, "a cordon that is newer than its guard");
        ok(kill_guard(protocol), "replaced: the guard is killed, a new one takes over");
        after = (kit_run_free(after), start(NULL));
        expect_killed(after, "a cordon of a third place");
        expect_unharmed(before, "a run that was started before");
        kit_run_free(after);
        kit_run_free(before);
        leftover_check_guard("after a replacement");
}

static void test_replaced_killed(void) {
        g_auto(Build) build = build_new("killed", kit_cordon());
        KitRun *run = start(&build);

        build_install(&build, kit_cordon());
        expect_killed(run, "a cordon whose files were replaced");
        kit_run_free(run);
        leftover_check_guard("after a cordon whose files were replaced was killed");
}

/* The manager has nothing to start again; whoever runs from elsewhere has. */
static void test_removed(void) {
        Build build = build_new("removed", kit_cordon());
        KitRun *before = start(&build), *doomed = start(&build), *after;
        int protocol = protocol_here();

        build_clear(&build);
        after = start(NULL);
        ok(kill_guard(protocol), "removed: the guard is killed, one of another place takes over");
        expect_killed(doomed, "a cordon whose files are gone");
        expect_unharmed(before, "a run whose cordon's files are gone");
        expect_unharmed(after, "a run of another place");
        kit_run_free(before);
        kit_run_free(doomed);
        kit_run_free(after);
        leftover_check_guard("after a removal");
}

/* Nobody waits for what is not there. */
static void test_incomplete(void) {
        g_auto(Build) build = build_new("incomplete", kit_cordon());
        g_autofree char *guard = g_build_filename(build.directory, "cordon-guard", NULL);
        bool is_installed = access(CORDON_LIBEXEC_DIR "/cordon-guard", X_OK) >= 0;
        KitOrder order = { .cordon = build.cordon, .command = VICTIM("end") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "guard",
                             .message = "no guard could be had, *cordon-guard: No such file *",
                             .words = "cordon: no guard could be had, *\n" };
        Expected served = { .outcome = "exited" };
        KitRun *run;

        (void)unlink(guard);
        run = kit_run(&order);
        expect(run, is_installed ? &served : &refused, "a build without a guard");
        kit_run_free(run);
        leftover_check_guard("after a build without a guard");
}

static void test_protocols(void) {
        g_auto(Build) other = other_build("other");

        test_side_by_side(NULL, &other, "the other comes second");
        test_side_by_side(&other, NULL, "the other comes first");
        test_launchers_killed(&other);
        test_sweep(NULL, &other, "what this build left");
        test_sweep(&other, NULL, "what the other build left");
}

int main(void) {
        kit_init();
        test_protocols();
        test_replaced();
        test_replaced_killed();
        test_removed();
        test_incomplete();
        kit_clear();
        done_testing();
}
