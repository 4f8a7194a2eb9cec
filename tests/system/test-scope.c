/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is otherwise in a scope: the program is the caller's child. That all else is as in a service is shown by the other
 * tests, which run a second time in scopes. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define SCOPE "--scope"

static const char *mode_suffix(bool is_scope) {
        return is_scope ? "scope" : "service";
}

static const struct {
        const char *const *options;
        bool is_scope;
} modes[] = {
        { WORDS("--scope"), true },
        { WORDS("--service"), false },
        { WORDS("--service", "--scope"), true },
        { WORDS("--scope", "--service"), false },
};

/* In either order the last one counts, as with all options. */
static void test_modes(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
                KitOrder order = { .options = modes[i].options,
                                   .command = VICTIM("cat", "/proc/self/cgroup") };
                g_autoptr(KitRun) run = kit_run(&order);
                g_autofree char *unit = leftover_unit(run->id, mode_suffix(modes[i].is_scope));

                is(record_text(run, "mode"), mode_suffix(modes[i].is_scope), "the record's mode");
                is(record_text(run, "unit"), unit, "and its unit");
                ok(strstr(run->output->str, unit), "the program is in it");
                leftover_check(run, "it is over");
        }
}

static void open_more(void) {
        int fd = open("/dev/zero", O_RDONLY);

        (void)dup2(fd, 40);
        (void)fcntl(40, F_SETFD, 0);
}

static void test_descriptors(void) {
        KitOrder order = { .options = WORDS(SCOPE),
                           .command = WORDS("readlink", "/proc/self/fd/40", "/proc/self/fd/9"),
                           .prepare = open_more };
        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, "/dev/zero\n", "it has the caller's descriptors, but not its record");
        leftover_check(run, "descriptors");
}

static void open_root(void) {
        int fd = open("/", O_RDONLY | O_DIRECTORY);

        (void)dup2(fd, 40);
        (void)fcntl(40, F_SETFD, 0);
}

/* Below an open directory all is as outside, and above it, too. */
static void test_open_directory(void) {
        KitOrder order = { .options = WORDS(SCOPE, "--private-tmp", "-C", "/"),
                           .command = WORDS("true") };
        KitOrder leaky = { .options = order.options,
                           .command = order.command,
                           .prepare = open_root };
        KitOrder reported = { .options = WORDS(SCOPE, "--private-tmp", "-C", "/", "--best-effort"),
                              .command = order.command,
                              .prepare = open_root };
        g_autoptr(KitRun) alone = kit_run(&order);

        skip(alone->status != 0, 5, "n/a: nobody can isolate here");
        {
                g_autoptr(KitRun) refused = kit_run(&leaky);
                g_autoptr(KitRun) run = kit_run(&reported);

                cmp_ok(refused->status, "==", 125, "an open directory leads out: refused");
                is(record_text(refused, "error.message"),
                   "--private-tmp is not in force: PrivateTmp was set, but the program has "
                   "inherited an open directory, which leads past it",
                   "with its reason");
                leftover_check(refused, "open directory");
                cmp_ok(run->status, "==", 0, "--best-effort does with it");
                is(run->errors->str, "cordon: not enforced: --private-tmp\n", "and says so");
        }
        end_skip;
}

/* The gate's environment is nobody's, the caller's is the program's. */
static void test_environment(void) {
        KitOrder order = { .options = WORDS(SCOPE, "-E", "RUNTIME_DIRECTORY=/mine"),
                           .command = WORDS("sh", "-c", "echo \"$RUNTIME_DIRECTORY\"") };
        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, "/mine\n", "a variable that units set is the caller's");
        leftover_check(run, "environment");
}

/* Its parent is cordon, which reaps its orphans, too. */
static void test_orphans(void) {
        KitOrder order = { .options = WORDS(SCOPE),
                           .command = WORDS("sh", "-c",
                                            "for i in 1 2 3; do (sh -c 'echo o $$' & ); done; echo "
                                            "parent $PPID; exec \"$0\" quit-on USR1 say ready "
                                            "pause",
                                            kit_victim()) };
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *children = NULL;
        g_autofree char *path = NULL;
        g_auto(GStrv) pids = NULL;
        pid_t program;

        (void)kit_wait_line(run, "ready");
        cmp_ok(kit_said_number(run, "parent"), "==", run->pid, "it is a child of cordon's");
        path = g_strdup_printf("/proc/%d/task/%d/children", (int)run->pid, (int)run->pid);
        for (uint64_t until = kit_now() + kit_patience(KIT_SEC); kit_now() < until;) {
                g_clear_pointer(&children, g_free);
                (void)g_file_get_contents(path, &children, NULL, NULL);
                g_clear_pointer(&pids, g_strfreev);
                pids = g_strsplit(g_strchomp(children ?: g_strdup("")), " ", -1);
                if (g_strv_length(pids) == 1)
                        break;
        }
        cmp_ok(g_strv_length(pids), "==", 1, "of its orphans none is left unreaped");
        program = (pid_t)g_ascii_strtoll(pids[0] ?: "0", NULL, 10);
        if (program > 0)
                (void)kill(program, SIGUSR1);
        kit_finish(run);
        is(record_text(run, "outcome"), "exited", "it ends when it is told to");
        leftover_check(run, "orphans");
}

static void ignore_children(void) {
        (void)signal(SIGCHLD, SIG_IGN);
}

/* A caller that lets the kernel reap its children gets the status all the same. */
static void test_ignored_children(void) {
        KitOrder order = { .options = WORDS(SCOPE),
                           .command = VICTIM("exit", "6"),
                           .prepare = ignore_children };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 6, "SIGCHLD is ignored by the caller: the status is known");
        leftover_check(run, "ignored children");
}

static bool is_cgroup_gone(const void *path) {
        g_autofree char *groups = NULL;

        return g_file_get_contents(path, &groups, NULL, NULL) && strstr(groups, " (deleted)");
}

static pid_t child_of(const KitRun *run) {
        g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/children", (int)run->pid,
                                                (int)run->pid);
        g_autofree char *children = NULL;

        (void)g_file_get_contents(path, &children, NULL, NULL);
        return children ? (pid_t)g_ascii_strtoll(children, NULL, 10) : -1;
}

/* A debugger has the end first, and its parent, which is cordon, only when it lets go: here not before the manager has
 * forgotten all of it. */
static void test_traced(void) {
        KitOrder order = { .options = WORDS(SCOPE), .command = VICTIM("say", "ready", "pause") };
        g_autoptr(KitRun) run = kit_start(&order);
        pid_t program;
        bool is_traced;

        (void)kit_wait_line(run, "ready");
        program = child_of(run);
        is_traced = program > 0 && ptrace(PTRACE_SEIZE, program, NULL, NULL) == 0;
        if (program > 0)
                (void)kill(program, SIGKILL);
        skip(!is_traced, 4, "n/a: nobody may trace here");
        {
                g_autofree char *groups = g_strdup_printf("/proc/%d/cgroup", (int)program);
                siginfo_t end = { 0 };

                (void)waitid(P_PID, (id_t)program, &end, WEXITED | WNOWAIT | __WALL);
                ok(kit_wait_until(is_cgroup_gone, groups, kit_patience(5 * KIT_SEC)),
                   "a traced program is dead, and its cgroup has gone");
                (void)waitid(P_PID, (id_t)program, &end, WEXITED | __WALL);
                kit_finish(run);
                is(record_text(run, "outcome"), "signaled", "its end is learnt when it is let go");
                cmp_ok(record_number(run, "signal"), "==", SIGKILL, "and is the true one");
                leftover_check(run, "traced");
        }
        end_skip;
}

/* clang-format off */
static const struct {
        const char *const *options;
        const char *message;
} refusals[] = {
        { WORDS(SCOPE, "-p", "Nice=3"), "-p: a scope has no \"Nice\": *; use --service" },
        { WORDS(SCOPE, "-p", "StateDirectory=x"), "-p: a scope has no \"StateDirectory\": *; use --service" },
        { WORDS(SCOPE, "--untrusted"), "--untrusted cannot be had with --scope, *; use --service" },
        { WORDS(SCOPE, "--net", "allow=::1"), "--net allow cannot be had with --scope, *; use --service" },
};
/* clang-format on */

/* A plan of what cannot be would not be one. */
static void test_dry_refusal(const char *const *options, const char *words) {
        g_autoptr(GPtrArray) all = g_ptr_array_new();

        for (; *options; options++)
                g_ptr_array_add(all, (char *)*options);
        g_ptr_array_add(all, (char *)"--dry-run");
        g_ptr_array_add(all, NULL);

        KitOrder order = { .options = (const char *const *)all->pdata,
                           .command = WORDS("true"),
                           .record = "" };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 125, "--dry-run refuses it, too");
        is(run->output->str, "", "and plans nothing");
        is(run->errors->str, words, "in the same words");
}

static void test_refusals(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                KitOrder order = { .options = refusals[i].options, .command = VICTIM("end") };
                g_autoptr(KitRun) run = kit_run(&order);

                cmp_ok(run->status, "==", 125, "what a scope has not is refused");
                ok(g_pattern_match_simple(refusals[i].message, record_text(run, "error.message")),
                   "with its reason");
                leftover_check(run, "refused");
                test_dry_refusal(refusals[i].options, run->errors->str);
        }
}

static void test_privileges(void) {
        KitOrder order = { .options = WORDS(SCOPE, "-p", "NoNewPrivileges=yes"),
                           .command = WORDS("grep", "NoNewPrivs:", "/proc/self/status") };
        KitOrder dry = { .options = WORDS(SCOPE, "-p", "NoNewPrivileges=yes", "--dry-run"),
                         .command = WORDS("true"),
                         .record = "" };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(KitRun) plan = kit_run(&dry);

        is(run->output->str, "NoNewPrivs:\t1\n", "-p NoNewPrivileges: the program does it itself");
        cmp_ok(run->status, "==", 0, "which is all that it takes: %s", run->errors->str);
        ok(strstr(plan->output->str, "# the program makes itself: -p NoNewPrivileges=yes\n"),
           "--dry-run says so");
        ok(!strstr(plan->output->str, "-p 'NoNew"), "and does not ask the manager for it");
}

/* Who counts processes otherwise would take a stranger for the program. */
static void enter_pids(void) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
                _exit(77);

        pid_t child = fork();

        if (child > 0) {
                int status = 0;

                (void)waitpid(child, &status, 0);
                _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("proc", "/proc", "proc", 0, NULL) < 0)
                _exit(77);
}

static void test_other_pids(void) {
        KitOrder order = { .options = WORDS(SCOPE),
                           .command = VICTIM("end"),
                           .prepare = enter_pids };

        skip(geteuid() != 0 || g_str_equal(kit_manager(), "private"), 2,
             "n/a: needs root, and a manager that is not keyed by namespaces");
        {
                g_autoptr(KitRun) run = kit_run(&order);

                cmp_ok(run->status, "==", 125, "a caller in another pid namespace is refused");
                ok(strstr(run->errors->str, "another pid namespace"), "with the reason");
        }
        end_skip;
}

static void test_user(void) {
        KitOrder order = { .options = WORDS(SCOPE, "--uid", "nobody", "-C", "/"),
                           .command = WORDS("sh", "-c", "id -un; echo $USER") };

        skip(geteuid() != 0, 2, "n/a: only root can be another");
        {
                g_autoptr(KitRun) run = kit_run(&order);

                is(run->output->str, "nobody\nnobody\n", "--uid holds");
                leftover_check(run, "another user");
        }
        end_skip;
}

int main(void) {
        kit_init();
        test_modes();
        test_descriptors();
        test_open_directory();
        test_environment();
        test_orphans();
        test_ignored_children();
        test_traced();
        test_refusals();
        test_privileges();
        test_other_pids();
        test_user();
        leftover_check_guard("scopes");
        kit_clear();
        done_testing();
}
