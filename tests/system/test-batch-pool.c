/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A batch in a pool: no more of it at a time than the pool has slots for, over all launchers that name it; what waits for
 * a slot can be cancelled, and who does not want to wait is refused. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"

static char pool[64];

/* Writes a byte, then waits until a file is there. */
static char *make_waiting(int count, const char *log) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (int i = 0; i < count; i++)
                batch_add(jobs, NULL, NULL,
                          WORDS("sh", "-c", "echo >>\"$0\"; until [ -e \"$0.go\" ]; do :; done",
                                log));
        return g_string_free(g_steal_pointer(&jobs), FALSE);
}

static void let_go(const char *log) {
        g_autofree char *path = g_strconcat(log, ".go", NULL);

        (void)g_file_set_contents(path, "", 0, NULL);
}

static size_t size_of(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static void test_shared(void) {
        g_autofree char *log = batch_file("shared", ""), *jobs = make_waiting(3, log);
        const char *const *options = WORDS("--parallel", "3", "--pool", pool, "--max-parallel",
                                           "2");
        int first_fd = batch_open(jobs), second_fd = batch_open(jobs);
        g_autoptr(KitRun) first = batch_start(options, first_fd);
        g_autoptr(KitRun) second = batch_start(options, second_fd);

        (void)batch_wait_size(log, 2);
        (void)kit_wait_process(first->pidfd, kit_patience(200 * KIT_MSEC)); /* a third would come */
        cmp_ok(size_of(log), "==", 2, "two slots: two run, of two batches with three each");
        let_go(log);
        kit_finish(first);
        kit_finish(second);
        (void)close(first_fd);
        (void)close(second_fd);

        g_autoptr(GPtrArray) of_first = batch_records(first->output->str);
        g_autoptr(GPtrArray) of_second = batch_records(second->output->str);

        cmp_ok(batch_count(of_first, "exited"), "==", 3, "two slots: all of the first ran");
        cmp_ok(batch_count(of_second, "exited"), "==", 3, "two slots: and of the second");
        batch_check_nothing_left(of_first, "two slots");
}

static void test_full(void) {
        g_autofree char *log = batch_file("full", ""), *jobs = make_waiting(3, log);
        int fd = batch_open(jobs);
        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "3", "--pool", pool,
                                                  "--max-parallel", "1", "--on-full", "fail"),
                                            fd);

        ok(batch_wait(run, 2), "--on-full fail: who finds no slot has his record at once");
        let_go(log);
        kit_finish(run);
        (void)close(fd);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *refused = records->len > 0 ? g_ptr_array_index(records, 0) : NULL;

        cmp_ok(batch_count(records, "refused"), "==", 2, "--on-full fail: refused");
        is(batch_text(cJSON_GetObjectItem(refused, "error"), "code"), "capacity",
           "--on-full fail: the code says why");
        cmp_ok(batch_count(records, "exited"), "==", 1, "--on-full fail: who had the slot ran");
}

static void test_cancelled(void) {
        g_autofree char *log = batch_file("cancelled", ""), *jobs = make_waiting(3, log);
        int fd = batch_open(jobs);
        g_autoptr(KitRun)
                run = batch_start(WORDS("--parallel", "3", "--pool", pool, "--max-parallel", "1"),
                                  fd);

        (void)batch_wait_size(log, 1);
        kit_signal(run, SIGTERM);
        kit_finish(run);
        (void)close(fd);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 143, "cancelled while they wait: the status");
        cmp_ok(records->len, "==", 1, "cancelled while they wait: who ran has a record");
        cmp_ok(batch_count(records, "cancelled"), "==", 1, "and it says so");
}

/* A job's own pool, and what is said of a pool without one. */
static void test_own(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *own = g_strdup_printf(", \"pool\": \"%s-own\", \"max-parallel\": 1", pool);
        g_autofree char *name = g_strconcat(pool, "-own", NULL);

        batch_add(jobs, "in", NULL, VICTIM("end"));
        batch_add(jobs, "own", own, VICTIM("end"));

        g_autoptr(KitRun) run = batch_run(WORDS("--pool", pool), jobs->str);
        g_autoptr(KitRun) wrong = batch_run(WORDS("--max-parallel", "2"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        g_autoptr(GPtrArray) refused = batch_records(wrong->output->str);

        is(batch_text(batch_find(records, "in"), "pool"), pool, "the pool of all");
        is(batch_text(batch_find(records, "own"), "pool"), name, "a job's own pool");
        is(batch_text(batch_find(refused, "in"), "outcome"), "refused",
           "--max-parallel needs a pool");
        is(batch_text(batch_find(refused, "own"), "outcome"), "exited", "which a job may have");
        batch_check_nothing_left(records, "pools");
}

int main(void) {
        kit_init();
        (void)snprintf(pool, sizeof pool, "batch-%d", (int)getpid());
        test_shared();
        test_full();
        test_cancelled();
        test_own();
        leftover_check_guard("after batches in pools");
        kit_clear();
        done_testing();
}
