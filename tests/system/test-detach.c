/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* --detach: the caller has an id and is gone, and everything that was promised holds all the same. What is hard is that
 * nobody waits for the run any more: its launcher is found by the mark, its program at the manager, its end in a file. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define GONE_USEC     (1 * KIT_SEC)
#define PATIENCE_USEC (20 * KIT_SEC)
#define INHERITED_FD  100 /* the kit leaves it open */

typedef struct {
        KitRun *run;  /* of the caller */
        char *record; /* the file */
        pid_t launcher, program;
        int launcher_fd, program_fd; /* pidfds */
} Detached;

static unsigned files;

static char *new_file(const char *what) {
        return g_strdup_printf("%s/%s-%u", kit_directory(), what, ++files);
}

static bool is_written(const void *path) {
        struct stat st;

        return stat(path, &st) == 0 && st.st_size > 0;
}

/* Who has the mark and is cordon, but not the caller. */
static pid_t find_launcher(const KitRun *run) {
        g_autoptr(GArray) pids = leftover_processes(run->id);

        for (guint i = 0; i < pids->len; i++) {
                pid_t pid = g_array_index(pids, pid_t, i);
                g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int)pid);
                g_autofree char *name = NULL;

                if (pid != run->pid && g_file_get_contents(path, &name, NULL, NULL) &&
                    g_str_equal(name, "cordon\n"))
                        return pid;
        }
        return 0;
}

/* Its record goes to a file, and a deadline sees to it that it ends should the test not come to that. */
static KitRun *call(const KitOrder *order, const char *record) {
        GPtrArray *options = g_ptr_array_new();
        KitOrder detaching = *order;
        KitRun *run;

        g_ptr_array_add(options, (char *)"--detach");
        g_ptr_array_add(options, (char *)"--timeout=5m");
        for (const char *const *option = order->options; option && *option; option++)
                g_ptr_array_add(options, (char *)*option);
        g_ptr_array_add(options, NULL);
        detaching.options = (const char *const *)options->pdata;
        if (!detaching.record)
                detaching.record = record;
        run = kit_run(&detaching);
        g_ptr_array_unref(options);
        return run;
}

static void find_both(Detached *detached) {
        g_autofree char *service = leftover_program_unit(detached->run->id);

        detached->launcher = find_launcher(detached->run);
        detached->program = manager_main_pid(service);
        detached->launcher_fd = pidfd_open(detached->launcher, 0);
        detached->program_fd = pidfd_open(detached->program, 0);
}

/* A program that pauses and quits on USR1, as far as that: then it has written to a file. */
static Detached detach_pausing(const KitOrder *order) {
        g_autofree char *mark = new_file("mark");
        Detached detached = { .record = new_file("record") };
        KitOrder pausing = *order;

        pausing.command = VICTIM("ignore", "TERM", "quit-on", "USR1", "child", "leave", "ignore",
                                 "TERM", "pause", "then", "write", mark, "1", "pause");
        detached.run = call(&pausing, detached.record);
        if (!kit_wait_until(is_written, mark, kit_patience(PATIENCE_USEC)))
                BAIL_OUT("the program does not run: %s", detached.run->errors->str);
        find_both(&detached);
        return detached;
}

static void take_record(Detached *detached) {
        KitRun *run = detached->run;
        g_autofree char *text = NULL;

        (void)kit_wait_until(is_written, detached->record, kit_patience(PATIENCE_USEC));
        if (!g_file_get_contents(detached->record, &text, NULL, NULL))
                return;
        g_string_assign(run->record_text, text);
        run->record = kit_parse_record(text, NULL);
}

static void detached_clear(Detached *detached) {
        (void)close(detached->launcher_fd);
        (void)close(detached->program_fd);
        kit_run_free(detached->run);
        g_free(detached->record);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Detached, detached_clear)

static bool lives(int pidfd) {
        return pidfd >= 0 && !kit_wait_process(pidfd, 200 * KIT_MSEC);
}

/* As expect(), of what the record says; the caller ended with 0 and said nothing but the id. */
static void expect_detached(Detached *detached, const Expected *record, const char *name) {
        g_autofree char *said = g_strconcat(detached->run->id, "\n", NULL);
        Expected expected = *record;

        expected.said = said;
        take_record(detached);
        expect(detached->run, &expected, name);
}

static void expect_end(Detached *detached, const char *name) {
        Expected expected = { .outcome = "exited", .message = "exited with 0" };

        ok(detached->program > 0 && kill(detached->program, SIGUSR1) == 0, "%s: it is told to end",
           name);
        expect_detached(detached, &expected, name);
}

/* What it has of the caller */

static void check_streams(pid_t pid, const char *who) {
        for (int fd = 0; fd < 3; fd++) {
                g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", (int)pid, fd);
                g_autofree char *target = g_file_read_link(path, NULL);

                is(target, "/dev/null", "descriptor %d of %s", fd, who);
        }
}

static void test_leaves(void) {
        KitOrder order = { 0 };
        int ends[2], inherited;
        struct pollfd wait;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        inherited = fcntl(ends[1], F_DUPFD, INHERITED_FD);

        g_auto(Detached) detached = detach_pausing(&order);

        (void)close(inherited);
        (void)close(ends[1]);
        wait = (struct pollfd){ .fd = ends[0] };
        ok(poll(&wait, 1, (int)(kit_patience(KIT_SEC) / KIT_MSEC)) == 1 && (wait.revents & POLLHUP),
           "what the caller had open is closed when it is gone");
        (void)close(ends[0]);
        ok(lives(detached.launcher_fd) && lives(detached.program_fd),
           "launcher and program run on");
        cmp_ok(getsid(detached.launcher), "==", detached.launcher,
               "the launcher is in a session of its own");
        check_streams(detached.launcher, "the launcher");
        check_streams(detached.program, "the program");
        ok(!is_written(detached.record), "there is no record yet");
        expect_end(&detached, "a detached run");
}

/* What holds all the same */

static void test_timeout(void) {
        KitOrder order = { .options = WORDS("--timeout", kit_is_slow() ? "10s" : "500ms", "--grace",
                                            "0") };
        Expected expected = { .outcome = "timeout",
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "timeout limit hit: killed (SIGKILL) *",
                              .touched = "timeout grace" };
        g_auto(Detached) detached = detach_pausing(&order);

        expect_detached(&detached, &expected, "a detached run's deadline");
}

static void test_memory(void) {
        g_autofree char *record = new_file("record");
        KitOrder order = { .options = WORDS("--memory", "32M"), .command = VICTIM("eat", "200") };
        Expected expected = { .outcome = "memory",
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "memory limit hit: killed (SIGKILL) *",
                              .touched = "memory" };
        g_auto(Detached) detached = { .run = call(&order, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        expect_detached(&detached, &expected, "a detached run's memory");
        expect_limit(detached.run, "memory", 32 << 20, 32 << 20, "MemoryMax");
}

static void test_capture(void) {
        g_autofree char *record = new_file("record");
        KitOrder order = { .options = WORDS("--capture"),
                           .command = VICTIM("copy", "say", "out", "complain", "err", "exit",
                                             "3") };
        Expected expected = { .outcome = "exited", .exit_code = 3, .message = "exited with 3" };
        g_auto(Detached) detached = { .run = call(&order, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        expect_detached(&detached, &expected, "a detached run that is captured");
        is(record_text(detached.run, "stdout"), "out\n", "its output is in the record");
        is(record_text(detached.run, "stderr"), "err\n", "and so is its standard error");
}

static void test_input(void) {
        g_autofree char *record = new_file("record");
        g_autofree char *input = new_file("input");
        KitOrder order = { .options = WORDS("--capture", "--stdin", input),
                           .command = VICTIM("copy") };
        Expected expected = { .outcome = "exited", .message = "exited with 0" };

        if (!g_file_set_contents(input, "words", -1, NULL))
                BAIL_OUT("%s cannot be written", input);

        g_auto(Detached) detached = { .run = call(&order, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        expect_detached(&detached, &expected, "a detached run with an input");
        is(record_text(detached.run, "stdout"), "words", "it has read it");
}

/* How the launcher may end */

static void test_cancelled(void) {
        KitOrder order = { .options = WORDS("--grace", "200ms") };
        Expected expected = { .outcome = "cancelled",
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "cancelled by SIGTERM: killed (SIGKILL)",
                              .touched = "grace" };
        g_auto(Detached) detached = detach_pausing(&order);

        ok(detached.launcher > 0 && kill(detached.launcher, SIGTERM) == 0,
           "a detached launcher gets SIGTERM");
        expect_detached(&detached, &expected, "SIGTERM to a detached launcher");
}

static void test_killed(void) {
        KitOrder order = { .options = WORDS("--grace", "1h") };
        g_auto(Detached) detached = detach_pausing(&order);

        ok(detached.launcher > 0 && kill(detached.launcher, SIGKILL) == 0,
           "a detached launcher is killed");
        ok(leftover_wait(detached.run, GONE_USEC),
           "SIGKILL to a detached launcher: the run is gone within a second");
        ok(!is_written(detached.record), "without a record");
}

/* What the caller's end must not be */

static void test_group(void) {
        KitOrder order = { 0 };
        g_auto(Detached) detached = detach_pausing(&order);

        /* Nobody is in it any more, or it would have been killed. */
        cmp_ok(kill(-detached.run->pid, SIGKILL), "<", 0,
               "nobody is left in the caller's process group");
        ok(lives(detached.launcher_fd) && lives(detached.program_fd),
           "launcher and program run on");
        expect_end(&detached, "a detached run whose caller's process group was killed");
}

/* As a login has it: the leader of a session with a terminal. Its end, and the terminal's, hang up on everybody. The kit
 * has made it the leader of a group, who cannot have a session. */
static void take_terminal(void) {
        const char *path = ptsname(INHERITED_FD);
        int fd;

        while (setsid() < 0)
                (void)setpgid(0, getpgid(getppid()));
        fd = path ? open(path, O_RDWR) : -1;
        if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || dup2(fd, STDIN_FILENO) < 0)
                _exit(125);
        (void)close(fd);
        (void)close(INHERITED_FD);
}

static void test_terminal(void) {
        KitOrder order = { .prepare = take_terminal };
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        int inherited = master < 0 ? -1 : fcntl(master, F_DUPFD, INHERITED_FD);

        if (inherited != INHERITED_FD || grantpt(master) < 0 || unlockpt(master) < 0)
                BAIL_OUT("no terminal to be had");

        g_auto(Detached) detached = detach_pausing(&order);

        (void)close(master);
        (void)close(inherited);
        ok(lives(detached.launcher_fd) && lives(detached.program_fd),
           "the caller's terminal is closed: launcher and program run on");
        expect_end(&detached, "a detached run whose caller's terminal was closed");
}

/* systemd-run makes a scope with the caller in it, which is gone when nobody is in it. */
static bool is_scope_gone(const void *name) {
        g_autoptr(GPtrArray) units = manager_units(WORDS(name));

        return units->len == 0;
}

static void test_session(void) {
        g_autofree char *tool = g_find_program_in_path("systemd-run");
        g_autofree char *id = g_strdup_printf("test-%d-session", (int)getpid());
        g_autofree char *name = g_strdup_printf("test-%d-session.scope", (int)getpid());
        g_autofree char *unit = g_strconcat("--unit=", name, NULL);
        g_autofree char *kind = g_strconcat("--", kit_manager(), NULL);
        g_autofree char *mark = g_strconcat(KIT_MARK "=", id, NULL);
        KitOrder order = { .program = tool };
        bool is_private = g_str_equal(kit_manager(), "private");

        skip(is_private, 7, "n/a: a private manager lives in its caller's own cgroup");

        Detached detached = { .record = new_file("record") };

        order.command = WORDS("-q", kind, "--scope", unit, "--", "env", mark, kit_cordon(), "run",
                              kit_is_scope() ? "--scope" : "--service", "--detach", "--timeout=5m",
                              "--id", id, "--record", detached.record, "--", kit_victim(),
                              "quit-on", "USR1", "pause");
        detached.run = kit_run(&order);
        detached.run->id = g_strdup(id);
        g_strfreev(detached.run->command);
        detached.run->command = g_strdupv((char **)VICTIM("quit-on", "USR1", "pause"));
        find_both(&detached);
        ok(kit_wait_until(is_scope_gone, name, kit_patience(PATIENCE_USEC)),
           "the unit that the caller was in has ended");
        ok(lives(detached.launcher_fd) && lives(detached.program_fd),
           "launcher and program run on");
        expect_end(&detached, "a detached run whose caller's unit has ended");
        detached_clear(&detached);
        end_skip;
}

/* What the caller is told instead of an id */

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options;
        const char *const *command;
        Expected expected;
} refusals[] = {
        { "a bad value", WORDS("--memory", "lots"), WORDS("true"),
          { .outcome = "refused", .status = 125, .exit_code = ABSENT, .error = "bad-value",
            .words = "cordon: --memory: \"lots\" *; see cordon run --help\n" } },
        { "a program that is not there", NULL, WORDS("/nowhere/at-all"),
          { .outcome = "not-started", .status = 127, .exit_code = ABSENT, .error = "command-not-found",
            .words = "cordon: \"/nowhere/at-all\": command not found\n" } },
        { "what is no program", NULL, WORDS("/etc"),
          { .outcome = "not-started", .status = 126, .exit_code = ABSENT, .error = "*",
            .words = "cordon: \"/etc\": *\n" } },
        { "a quiet one", WORDS("-q"), WORDS("/nowhere/at-all"),
          { .outcome = "not-started", .status = 127, .exit_code = ABSENT, .error = "command-not-found" } },
        { "what the manager refuses", WORDS("-p", "WorkingDirectory=relative/path"), WORDS("true"),
          { .outcome = "refused", .status = 125, .exit_code = ABSENT, .error = "*",
            .words = "cordon: *\n" } },
};
/* clang-format on */

static void test_refusals(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                g_autofree char *record = new_file("record");
                g_autofree char *name = g_strconcat("detached: ", refusals[i].name, NULL);
                KitOrder order = { .options = refusals[i].options, .command = refusals[i].command };
                Expected expected = refusals[i].expected;
                Detached detached = { .run = call(&order, record), .record = record };

                ok(is_written(record), "%s: its record is there when the caller is told", name);
                take_record(&detached);
                if (g_strcmp0(expected.error, "*") == 0)
                        expected.error = record_text(detached.run, "error.code");
                expect(detached.run, &expected, name);
                kit_run_free(detached.run);
        }
}

static void test_descriptor(void) {
        KitOrder order = { .record = "-", .command = VICTIM("end") };
        g_autoptr(KitRun) run = call(&order, NULL);

        cmp_ok(run->status, "==", 125, "a detached run cannot write its record to a descriptor");
        is(run->errors->str,
           "cordon: --detach: a record can only go to a file, not to -; see cordon run --help\n",
           "and says so");
        leftover_check(run, "a detached run with its record on standard output");
}

static void fill_stdout(void) {
        int fd = open("/dev/full", O_WRONLY);

        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
                _exit(125);
        (void)close(fd);
}

static void close_stdout(void) {
        (void)close(STDOUT_FILENO);
}

/* Nobody would ever know of it. */
static void test_unprinted(void) {
        KitOrder order = { .prepare = fill_stdout,
                           .options = WORDS("--grace", "0"),
                           .command = VICTIM("pause") };
        Expected expected = { .outcome = "cancelled",
                              .status = 125,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "cancelled by SIGHUP: killed (SIGKILL)",
                              .words = "cordon: cannot write to standard output: No space left on "
                                       "device\n",
                              .touched = "grace" };
        g_autofree char *record = new_file("record");
        g_auto(Detached) detached = { .run = call(&order, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        take_record(&detached);
        expect(detached.run, &expected, "a detached run whose id cannot be printed");
}

static void test_closed_stdout(void) {
        KitOrder nameless = { .prepare = close_stdout, .id = "", .command = VICTIM("end") };
        g_autofree char *refused = new_file("record");
        g_autofree char *record = new_file("record");
        g_autoptr(KitRun) run = call(&nameless, refused);
        KitOrder named = { .prepare = close_stdout, .command = VICTIM("end") };
        Expected expected = { .outcome = "exited", .message = "exited with 0" };

        cmp_ok(run->status, "==", 125, "with standard output closed, --detach needs --id");
        is(run->errors->str,
           "cordon: --detach: standard output is closed, and nobody would know the id; give one "
           "with --id; see cordon run --help\n",
           "and says so");

        g_auto(Detached) detached = { .run = call(&named, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        take_record(&detached);
        expect(detached.run, &expected, "a detached run with an id and no standard output");
}

static void test_id_in_use(void) {
        KitOrder order = { 0 };
        g_auto(Detached) detached = detach_pausing(&order);
        KitOrder again = { .id = detached.run->id, .record = "", .command = VICTIM("end") };
        g_autoptr(KitRun) second = call(&again, NULL);
        g_autofree char *words = g_strdup_printf("cordon: --id: \"%s\" is in use\n",
                                                 detached.run->id);

        cmp_ok(second->status, "==", 125, "an id of a detached run is in use");
        is(second->errors->str, words, "and that is what is said");
        is(second->output->str, "", "without an id");
        expect_end(&detached, "the run that had the id first");
}

/* Every dash is four letters in the name of a unit. */
static void test_long_id(void) {
        g_autofree char *dashes = g_strnfill(55, '-');
        g_autofree char *id = g_strdup_printf("t%s%d", dashes, (int)getpid() % 10000);
        g_autofree char *record = new_file("record");
        KitOrder order = { .id = id, .command = VICTIM("end") };
        Expected expected = { .outcome = "exited", .message = "exited with 0" };
        g_auto(Detached) detached = { .run = call(&order, record),
                                      .record = g_steal_pointer(&record),
                                      .launcher_fd = -1,
                                      .program_fd = -1 };

        expect_detached(&detached, &expected, "a detached run with a very long id");
}

/* The child of its caller leads a session: all that it does before it asks a manager for something. */
static bool has_set_out(const void *what) {
        const KitRun *run = what;
        g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/children", (int)run->pid,
                                                (int)run->pid);
        g_autofree char *text = NULL;
        pid_t child = 0;

        if (g_file_get_contents(path, &text, NULL, NULL))
                child = (pid_t)g_ascii_strtoll(text, NULL, 10);
        return child > 0 && getsid(child) == child;
}

/* A guard that does not answer holds up every start. */
static void test_interrupted(void) {
        g_autofree char *record = new_file("record");
        g_autofree char *pattern = g_strdup_printf("cordon-guard-*-%u.service",
                                                   (unsigned)geteuid());
        g_autofree char *mark = new_file("mark");
        KitOrder plain = { 0 };
        KitOrder order = { .options = WORDS("--detach", "--timeout=5m"),
                           .record = record,
                           .command = VICTIM("write", mark, "1", "pause") };
        g_auto(Detached) other = detach_pausing(&plain);
        g_autoptr(GPtrArray) guards = manager_units(WORDS(pattern));
        pid_t guard = guards->len == 1 ? manager_main_pid(g_ptr_array_index(guards, 0)) : 0;

        if (guard <= 0)
                BAIL_OUT("no guard is found");
        (void)kill(guard, SIGSTOP);

        Detached detached = { .run = kit_start(&order), .record = record };

        ok(kit_wait_until(has_set_out, detached.run, kit_patience(10 * KIT_SEC)),
           "its launcher is on its own");
        ok(!kit_wait_process(detached.run->pidfd, 100 * KIT_MSEC),
           "the caller waits for the program to run");
        kit_signal_group(detached.run, SIGKILL);
        kit_finish(detached.run);
        take_record(&detached);
        (void)kill(guard, SIGCONT);
        is(record_text(detached.run, "outcome"), "cancelled",
           "a caller that was killed before it had the id: the run is cancelled");
        is(record_text(detached.run, "message"), "cancelled by SIGHUP before it was executed",
           "and says why");
        leftover_check(detached.run, "a caller that was killed before it had the id");
        ok(!is_written(mark), "nothing of the program has run");
        kit_run_free(detached.run);
        expect_end(&other, "a detached run whose guard was stopped for a while");
}

int main(void) {
        kit_init();
        test_leaves();
        test_killed();
        test_refusals();
        if (!kit_is_brief()) {
                test_timeout();
                test_memory();
                test_capture();
                test_input();
                test_cancelled();
                test_group();
                test_terminal();
                test_descriptor();
                test_unprinted();
                test_closed_stdout();
                test_id_in_use();
                test_long_id();
                test_interrupted();
        }
        test_session();
        leftover_check_guard("after every detached run");
        kit_clear();
        done_testing();
}
