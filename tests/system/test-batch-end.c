/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a batch ends before its time: signals, readers that go, disks that are full, outcomes that stop it; and jobs that
 * are tried again. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"

/* Writes a byte to the log, so that it is known to run, and stays. */
#define STAY(log) WORDS("sh", "-c", "echo >>\"$0\"; exec \"$1\" pause", (log), kit_victim())

static char *empty_file(const char *name) {
        return batch_file(name, "");
}

/* Three run, three more are to come. */
static KitRun *start_staying(const char *const *options, const char *log,
                             const char *const *command, void (*prepare)(void)) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (int i = 0; i < 6; i++)
                batch_add(jobs, NULL, NULL, command);

        int fd = batch_open(jobs->str);
        KitRun *run = batch_start_in(options, fd, prepare);

        (void)close(fd);
        ok(batch_wait_size(log, 3), "three of them run");
        return run;
}

static void test_cancel(void) {
        g_autofree char *log = empty_file("cancel");
        g_autoptr(KitRun) run = start_staying(WORDS("--parallel", "3"), log, STAY(log), NULL);

        kit_signal(run, SIGTERM);
        kit_finish(run);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 143, "cancelled: the status");
        is(run->errors->str, "", "cancelled: nothing is said");
        cmp_ok(records->len, "==", 3, "cancelled: those that ran have records, the others none");
        cmp_ok(batch_count(records, "cancelled"), "==", 3, "and they say so");
        cmp_ok(batch_number(batch_at(records, 0), "signal"), "==", SIGTERM, "ended with grace");
        batch_check_nothing_left(records, "cancelled");
}

/* The second signal kills. */
static void test_insist(void) {
        g_autofree char *log = empty_file("insist");
        const char *const *stubborn = WORDS("sh", "-c",
                                            "trap '' TERM; echo >>\"$0\"; exec \"$1\" pause", log,
                                            kit_victim());
        g_autoptr(KitRun) run = start_staying(WORDS("--parallel", "3", "--grace", "60s"), log,
                                              stubborn, NULL);

        kit_signal(run, SIGINT);
        (void)kit_wait_process(run->pidfd, kit_patience(100 * KIT_MSEC));
        kit_signal(run, SIGINT);
        kit_finish(run);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 130, "cancelled twice: the status");
        cmp_ok(batch_count(records, "cancelled"), "==", 3, "cancelled twice: the records");
        cmp_ok(batch_number(batch_at(records, 0), "signal"), "==", SIGKILL, "killed");
        batch_check_nothing_left(records, "cancelled twice");
}

static void test_reader_gone(void) {
        g_autofree char *log = empty_file("reader");
        g_autoptr(KitRun) run = start_staying(WORDS("--parallel", "3"), log, STAY(log), NULL);

        (void)close(run->fds[0]);
        run->fds[0] = -1;
        kit_finish(run);
        ok(!run->is_hung, "nobody reads the records: it ends by itself");
        cmp_ok(run->status, "==", 125, "nobody reads the records: the status");
        is(run->errors->str, "cordon: cannot write to standard output: Broken pipe\n",
           "nobody reads the records: one line");
        leftover_check_guard("nobody reads the records");
}

static void write_to_full(void) {
        (void)dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static void test_full(void) {
        g_autofree char *log = empty_file("full");
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, NULL, NULL, VICTIM("end"));
        for (int i = 0; i < 3; i++)
                batch_add(jobs, NULL, NULL, STAY(log));

        int fd = batch_open(jobs->str);
        g_autoptr(KitRun) run = batch_start_in(WORDS("--parallel", "2"), fd, write_to_full);

        kit_finish(run);
        (void)close(fd);
        ok(!run->is_hung, "a full disk: it ends by itself");
        cmp_ok(run->status, "==", 125, "a full disk: the status");
        is(run->errors->str, "cordon: cannot write to standard output: No space left on device\n",
           "a full disk: one line");
        leftover_check_guard("a full disk");
}

/* A slow reader holds up what begins, and loses nothing. */
static void test_slow_reader(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (int i = 0; i < 12; i++)
                batch_add(jobs, NULL, NULL,
                          WORDS("sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' a"));

        int fd = batch_open(jobs->str);
        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "2"), fd);

        (void)kit_wait_process(run->pidfd, kit_patience(KIT_SEC)); /* nobody reads */
        cmp_ok(lseek(fd, 0, SEEK_CUR), ">", 0, "a slow reader: jobs are read");
        kit_finish(run);
        (void)close(fd);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(records->len, "==", 12, "a slow reader: all records came");
        cmp_ok(strlen(batch_text(batch_at(records, 11), "stdout")), "==", 1000000, "and are whole");
        batch_check_nothing_left(records, "a slow reader");
}

static void test_strict(void) {
        g_autoptr(GString) good = g_string_new(NULL), bad = g_string_new(NULL);

        batch_add(good, NULL, NULL, VICTIM("end"));
        batch_add(bad, NULL, NULL, VICTIM("exit", "1"));

        g_autoptr(KitRun) of_good = batch_run(WORDS("--strict"), good->str);
        g_autoptr(KitRun) of_bad = batch_run(WORDS("--strict"), bad->str);

        cmp_ok(of_good->status, "==", 0, "--strict: all is well");
        cmp_ok(of_bad->status, "==", 1, "--strict: it is not");
}

static void test_stop_on(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, NULL, NULL, VICTIM("end"));
        batch_add(jobs, NULL, NULL, VICTIM("raise", "KILL"));
        for (int i = 0; i < 4; i++)
                batch_add(jobs, NULL, NULL, VICTIM("end"));

        g_autoptr(KitRun) run = batch_run(WORDS("--parallel", "1", "--stop-on", "memory,signaled"),
                                          jobs->str);
        g_autoptr(KitRun)
                limited = batch_run(WORDS("--parallel", "1", "--limit-failures", "1"), jobs->str);
        g_autoptr(KitRun)
                enough = batch_run(WORDS("--parallel", "1", "--limit-failures", "2"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        g_autoptr(GPtrArray) of_limited = batch_records(limited->output->str);
        g_autoptr(GPtrArray) of_enough = batch_records(enough->output->str);

        cmp_ok(records->len, "==", 2, "--stop-on: nothing begins behind it");
        cmp_ok(run->status, "==", 1, "--stop-on: not every job has its record");
        cmp_ok(of_limited->len, "==", 2, "--limit-failures: likewise");
        cmp_ok(limited->status, "==", 1, "--limit-failures: the status");
        cmp_ok(of_enough->len, "==", 6, "fewer failures stop nothing");
        cmp_ok(enough->status, "==", 0, "and change no status");
}

/* It fails twice and then does well. */
static void test_retry(void) {
        g_autofree char *log = empty_file("tries");
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, "third", NULL,
                  WORDS("sh", "-c", "echo >>\"$0\"; [ $(wc -l <\"$0\") -ge 3 ] || kill -9 $$",
                        log));
        batch_add(jobs, "never", NULL, VICTIM("raise", "KILL"));
        batch_add(jobs, "other", NULL, VICTIM("exit", "1"));

        g_autoptr(KitRun)
                run = batch_run(WORDS("--retry", "2", "--retry-on", "signaled", "--ordered"),
                                jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *third = batch_find(records, "third"), *never = batch_find(records, "never");

        cmp_ok(records->len, "==", 3, "--retry: one record each");
        is(batch_text(third, "outcome"), "exited", "--retry: the third attempt did well");
        cmp_ok(batch_number(third, "attempts"), "==", 3, "--retry: and the record says so");
        is(batch_text(never, "outcome"), "signaled", "--retry: no more often than that");
        cmp_ok(batch_number(never, "attempts"), "==", 3, "--retry: three in all");
        cmp_ok(batch_number(batch_find(records, "other"), "attempts"), "==", 1,
               "--retry: of other outcomes none");
        batch_check_nothing_left(records, "--retry");
}

/* Units of a second attempt are nobody else's, however long its id is and whatever others are called. */
static void test_names(void) {
        g_autofree char *log = empty_file("begun"), *longest = g_strnfill(64, 'x');
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, "one.2", NULL,
                  WORDS("sh", "-c", "until [ $(wc -l <\"$0\") -ge 4 ]; do sleep 0.01; done", log));
        batch_add(jobs, "one", NULL, WORDS("sh", "-c", "echo >>\"$0\"; kill -9 $$", log));
        batch_add(jobs, longest, NULL, WORDS("sh", "-c", "echo >>\"$0\"; kill -9 $$", log));

        g_autoptr(KitRun) run = batch_run(WORDS("--parallel", "3", "--timeout", "20", "--retry",
                                                "1", "--retry-on", "signaled,refused"),
                                          jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        is(batch_text(batch_find(records, "one"), "outcome"), "signaled",
           "--retry: another job has the id with a number behind it");
        is(batch_text(batch_find(records, longest), "outcome"), "signaled",
           "--retry: an id as long as any");
        is(batch_text(batch_find(records, "one.2"), "outcome"), "exited",
           "--retry: who runs meanwhile is left alone");
        batch_check_nothing_left(records, "--retry, names");
}

/* A pipe at its end is as good as a file: nothing is left that did not begin. */
static void test_nothing_left_out(void) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        dprintf(ends[1], "{\"command\":[\"false\"]}\n");
        (void)close(ends[1]);

        g_autoptr(KitRun)
                run = batch_start(WORDS("--parallel", "1", "--stop-on", "exited"), ends[0]);

        kit_finish(run);
        (void)close(ends[0]);
        cmp_ok(run->status, "==", 0, "--stop-on: after the last job of a pipe nothing is left out");
}

/* The manager itself is killed under them. The next job finds another, or it comes back. */
static void test_manager_killed(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *log = empty_file("killed");

        skip(strcmp(kit_manager(), "private") != 0 || kit_is_scope(), 4,
             "n/a: only a manager of our own is killed");
        batch_add(jobs, "killer", NULL,
                  WORDS("sh", "-c",
                        "echo >>\"$0\"; [ $(wc -l <\"$0\") -gt 1 ] || kill -9 $PPID; exit 0", log));
        batch_add(jobs, "beside", NULL, VICTIM("nap", "300"));
        batch_add(jobs, "behind", NULL, VICTIM("end"));

        g_autoptr(KitRun) run = batch_run(WORDS("--parallel", "2", "--retry", "2"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 0, "a manager that was killed: every job has its record");
        cmp_ok(records->len, "==", 3, "a manager that was killed: one each");
        cmp_ok(batch_count(records, "exited"), "==", 3,
               "a manager that was killed: what was lost was tried again with another");
        batch_check_nothing_left(records, "a manager that was killed");
        end_skip;
}

/* Where nothing begins any more, nobody is tried again: who had not begun is left to --resume, and has no record that says
 * he was refused. */
static void test_unbegun(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *log = empty_file("stopped"), *pid = NULL;
        pid_t manager = 0;
        int ends[2];

        skip(strcmp(kit_manager(), "private") != 0 || kit_is_scope(), 3,
             "n/a: only a manager of our own is killed");
        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        batch_add(jobs, "stopper", NULL,
                  WORDS("sh", "-c",
                        "echo $PPID >\"$0\"; kill -STOP $PPID; while :; do sleep 1; done", log));
        (void)!write(ends[1], jobs->str, jobs->len);

        g_autoptr(KitRun)
                run = batch_start(WORDS("--parallel", "3", "--stop-on", "refused"), ends[0]);

        (void)batch_wait_size(log, 2);
        g_string_truncate(jobs, 0);
        batch_add(jobs, "unbegun", NULL, VICTIM("end"));
        g_string_append(jobs, "no job\n");
        (void)!write(ends[1], jobs->str, jobs->len);
        (void)close(ends[1]);
        ok(batch_wait(run, 1), "a manager that is stopped: what is no job has its record");
        if (g_file_get_contents(log, &pid, NULL, NULL))
                manager = (pid_t)g_ascii_strtoll(pid, NULL, 10);
        if (manager > 1)
                (void)kill(manager, SIGKILL);
        kit_finish(run);
        (void)close(ends[0]);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        ok(!batch_find(records, "unbegun"),
           "who had not begun when the manager went has no record");
        cmp_ok(run->status, "==", 1, "and the status says that somebody has none");
        end_skip;
}

int main(void) {
        kit_init();
        test_cancel();
        test_insist();
        test_reader_gone();
        test_full();
        test_slow_reader();
        test_strict();
        test_stop_on();
        test_nothing_left_out();
        test_retry();
        test_names();
        test_manager_killed();
        test_unbegun();
        leftover_check_guard("after batches that ended early");
        kit_clear();
        done_testing();
}
