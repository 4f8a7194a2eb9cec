/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A batch that is killed in mid-batch, again and again, and goes on with --resume: every job has exactly one record in the
 * end, none ran again that had one, and nothing is left. One job in ten is a mistake, one in ten leaves a daemon. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"

static char *records_path;
static int job_count; /* tens */

static void append_to_records(void) {
        (void)dup2(open(records_path, O_WRONLY | O_APPEND | O_CREAT, 0644), STDOUT_FILENO);
}

static void add_job(GString *jobs, int i, const char *log) {
        g_autofree char *id = i % 2 == 0 ? g_strdup_printf("job-%d", i) : NULL;
        g_autofree char *number = g_strdup_printf("%d", i);

        if (i % 10 == 3)
                g_string_append(jobs, "{\"command\": [\"true\"], \"limits\": {\"tasks\": 0}}\n");
        else if (i % 10 == 7)
                batch_add(jobs, id, NULL,
                          VICTIM("child", "leave", "ignore", "HUP", "pause", "then", "end"));
        else
                batch_add(jobs, id, NULL, WORDS("sh", "-c", "echo $1 >>\"$0\"", log, number));
}

static char *make_jobs(const char *log) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (int i = 0; i < job_count; i++)
                add_job(jobs, i, log);
        return batch_file("jobs", jobs->str);
}

static size_t size_of(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

static KitRun *start(const char *jobs) {
        return batch_start_in(WORDS("--parallel", "4", "--resume", "records", jobs), 0,
                              append_to_records);
}

/* Killed when so many more bytes of records are there, so in mid-batch. */
static bool kill_in_mid_batch(const char *jobs, size_t more) {
        g_autoptr(KitRun) run = NULL;
        size_t size = size_of(records_path);

        run = start(jobs);
        while (size_of(records_path) < size + more && !kit_wait_process(run->pidfd, KIT_MSEC))
                continue;
        kit_signal(run, SIGKILL);
        kit_finish(run);
        return run->status == 128 + SIGKILL;
}

/* As a kill in the midst of a write leaves it. */
static void tear_last_line(void) {
        size_t size = size_of(records_path);

        if (truncate(records_path, (off_t)size - 40) < 0)
                BAIL_OUT("cannot truncate: %s", g_strerror(errno));
}

/* Lines that are no records are what was torn. */
static GPtrArray *whole_records(unsigned *ret_torn) {
        GPtrArray *records = g_ptr_array_new_with_free_func((GDestroyNotify)cJSON_Delete);
        g_autofree char *text = NULL;

        (void)g_file_get_contents(records_path, &text, NULL, NULL);

        g_auto(GStrv) lines = g_strsplit(text ?: "", "\n", -1);

        *ret_torn = 0;
        for (char **line = lines; *line; line++) {
                cJSON *record = (*line)[0] ? kit_parse_record(*line, NULL) : NULL;

                if (record)
                        g_ptr_array_add(records, record);
                else if ((*line)[0])
                        (*ret_torn)++;
        }
        return records;
}

static unsigned count_whole(void) {
        unsigned torn;
        g_autoptr(GPtrArray) records = whole_records(&torn);

        return records->len;
}

/* Of those that are no mistakes. */
static void tell_refused(const GPtrArray *records) {
        for (guint i = 0; i < records->len; i++) {
                const cJSON *record = g_ptr_array_index(records, i);

                if (g_str_equal(batch_text(record, "outcome"), "refused") &&
                    batch_number(record, "index") % 10 != 3)
                        diag("%s: %s", batch_text(record, "id"), batch_text(record, "message"));
        }
}

static bool has_one_each(const GPtrArray *records) {
        for (int i = 0; i < job_count; i++)
                if (!batch_at(records, i)) {
                        diag("job %d has no record, or more than one", i);
                        return false;
                }
        return true;
}

/* A job that had its record did not run again: only those that ran when we were killed may have run twice. */
static unsigned count_repeated(const char *log) {
        g_autofree char *text = NULL;
        unsigned repeated = 0;

        (void)g_file_get_contents(log, &text, NULL, NULL);

        g_auto(GStrv) lines = g_strsplit(text ?: "", "\n", -1);

        for (guint i = 0; lines[i]; i++)
                for (guint j = 0; lines[i][0] && j < i; j++)
                        repeated += g_str_equal(lines[i], lines[j]);
        return repeated;
}

static void test_killed(void) {
        g_autofree char *log = batch_file("log", ""), *jobs = make_jobs(log);
        unsigned kills = 0, torn = 0;

        (void)unlink(records_path);
        (void)close(open(records_path, O_WRONLY | O_CREAT, 0644));
        for (int i = 0; i < 5; i++) {
                kills += kill_in_mid_batch(jobs, 4000);
                if (i == 2)
                        tear_last_line();
        }

        unsigned before = count_whole();
        g_autoptr(KitRun) run = start(jobs);

        kit_finish(run);

        g_autoptr(GPtrArray) records = whole_records(&torn);

        cmp_ok(kills, ">=", 3, "it was killed in mid-batch");
        cmp_ok(run->status, "==", 0, "the last one ends well");
        is(run->errors->str, "", "and says nothing");
        ok(has_one_each(records), "every job has exactly one record");
        cmp_ok(records->len, "==", job_count, "and there are no others");
        cmp_ok(torn, "<=", kills + 1, "a torn line is a line of its own");
        cmp_ok(torn, ">=", 1, "and there is one");
        tell_refused(records);
        cmp_ok(batch_count(records, "refused"), "==", job_count / 10, "mistakes are refused once");
        cmp_ok(batch_count(records, "exited"), "==", job_count - job_count / 10,
               "the others have run");
        cmp_ok(count_repeated(log), "<=", 4 * kills, "only who ran when it was killed ran again");
        cmp_ok(before, "<", job_count, "there was something left to do for the last one");
        batch_check_nothing_left(records, "killed and resumed");

        g_autoptr(KitRun) again = start(jobs);

        kit_finish(again);
        cmp_ok(count_whole(), "==", job_count, "when all is done nothing is done");
}

/* What was cancelled is done; what had not begun is not. */
static void test_cancelled(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *log = batch_file("began", ""), *path = NULL;

        for (int i = 0; i < 4; i++)
                batch_add(jobs, NULL, NULL,
                          WORDS("sh", "-c",
                                "echo >>\"$0\"; [ $(wc -l <\"$0\") -gt 2 ] || exec \"$1\" pause",
                                log, kit_victim()));
        path = batch_file("four", jobs->str);
        (void)unlink(records_path);
        (void)close(open(records_path, O_WRONLY | O_CREAT, 0644));

        g_autoptr(KitRun)
                run = batch_start_in(WORDS("--parallel", "2", path), 0, append_to_records);

        (void)batch_wait_size(log, 2);
        kit_signal(run, SIGINT);
        kit_finish(run);
        cmp_ok(count_whole(), "==", 2, "two ran and were cancelled");

        g_autoptr(KitRun) rest = batch_start_in(WORDS("--strict", "--resume", "records", path), 0,
                                                append_to_records);

        kit_finish(rest);

        unsigned torn;
        g_autoptr(GPtrArray) records = whole_records(&torn);

        cmp_ok(records->len, "==", 4, "the other two ran when it went on");
        cmp_ok(batch_count(records, "cancelled"), "==", 2, "what was cancelled is left as it is");
        cmp_ok(rest->status, "==", 1, "--strict knows of it");
}

int main(void) {
        kit_init();
        job_count = kit_is_slow() ? 40 : 60;
        records_path = g_build_filename(kit_directory(), "records", NULL);
        test_killed();
        test_cancelled();
        leftover_check_guard("after batches that were killed");
        g_free(records_path);
        kit_clear();
        done_testing();
}
