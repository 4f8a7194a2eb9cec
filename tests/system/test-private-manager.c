/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The private manager: found, shared, gone, and afresh after every kind of violence. It runs in a UTS namespace of its
 * own, so that its manager is nobody else's (the namespaces are part of the key). Whatever is waited for is waited for
 * as an event; only the moments at which something is killed are times.
 *
 *         test-private-manager [KEEPER]      default: cordon-keeper beside $CORDON */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/manager/error.h"
#include "launcher/manager/private.h"

#include "traces.h"
#include "use.h"

#include <tap.h>

#define NOBODY 65534

/* Emulated machines are 20 to 80 times slower. */
static int rounds(int many) {
        return g_strcmp0(g_getenv("CORDON_TEST_SLOW"), "1") == 0 ? many / 10 : many;
}

static void test_first_and_second(const char *keeper, const char *mounts) {
        Use first = use_begin(keeper, FOREVER_USEC);
        Use second = use_begin(keeper, FOREVER_USEC);
        g_autofree char *dir = g_strdup(first.dir);
        struct stat st = { 0 };
        pid_t manager;

        ok(first.dir && second.dir, "two runs get a manager");
        if (!first.dir)
                BAIL_OUT("no private manager, nothing to test");
        is(second.dir, first.dir, "the second run shares that of the first");
        manager = manager_of(dir);
        ok(manager > 0, "it listens on its socket");
        ok(stat(dir, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == 0700,
           "its directory is ours alone");
        ok((fcntl(first.hold_fd, F_GETFD) & FD_CLOEXEC) != 0, "the connection is close-on-exec");
        cmp_ok(manager_of(dir), "==", manager, "it is one manager");

        use_end(&second);
        use_leave(&first);
        nothing_is_left(dir, mounts, "after a keeper was told to leave");
}

static void test_idle(const char *keeper, const char *mounts) {
        Use use = use_begin(keeper, 1);
        g_autofree char *dir = g_strdup(use.dir);
        int process = process_open(keeper_of(dir));
        struct pollfd wait = { .fd = process, .events = POLLIN };

        cmp_ok(poll(&wait, 1, 300), "==", 0, "a manager that is used does not leave for idleness");
        use_end(&use);
        ok(process_ends(process), "one that is not used leaves");
        nothing_is_left(dir, mounts, "after idleness");
}

static void test_idle_race(const char *keeper, const char *mounts) {
        g_autofree char *dir = NULL;
        int bad = 0, process;

        for (int i = 0; i < rounds(100); i++) {
                Use use = use_begin(keeper, 1);

                if (!use.dir || manager_of(use.dir) == 0)
                        bad++;
                if (use.dir) {
                        g_free(dir);
                        dir = g_strdup(use.dir);
                }
                use_end(&use);
        }
        cmp_ok(bad, "==", 0, "%d runs, each while the last keeper is leaving, get a live manager",
               rounds(100));
        process = process_open(keeper_of(dir));
        ok(process_ends(process), "and the last leaves");
        nothing_is_left(dir, mounts, "after leaving in a hurry");
}

/* One process of many that come at once: writes its keeper's pid. */
static void crowd_member(const char *keeper, int start_fd, int result_fd, int stay_fd) {
        char byte;
        Use use;
        pid_t pid;

        (void)!read(start_fd, &byte, 1);
        use = use_begin(keeper, FOREVER_USEC);
        pid = use.dir ? keeper_of(use.dir) : -1;
        (void)!write(result_fd, &pid, sizeof(pid));
        (void)!read(stay_fd, &byte, 1);
        _exit(0);
}

static void test_crowd(const char *keeper, const char *mounts) {
        int wrong = 0, failed = 0;
        g_autofree char *dir = NULL;

        for (int round = 0; round < rounds(20); round++) {
                int start[2], result[2], stay[2];
                pid_t first = 0;

                if (pipe2(start, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0 ||
                    pipe2(stay, O_CLOEXEC) < 0)
                        BAIL_OUT("no pipes");
                for (int i = 0; i < 8; i++)
                        if (fork() == 0) {
                                (void)close(start[1]);
                                (void)close(stay[1]);
                                crowd_member(keeper, start[0], result[1], stay[0]);
                        }
                (void)close(start[1]);
                (void)close(result[1]);
                for (int i = 0; i < 8; i++) {
                        pid_t pid = -1;

                        if (read(result[0], &pid, sizeof(pid)) != sizeof(pid) || pid <= 0)
                                failed++;
                        first = first ?: pid;
                        wrong += pid != first;
                }

                Use use = use_begin(keeper, FOREVER_USEC);

                {
                        g_free(dir);
                        dir = g_strdup(use.dir);
                }
                if (keeper_of(use.dir) != first)
                        wrong++;
                int process = process_open(first);

                (void)kill(first, SIGTERM);
                (void)process_ends(process);
                use_end(&use);
                (void)close(stay[1]);
                for (int i = 0; i < 8; i++)
                        (void)wait(NULL);
                (void)close(start[0]);
                (void)close(result[0]);
                (void)close(stay[0]);
        }
        cmp_ok(failed, "==", 0, "%d times 8 first runs at once: each gets a manager", rounds(20));
        cmp_ok(wrong, "==", 0, "and it is the same one");
        nothing_is_left(dir, mounts, "after the crowds");
}

typedef enum {
        KILL_MANAGER,
        KILL_KEEPER,
        KILL_BOTH,
        KILL_ALL,
} Victim;

static void test_killed(const char *keeper, const char *mounts, Victim victim, const char *words) {
        Use use = use_begin(keeper, FOREVER_USEC), next;
        g_autofree char *dir = g_strdup(use.dir);
        pid_t keeper_pid = keeper_of(dir), manager_pid = manager_of(dir);
        int keeper_fd = process_open(keeper_pid), manager_fd = process_open(manager_pid);
        int undertaker_fd = process_open(undertaker_of(dir)), left_fd = process_left_behind(dir);

        /* A keeper that is stopped cannot see its children die before it is killed itself. */
        if (victim != KILL_MANAGER)
                (void)kill(keeper_pid, victim == KILL_KEEPER ? SIGKILL : SIGSTOP);
        if (victim == KILL_ALL)
                (void)process_kill(undertaker_fd);
        if (victim != KILL_KEEPER)
                (void)kill(manager_pid, SIGKILL);
        if (victim == KILL_BOTH || victim == KILL_ALL)
                (void)kill(keeper_pid, SIGKILL);

        ok(hold_ends(use.hold_fd), "%s: the launcher sees it", words);
        ok(process_ends(keeper_fd), "%s: the keeper ends", words);
        ok(process_ends(manager_fd), "%s: the manager ends", words);
        ok(process_ends(undertaker_fd), "%s: the undertaker ends", words);
        use_end(&use);
        if (victim != KILL_ALL)
                nothing_is_left(dir, mounts, words);

        next = use_begin(keeper, FOREVER_USEC);
        is(next.dir, dir, "%s: the next run starts afresh in the same place", words);
        ok(manager_of(next.dir) > 0, "%s: and its manager answers", words);
        ok(process_ends(left_fd), "%s: what the old one had running is ended", words);
        use_leave(&next);
        nothing_is_left(dir, mounts, words);
        while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
}

/* A keeper, or a manager, is killed at some moment of the start. */
static void test_killed_while_starting(const char *keeper, const char *mounts) {
        Use use = use_begin(keeper, FOREVER_USEC);
        g_autofree char *dir = g_strdup(use.dir);
        guint32 moment = 1;
        int bad = 0;

        use_leave(&use);
        for (int i = 0; i < rounds(60); i++) {
                pid_t child = fork();
                int child_fd, victim_fd;
                pid_t victim;

                if (child == 0) {
                        PrivateSettings settings = { .keeper_path = keeper,
                                                     .idle_usec = FOREVER_USEC };
                        Use other = { .hold_fd = -1 };

                        (void)!private_manager_ensure(&settings, &other.dir, &other.hold_fd,
                                                      &other.error);
                        _exit(0);
                }

                child_fd = process_open(child);
                moment = moment * 1103515245 + 12345;
                (void)poll(NULL, 0, (int)(moment >> 16) % 60);
                victim = i % 2 ? keeper_of(dir) : 0;
                if (i % 2 == 0) {
                        g_autoptr(GArray) children = children_of(keeper_of(dir));

                        if (children->len > 0)
                                victim = g_array_index(children, pid_t, 0);
                }
                victim_fd = process_open(victim);
                if (victim > 0)
                        (void)kill(victim, SIGKILL);
                (void)process_ends(victim_fd);
                if (!process_ends(child_fd))
                        bad++;
                (void)waitpid(child, NULL, 0);

                use = use_begin(keeper, FOREVER_USEC);
                if (!use.dir || manager_of(use.dir) == 0)
                        bad++;
                if (use.dir) {
                        pid_t pid = keeper_of(use.dir);
                        int process = process_open(pid);

                        (void)kill(pid, SIGTERM);
                        (void)process_ends(process);
                }
                use_end(&use);
        }
        cmp_ok(bad, "==", 0, "%d starts in which somebody is killed: the next run gets a manager",
               rounds(60));
        nothing_is_left(dir, mounts, "after kills while starting");
}

static bool run(const char *const *command) {
        int status = -1;

        return g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                            NULL, &status, NULL) &&
               status == 0;
}

static void test_directory_removed(const char *keeper, const char *mounts) {
        Use use = use_begin(keeper, FOREVER_USEC), next;
        g_autofree char *dir = g_strdup(use.dir);
        g_autofree char *away = g_strdup_printf("%s.away", dir);
        int old = process_open(keeper_of(dir));

        ok(g_rename(dir, away) == 0, "somebody takes the directory away");
        next = use_begin(keeper, FOREVER_USEC);
        is(next.dir, dir, "the next run has a manager in the same place");
        ok(manager_of(next.dir) > 0, "and it answers");
        ok(process_ends(old), "the old keeper sees that its directory has gone, and goes");
        ok(manager_of(next.dir) > 0, "and leaves the new one alone");
        use_end(&use);

        const char *readable[] = { "chmod", "-R", "u+rwx", away, NULL };
        const char *removed[] = { "rm", "-rf", away, NULL };

        ok(run(readable) && run(removed), "(the test clears up what it took away)");
        use_leave(&next);
        nothing_is_left(dir, mounts, "after a directory was taken away");
}

/* Names only; one a line. */
static char *environment_names(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/environ", (int)pid);
        g_autofree char *text = NULL;
        GString *names = g_string_new(NULL);
        gsize size = 0;

        (void)g_file_get_contents(path, &text, &size, NULL);
        for (const char *at = text; at && at < text + size; at += strlen(at) + 1)
                g_string_append_printf(names, "%.*s ", (int)strcspn(at, "="), at);
        return g_string_free(names, FALSE);
}

static void test_nothing_of_the_starter(const char *keeper, const char *mounts) {
        g_autofree char *dir = NULL, *names = NULL, *own = NULL, *cwd = NULL, *limits = NULL;
        g_autofree char *cwd_path = NULL, *limits_path = NULL;
        struct rlimit few;
        pid_t child, keeper_pid;
        Use use;

        (void)g_setenv("CORDON_TEST_SECRET", "token", TRUE);
        child = fork();
        if (child == 0) {
                (void)chdir("/tmp");
                (void)umask(0);
                /* A normal user cannot take it back, and gets a manager for each value. */
                if (geteuid() == 0)
                        (void)nice(7);
                (void)getrlimit(RLIMIT_NOFILE, &few);
                few.rlim_cur = 77;
                (void)setrlimit(RLIMIT_NOFILE, &few);
                use = use_begin(keeper, FOREVER_USEC);
                _exit(use.dir ? 0 : 1);
        }
        (void)waitpid(child, NULL, 0);
        g_unsetenv("CORDON_TEST_SECRET");

        use = use_begin(keeper, FOREVER_USEC);
        dir = g_strdup(use.dir);
        keeper_pid = keeper_of(dir);
        names = environment_names(manager_of(dir));
        is(names,
           "PATH HOME XDG_RUNTIME_DIR NOTIFY_SOCKET SYSTEMD_UNIT_PATH SYSTEMD_GENERATOR_PATH "
           "SYSTEMD_ENVIRONMENT_GENERATOR_PATH ",
           "the manager's environment is ours to the letter");
        own = environment_names(keeper_pid);
        is(own, "", "the keeper has none");
        cmp_ok(getpriority(PRIO_PROCESS, (id_t)manager_of(dir)), "==", 0,
               "the starter's nice value is not inherited");

        cwd_path = g_strdup_printf("/proc/%d/cwd", (int)keeper_pid);
        cwd = g_file_read_link(cwd_path, NULL);
        is(cwd, "/", "nor its working directory");
        limits_path = g_strdup_printf("/proc/%d/limits", (int)keeper_pid);
        (void)g_file_get_contents(limits_path, &limits, NULL, NULL);
        unlike(limits, "Max open files +77 ", "nor its limits");
        use_leave(&use);
        nothing_is_left(dir, mounts, "after that");
}

static void test_other_users(const char *keeper) {
        Use use = use_begin(keeper, FOREVER_USEC);
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
                int mask = 0;

                if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
                        _exit(99);
                if (connect_to(use.dir, "keeper", SOCK_SEQPACKET) >= 0 || errno != EACCES)
                        mask |= 1;
                if (connect_to(use.dir, "systemd/private", SOCK_STREAM) >= 0 || errno != EACCES)
                        mask |= 2;
                if (open(use.dir, O_RDONLY | O_DIRECTORY) >= 0 || errno != EACCES)
                        mask |= 4;
                _exit(mask);
        }
        (void)waitpid(child, &status, 0);
        cmp_ok(status, "==", 0, "another user reaches neither socket nor directory");

        /* Also where he was handed the open directory: then the keeper asks who he is. */
        child = fork();
        if (child == 0) {
                char text[16];
                int fd, here = open(use.dir, O_PATH | O_DIRECTORY);

                if (here < 0 || chmod(use.dir, 0711) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
                        _exit(99);
                fd = connect_to(use.dir, "keeper", SOCK_SEQPACKET);
                _exit(fd < 0 || recv(fd, text, sizeof(text), 0) <= 0 ? 0 : 1);
        }
        (void)waitpid(child, &status, 0);
        (void)chmod(use.dir, 0700);
        cmp_ok(status, "==", 0, "and would be sent away by the keeper");
        use_leave(&use);
}

/* Returns the directory. */
static char *test_world(const char *keeper) {
        Use use = use_begin(keeper, FOREVER_USEC);
        char *dir;
        g_autofree char *booted = g_strdup_printf("/proc/%d/root/run/systemd/system",
                                                  (int)manager_of(use.dir));

        cmp_ok(g_file_test(booted, G_FILE_TEST_EXISTS),
               "==", g_file_test("/run/systemd/system", G_FILE_TEST_EXISTS),
               "programs see no booted system where there is none");
        dir = g_strdup(use.dir);
        use_leave(&use);
        return dir;
}

static void test_errors(const char *dir, const char *mounts) {
        Use use = use_begin("/nowhere/cordon-keeper", FOREVER_USEC);

        ok(!use.dir, "without its keeper there is no manager");
        ok(g_error_matches(use.error, MANAGER_ERROR, MANAGER_ERROR_KEEPER), "the code says so");
        is(use.error ? use.error->message : NULL,
           "cannot run /nowhere/cordon-keeper: No such file or directory: is cordon installed "
           "completely?",
           "and the message says what would help");
        use_end(&use);
        nothing_is_left(dir, mounts, "after a start that failed");
}

/* In a process of its own, which may end with what it did to itself. */
static bool ensures(const PrivateSettings *settings, const struct rlimit *limit, char **ret_words) {
        char text[1024] = "";
        int status = -1, pair[2];
        pid_t child;

        if (pipe2(pair, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        child = fork();
        if (child == 0) {
                Use use = { .hold_fd = -1 };
                bool is_there;

                if (limit)
                        (void)setrlimit(RLIMIT_FSIZE, limit);
                is_there = private_manager_ensure(settings, &use.dir, &use.hold_fd, &use.error);
                if (use.error)
                        (void)!write(pair[1], use.error->message, strlen(use.error->message));
                _exit(is_there ? 0 : 1);
        }
        (void)close(pair[1]);
        (void)!read(pair[0], text, sizeof(text) - 1);
        (void)close(pair[0]);
        (void)waitpid(child, &status, 0);
        *ret_words = g_strdup(text);
        return status == 0;
}

static bool may_raise_limits(void) {
        g_autofree char *status = NULL;
        const char *line;

        (void)g_file_get_contents("/proc/self/status", &status, NULL, NULL);
        line = status ? strstr(status, "\nCapEff:\t") : NULL;
        return line && (g_ascii_strtoull(line + strlen("\nCapEff:\t"), NULL, 16) >> 24 & 1);
}

static void test_small_limits(const char *keeper, const char *dir, const char *mounts) {
        PrivateSettings settings = { .keeper_path = keeper, .idle_usec = 1 };
        struct rlimit soft = { .rlim_cur = 1, .rlim_max = RLIM_INFINITY }, hard = { 512, 512 };
        g_autofree char *soft_words = NULL, *hard_words = NULL;
        bool is_there;
        int process;

        ok(ensures(&settings, &soft, &soft_words), "a caller's soft limit is not the manager's");
        process = process_open(keeper_of(dir));
        is(soft_words, "", "and nothing is said");
        is_there = ensures(&settings, &hard, &hard_words);
        is(hard_words,
           may_raise_limits() ? ""
                              : "the private manager cannot live under the caller's hard limit of "
                                "file size (ulimit -f 0): it needs at least 64",
           "a hard limit that cannot be raised is named");
        cmp_ok(is_there, "==", may_raise_limits(), "and then there is no manager");
        (void)process_ends(process);
        process = process_open(keeper_of(dir));
        (void)process_ends(process);
        nothing_is_left(dir, mounts, "after small limits");
}

/* Somebody who was stopped while he was starting a manager. */
static void test_stopped_starter(const char *keeper, const char *dir) {
        PrivateSettings settings = { .keeper_path = keeper, .idle_usec = 1, .patience_usec = 1 };
        g_autofree char *base = g_path_get_dirname(dir), *words = NULL, *expected = NULL;
        int fd;

        (void)mkdir(base, 0700);
        (void)mkdir(dir, 0700);
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ok(fd >= 0 && flock(fd, LOCK_EX) >= 0, "somebody starts a manager and does not get on");
        expected = g_strdup_printf(
                "process %d has been starting the private manager for too long: is it stopped? end "
                "it (kill -9 %d), or see who has locked %s",
                (int)getpid(), (int)getpid(), dir);
        ok(!ensures(&settings, NULL, &words), "others do not wait for ever");
        is(words, expected, "and learn whom they waited for");
        (void)rmdir(dir);
        (void)rmdir(base);
        (void)close(fd);
}

int main(int argc, char *argv[]) {
        g_autofree char *keeper = keeper_path(argc, argv);
        g_autofree char *mounts = NULL, *dir = NULL;

        if (g_strcmp0(g_getenv("CORDON_MANAGER"), "private") != 0)
                plan(SKIP_ALL, "n/a: about the private manager");
        if (!use_apart() && !g_getenv("CORDON_TEST_VM"))
                plan(SKIP_ALL, "needs root, or a machine of its own");
        (void)g_unsetenv("CORDON_PRIVATE_IDLE");
        mounts = mounts_now();

        plan(NO_PLAN);
        test_first_and_second(keeper, mounts);
        test_idle(keeper, mounts);
        test_idle_race(keeper, mounts);
        test_crowd(keeper, mounts);
        test_killed(keeper, mounts, KILL_MANAGER, "the manager is killed");
        test_killed(keeper, mounts, KILL_KEEPER, "the keeper is killed");
        test_killed(keeper, mounts, KILL_BOTH, "both are killed");
        test_killed(keeper, mounts, KILL_ALL, "the undertaker is killed, too");
        test_killed_while_starting(keeper, mounts);
        test_directory_removed(keeper, mounts);
        test_nothing_of_the_starter(keeper, mounts);
        skip(geteuid() != 0, 2, "only root can be another user");
        test_other_users(keeper);
        end_skip;
        dir = test_world(keeper);
        test_errors(dir, mounts);
        test_stopped_starter(keeper, dir);
        test_small_limits(keeper, dir, mounts);
        done_testing();
}
