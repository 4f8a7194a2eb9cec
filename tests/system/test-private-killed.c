/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is left when everybody who could clear up was killed at once: by a manager of another key (another UTS namespace
 * makes one) it is swept, and nothing of a living one is touched; and a program ends with its keeper and its launcher.
 *
 *         test-private-killed [KEEPER]      default: cordon-keeper beside $CORDON */

#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traces.h"
#include "use.h"

#include <tap.h>

/* As promised; emulated machines are 20 to 80 times slower. */
static int promised_msec(void) {
        return g_strcmp0(g_getenv("CORDON_TEST_SLOW"), "1") == 0 ? TRACES_END_MSEC : 1000;
}

typedef struct {
        pid_t pid; /* lives until killed; holds the manager */
        char *dir;
} Elsewhere;

/* A user of a manager with another key. */
static Elsewhere elsewhere_begin(const char *keeper) {
        Elsewhere elsewhere = { 0 };
        char path[4096] = "";
        int pair[2];

        if (pipe2(pair, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        elsewhere.pid = fork();
        if (elsewhere.pid == 0) {
                Use use = { .hold_fd = -1 };

                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (unshare(CLONE_NEWUTS) >= 0)
                        use = use_begin(keeper, FOREVER_USEC);
                if (use.dir)
                        (void)!write(pair[1], use.dir, strlen(use.dir));
                (void)close(pair[1]);
                for (;;)
                        (void)pause();
        }
        (void)close(pair[1]);
        (void)!read(pair[0], path, sizeof(path) - 1);
        (void)close(pair[0]);
        elsewhere.dir = g_strdup(path);
        return elsewhere;
}

static void elsewhere_end(Elsewhere *elsewhere) {
        (void)kill(elsewhere->pid, SIGKILL);
        (void)waitpid(elsewhere->pid, NULL, 0);
        g_free(elsewhere->dir);
}

/* A keeper that is stopped cannot see its children die before it is killed itself. */
static void kill_keeping(const char *dir) {
        pid_t keeper = keeper_of(dir);
        int processes[] = { process_open(undertaker_of(dir)), process_open(manager_of(dir)),
                            process_open(keeper) };

        (void)kill(keeper, SIGSTOP);
        for (size_t i = 0; i < G_N_ELEMENTS(processes); i++) {
                (void)process_kill(processes[i]);
                (void)process_ends(processes[i]);
        }
}

static void test_living(const char *keeper) {
        Elsewhere first = elsewhere_begin(keeper);
        pid_t manager = manager_of(first.dir), undertaker = undertaker_of(first.dir);
        int process = process_open(keeper_of(first.dir));
        Use second = use_begin(keeper, FOREVER_USEC);

        ok(manager > 0 && undertaker > 0, "a manager runs elsewhere");
        ok(second.dir && g_strcmp0(first.dir, second.dir) != 0, "ours is another one");
        use_leave(&second);
        cmp_ok(manager_of(first.dir), "==", manager, "it outlives the start and the end of ours");
        cmp_ok(undertaker_of(first.dir), "==", undertaker, "with its undertaker");
        (void)kill(keeper_of(first.dir), SIGTERM);
        ok(process_ends(process), "and ends when it is told to");
        elsewhere_end(&first);
}

static void test_dead(const char *keeper, const char *mounts, bool is_found_at_start) {
        const char *when = is_found_at_start ? "start" : "end";
        Use second = { .hold_fd = -1 };
        Elsewhere first;
        int left;

        if (!is_found_at_start)
                second = use_begin(keeper, FOREVER_USEC);
        first = elsewhere_begin(keeper);
        left = process_left_behind(first.dir);
        kill_keeping(first.dir);
        ok(g_file_test(first.dir, G_FILE_TEST_IS_DIR), "what was killed elsewhere leaves traces");

        if (is_found_at_start) {
                second = use_begin(keeper, FOREVER_USEC);
                ok(directory_goes(first.dir), "until the %s of another", when);
        }
        use_leave(&second);
        ok(process_ends(left), "the %s of another ends its processes", when);
        nothing_is_left(first.dir, mounts, when);
        elsewhere_end(&first);
        while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
}

static pid_t parent_of(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid);
        g_autofree char *text = NULL;
        const char *rest;
        int parent = 0;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        rest = strrchr(text, ')');
        return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* A program that does not want to end, under a launcher that grants it an hour. Returns its pid. */
static pid_t stubborn_begin(const char *cordon, GPid *ret_launcher) {
        const char *command[] = {
                cordon,    "run", "--private",
                "--grace", "1h",  "--",
                "sh",      "-c",  "trap '' TERM; echo $$; while :; do sleep 3600; done",
                NULL,
        };
        char text[32] = "";
        int out = -1;

        if (!g_spawn_async_with_pipes(NULL, (char **)command, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                      NULL, ret_launcher, NULL, &out, NULL, NULL) ||
            read(out, text, sizeof(text) - 1) <= 0)
                BAIL_OUT("no program under cordon");
        (void)close(out);
        return (pid_t)g_ascii_strtoll(text, NULL, 10);
}

static void test_program_ends(const char *keeper, const char *cordon, const char *mounts) {
        GPid launcher = 0;
        pid_t program = stubborn_begin(cordon, &launcher);
        pid_t keeper_pid = parent_of(parent_of(program));
        Use use = use_begin(keeper, FOREVER_USEC);
        g_autofree char *dir = g_strdup(use.dir);
        struct pollfd wait = { .fd = process_open(program), .events = POLLIN };
        int undertaker = process_open(undertaker_of(dir));

        cmp_ok(keeper_pid, "==", keeper_of(dir), "a program that ignores SIGTERM runs");
        (void)kill(keeper_pid, SIGKILL);
        (void)kill(launcher, SIGKILL);
        cmp_ok(poll(&wait, 1, promised_msec()), "==", 1,
               "it ends with its keeper and its launcher, whatever its grace");
        (void)close(wait.fd);
        ok(process_ends(undertaker), "and the undertaker when all is done");
        (void)waitpid(launcher, NULL, 0);
        use_end(&use);
        nothing_is_left(dir, mounts, "after keeper and launcher were killed");
}

int main(int argc, char *argv[]) {
        g_autofree char *keeper = keeper_path(argc, argv), *cordon = cordon_path();
        g_autofree char *mounts = NULL;

        if (g_strcmp0(g_getenv("CORDON_MANAGER"), "private") != 0)
                plan(SKIP_ALL, "n/a: about the private manager");
        if (!use_apart())
                plan(SKIP_ALL, "needs root: a key of its own is a namespace of its own");
        (void)g_unsetenv("CORDON_PRIVATE_IDLE");
        mounts = mounts_now();

        plan(NO_PLAN);
        test_living(keeper);
        test_dead(keeper, mounts, true);
        test_dead(keeper, mounts, false);
        test_program_ends(keeper, cordon, mounts);
        done_testing();
}
