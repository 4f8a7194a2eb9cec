/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nothing outlives cordon, however it ends. What sees to that is the guard, which may end in any way itself. */

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define GONE_USEC (1 * KIT_SEC)
#define AT_A_TIME 5

/* Its name has the number of its protocol and of its user. */
static char *guard_unit(void) {
        g_autofree char *pattern = g_strdup_printf("cordon-guard-*-%u.service",
                                                   (unsigned)geteuid());
        g_autoptr(GPtrArray) units = manager_units(WORDS(pattern));

        return g_strdup(units->len == 1 ? g_ptr_array_index(units, 0) : "cordon-guard.service");
}

static pid_t guard_pid(void) {
        g_autofree char *unit = guard_unit();

        return manager_main_pid(unit);
}

/* The unit's process: present, and another one than before. */
static bool is_another_guard(const void *before) {
        pid_t now = guard_pid();

        return now > 0 && now != *(const pid_t *)before;
}

static KitRun *start_pausing(const char *grace) {
        KitOrder order = { .options = WORDS("--grace", grace),
                           .command = VICTIM("ignore", "TERM", "child", "leave", "ignore", "TERM",
                                             "pause", "then", "quit-on", "USR1", "pid", "say",
                                             "ready", "pause") };
        KitRun *run = kit_start(&order);

        if (!kit_wait_line(run, "ready"))
                BAIL_OUT("a plain run does not start");
        return run;
}

static void release(KitRun *run) {
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
}

/* With SIGKILL to cordon the whole run must have gone within a second, whatever it ignores. */
static void test_killed(void) {
        KitRun *run = start_pausing("1h");
        uint64_t killed = kit_now();

        kit_signal(run, SIGKILL);
        kit_finish(run);
        cmp_ok(run->status, "==", 137, "SIGKILL to cordon ends it");
        cmp_ok(run->record_text->len, "==", 0, "without a record");
        ok(leftover_wait(run, GONE_USEC), "SIGKILL to cordon: the run is gone within a second");
        note("after %" G_GUINT64_FORMAT " ms", (kit_now() - killed) / KIT_MSEC);
        kit_run_free(run);
}

static void test_group_killed(void) {
        KitRun *run = start_pausing("1h");

        kit_signal_group(run, SIGKILL);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC),
           "SIGKILL to cordon's process group: the run is gone within a second");
        kit_run_free(run);
}

static void test_crash(void) {
        KitRun *run = start_pausing("1h");

        kit_signal(run, SIGSEGV);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC), "a crash of cordon: the run is gone within a second");
        kit_run_free(run);
}

/* A few at a time, each killed at a moment of its own. */
static int kill_some(const KitOrder *order, uint64_t span, int first, int rounds) {
        KitRun *runs[AT_A_TIME] = { NULL };
        int left = 0;

        for (int i = 0; i < AT_A_TIME && first + i < rounds; i++) {
                runs[i] = kit_start(order);
                (void)kit_wait_process(runs[i]->pidfd,
                                       span * (uint64_t)(first + i) / (uint64_t)rounds);
                kit_signal_group(runs[i], SIGKILL);
                kit_finish(runs[i]);
        }
        for (int i = 0; i < AT_A_TIME && runs[i]; i++) {
                if (!leftover_wait(runs[i], GONE_USEC)) {
                        left++;
                        diag("it was killed in round %d", first + i);
                }
                kit_run_free(runs[i]);
        }
        return left;
}

/* From before the first instruction of cordon until after the last of the program. */
static void test_killed_anywhere(void) {
        KitOrder plain = { .command = VICTIM("end") };
        KitOrder order = { .command = VICTIM("child", "leave", "nap", "30000", "then", "nap",
                                             "5") };
        int rounds = kit_rounds(50, 5), left = 0;
        g_autoptr(KitRun) model = kit_run(&plain);
        uint64_t span = (model->ended_usec - model->started_usec) * 3 / 2 + 10 * KIT_MSEC;

        leftover_check(model, "the model of a run");
        for (int i = 0; i < rounds; i += AT_A_TIME)
                left += kill_some(&order, span, i, rounds);
        cmp_ok(left, "==", 0, "SIGKILL to cordon at %d moments: each run is gone within a second",
               rounds);
}

/* Cordon does not answer, but it lives: a person stopped it, or looks at it with a debugger. */
static void test_stopped(void) {
        Expected expected = { .outcome = "exited",
                              .said = "pid *\nready\n",
                              .message = "exited with 0" };
        KitRun *run = start_pausing("5s");
        int program = pidfd_open((pid_t)kit_said_number(run, "pid"), 0);

        kit_signal(run, SIGSTOP);
        ok(!kit_wait_process(program, 700 * KIT_MSEC), "a stopped cordon is not taken for dead");
        kit_signal(run, SIGCONT);
        (void)close(program);
        release(run);
        expect(run, &expected, "a run whose cordon was stopped for a while");
        kit_run_free(run);
}

static void test_guard_killed(void) {
        Expected expected = { .outcome = "exited",
                              .said = "pid *\nready\n",
                              .message = "exited with 0" };
        KitRun *run = start_pausing("5s");
        pid_t guard = guard_pid();
        int program = pidfd_open((pid_t)kit_said_number(run, "pid"), 0);

        cmp_ok(guard, ">", 0, "a guard runs");
        (void)kill(guard, SIGKILL);
        ok(kit_wait_until(is_another_guard, &guard, kit_patience(GONE_USEC)),
           "SIGKILL of the guard: another one takes over");
        ok(!kit_wait_process(program, 300 * KIT_MSEC), "the run is unharmed");
        (void)close(program);
        release(run);
        expect(run, &expected, "a run whose guard was killed");
        kit_run_free(run);
}

static void test_guard_killed_first(void) {
        KitRun *run = start_pausing("1h");
        pid_t guard = guard_pid();

        (void)kill(guard, SIGKILL);
        (void)kit_wait_until(is_another_guard, &guard, kit_patience(GONE_USEC));
        kit_signal(run, SIGKILL);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC),
           "the second guard ends the run of a cordon that is killed");
        kit_run_free(run);
}

static unsigned count_fds(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        unsigned count = 0;

        while (directory && g_dir_read_name(directory))
                count++;
        return count;
}

/* Whether or not the guard knows what to do with it. */
static void send_along(const char *socket_path, const char *text, int fd) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { .header = { CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS } };
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct iovec part = { .iov_base = (void *)text, .iov_len = strlen(text) };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control };
        int guard = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        char answer;

        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        (void)g_strlcpy(address.sun_path, socket_path, sizeof address.sun_path);
        if (connect(guard, (struct sockaddr *)&address, sizeof address) < 0 ||
            sendmsg(guard, &message, MSG_NOSIGNAL) < 0)
                BAIL_OUT("%s: %s", socket_path, g_strerror(errno));
        (void)shutdown(guard, SHUT_WR);
        (void)recv(guard, &answer, 1, 0); /* it has hung up */
        (void)close(guard);
}

typedef struct {
        pid_t pid;
        unsigned fds;
} Holding;

static bool holds_no_more(const void *data) {
        const Holding *before = data;

        return count_fds(before->pid) <= before->fds;
}

/* Of the socket of its command line. */
static char *socket_of(pid_t guard) {
        g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", (int)guard);
        g_autofree char *words = NULL;
        const char *word;
        gsize size = 0;

        if (!g_file_get_contents(path, &words, &size, NULL))
                return NULL;
        word = words + strlen(words) + 1;
        word += strlen(word) + 1;
        return g_strdup(word);
}

/* A client of the same user that is no launcher of ours. */
static void test_odd_client(void) {
        static const char *const texts[] = { "", "relay", "done", "nonsense", "clear x y z" };
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n" };
        KitRun *run = start_pausing("5s");
        Holding before = { .pid = guard_pid() };
        g_autofree char *path = socket_of(before.pid);

        before.fds = count_fds(before.pid);
        for (int round = 0; round < 3; round++)
                for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                        send_along(path, texts[i], STDIN_FILENO);
        ok(kit_wait_until(holds_no_more, &before, kit_patience(KIT_SEC)),
           "the guard keeps nothing of what odd clients send it");
        cmp_ok(guard_pid(), "==", before.pid, "… and goes on");
        release(run);
        expect(run, &expected, "a run beside odd clients");
        kit_run_free(run);
}

#define MOMENT_USEC (6 * KIT_MSEC)

/* While a start is under way it is not only the guard that is gone, but the way to the manager, too. */
static void test_guard_killed_at_start(void) {
        KitOrder order = { .command = VICTIM("end"), .id = "over-again" };
        KitRun *neighbour = start_pausing("5s");
        int rounds = kit_rounds(12, 3), ended = 0, left = 0;

        for (int i = 0; i < rounds; i++) {
                pid_t guard = guard_pid();
                KitRun *run = kit_start(&order);

                (void)kit_wait_process(run->pidfd, (uint64_t)i * MOMENT_USEC);
                (void)kill(guard, SIGKILL);
                kit_finish(run);
                ended += run->status == 0;
                if (run->status != 0)
                        diag("after %d ms: %s", i * 6, run->errors->str);
                left += !leftover_wait(run, GONE_USEC);
                kit_run_free(run);
                if (!kit_wait_until(is_another_guard, &guard, kit_patience(GONE_USEC)))
                        BAIL_OUT("no guard comes after one that was killed");
        }
        cmp_ok(ended, "==", rounds, "SIGKILL of the guard at %d moments of starts: all succeed",
               rounds);
        cmp_ok(left, "==", 0, "… and leave nothing");
        release(neighbour);
        kit_run_free(neighbour);
}

/* Neither can act any more when the other dies; then it is up to the manager to start the guard again. */
static void test_both_killed(bool guard_first) {
        KitRun *run = start_pausing("1h");
        pid_t guard = guard_pid();

        (void)kill(guard, SIGSTOP);
        kit_signal(run, SIGSTOP);
        if (guard_first)
                (void)kill(guard, SIGKILL);
        kit_signal(run, SIGKILL);
        (void)kill(guard, SIGKILL);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC),
           "SIGKILL of both, %s first: the run is gone within a second",
           guard_first ? "the guard" : "cordon");
        kit_run_free(run);
}

/* As after a power cut: there is nobody left who knows of it but the units themselves. */
static void test_sweep(void) {
        KitOrder next = { .command = VICTIM("end") };
        Expected expected = { .outcome = "exited" };
        g_autofree char *unit = guard_unit();
        KitRun *run = start_pausing("1h");
        pid_t guard = guard_pid();
        int program = pidfd_open((pid_t)kit_said_number(run, "pid"), 0);
        int watcher = pidfd_open(guard, 0);

        kit_signal(run, SIGSTOP);
        ok(manager_stop_unit(unit) && kit_wait_process(watcher, kit_patience(GONE_USEC)),
           "the guard is stopped for good");
        kit_signal(run, SIGKILL);
        kit_finish(run);
        ok(!kit_wait_process(program, 200 * KIT_MSEC), "without both of them the program lives on");
        (void)close(program);
        (void)close(watcher);

        g_autoptr(KitRun) sweeper = kit_run(&next);

        expect(sweeper, &expected, "the next run");
        ok(leftover_wait(run, GONE_USEC), "the next run sweeps what was left");
        kit_run_free(run);
}

/* A run whose launcher lives is not a leftover, though the guard that knew it was stopped. */
/* A setting for guards alone with which no new one can be started. */
static void set_obstacle(bool is_there) {
        g_autofree char *units = manager_unit_dir();
        g_autofree char *directory = g_build_filename(units ?: "/nowhere",
                                                      "cordon-guard-.service.d", NULL);
        g_autofree char *path = g_build_filename(directory, "obstacle.conf", NULL);
        bool is_done = is_there ? g_mkdir_with_parents(directory, 0755) == 0 &&
                                          g_file_set_contents(path, "[Service]\nType=dbus\n", -1,
                                                              NULL)
                                : g_remove(path) == 0 && g_rmdir(directory) == 0;

        if (!is_done || !manager_reload())
                BAIL_OUT("no way to keep guards from starting");
}

static void test_guard_lost(void) {
        g_autofree char *unit = NULL;
        KitOrder order = { .options = WORDS("-v"),
                           .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        unit = guard_unit();
        set_obstacle(true);
        ok(manager_stop_unit(unit), "a guard is stopped, and no other can be started");
        ok(kit_wait_words(run, "*cordon: guard lost: no guard could be had, which would end *"),
           "which is told with -v when it happens");
        set_obstacle(false);
        release(run);
        is(record_text(run, "outcome"), "exited", "the run goes on to its end");
        ok(record_has_evidence(run, "guard lost in mid-run: no guard could be had, *"),
           "and the record has it");
        leftover_check(run, "a run that lost its guard");
}

/* Whoever has lost it for good tries again from time to time. */
static void test_guard_regained(void) {
        pid_t none = 0;
        g_autofree char *unit = NULL;
        KitOrder order = { .options = WORDS("-v"),
                           .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        unit = guard_unit();
        set_obstacle(true);
        (void)manager_stop_unit(unit);
        (void)kit_wait_words(run, "*cordon: guard lost: *");
        set_obstacle(false);
        ok(kit_wait_until(is_another_guard, &none, kit_patience(10 * KIT_SEC)),
           "a lost guard is looked for again");
        kit_signal(run, SIGKILL);
        kit_finish(run);
        ok(leftover_wait(run, GONE_USEC), "and ends the run when cordon is killed");
}

static void test_guard_stopped(void) {
        Expected expected = { .outcome = "exited",
                              .said = "pid *\nready\n",
                              .message = "exited with 0" };
        g_autofree char *unit = guard_unit();
        KitRun *run = start_pausing("5s");
        pid_t guard = guard_pid();

        ok(manager_stop_unit(unit), "the guard is stopped");
        ok(kit_wait_until(is_another_guard, &guard, kit_patience(GONE_USEC)),
           "the launcher starts another one");
        release(run);
        expect(run, &expected, "a run whose guard was stopped");
        kit_run_free(run);
}

/* A slice that the manager made by itself, because a start overtook the guard's, would stay for ever. Here it loses the
 * file that says otherwise. */
static void test_plain_slice(void) {
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n" };
        KitRun *run = start_pausing("5s");
        g_autoptr(GPtrArray) dirs = manager_transient_dirs();
        int unlinked = 0;

        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *path = g_build_filename(g_ptr_array_index(dirs, i), "cordon.slice",
                                                         NULL);

                unlinked += unlink(path) == 0;
        }
        ok(unlinked > 0 && manager_reload(), "cordon.slice has lost its file");
        release(run);
        expect(run, &expected, "a run in a slice without a file");
        kit_run_free(run);
        leftover_check_guard("after a run in a slice without a file");
}

static unsigned count_guards(void) {
        g_autoptr(GPtrArray) units = manager_units(WORDS("cordon-guard-*.service"));

        return units->len;
}

static void test_together(void) {
        KitOrder order = { .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n" };

        leftover_check_guard("before two first runs");
        for (int round = 0; round < kit_rounds(3, 1); round++) {
                g_autoptr(KitRun) first = kit_start(&order);
                g_autoptr(KitRun) second = kit_start(&order);

                (void)kit_wait_line(first, "ready");
                (void)kit_wait_line(second, "ready");
                cmp_ok(count_guards(), "==", 1, "two first runs at once have one guard");
                release(first);
                release(second);
                expect(first, &expected, "the first of two");
                expect(second, &expected, "the second of two");
                leftover_check_guard("after two runs at once");
        }
}

int main(void) {
        kit_init();
        test_killed();
        test_group_killed();
        test_crash();
        test_killed_anywhere();
        test_stopped();
        test_guard_killed();
        test_guard_killed_first();
        test_guard_killed_at_start();
        test_odd_client();
        test_both_killed(false);
        test_both_killed(true);
        test_sweep();
        test_guard_stopped();
        test_guard_lost();
        test_guard_regained();
        test_plain_slice();
        test_together();
        leftover_check_guard("after all that");
        kit_clear();
        done_testing();
}
