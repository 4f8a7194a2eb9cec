/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon batch as a whole: every job has its record, whatever it is; what holds for all and what a job says; the order of
 * records; how many at a time; and what it is as a coprocess. */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"

static const char *text_of(const GPtrArray *records, const char *id, const char *key) {
        return batch_text(batch_find(records, id), key);
}

static void test_records(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, "plain", NULL, VICTIM("say", "out", "complain", "err", "exit", "3"));
        g_string_append(jobs, "\n  \t\r\n");
        batch_add(jobs, NULL, NULL, VICTIM("end"));
        batch_add(jobs, "slow", ", \"limits\": {\"timeout\": 0.2, \"grace\": 0}", VICTIM("pause"));
        g_string_append(jobs, "{\"id\": \"none\", \"command\": [\"/nonexistent\"]}");

        g_autoptr(KitRun) run = batch_run(NULL, jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *plain = batch_find(records, "plain"), *unnamed = batch_at(records, 1);

        cmp_ok(run->status, "==", 0, "every job has its record: status 0");
        is(run->errors->str, "", "and nothing is said");
        cmp_ok(records->len, "==", 4, "as many records as jobs");
        is(batch_text(plain, "stdout"), "out\n", "stdout is captured");
        is(batch_text(plain, "stderr"), "err\n", "and stderr");
        cmp_ok(batch_number(plain, "exit_code"), "==", 3, "a status is the program's");
        cmp_ok(batch_number(plain, "index"), "==", 0, "the first job has index 0");
        cmp_ok(batch_number(plain, "line"), "==", 1, "and is on line 1");
        cmp_ok(batch_number(plain, "attempts"), "==", 1, "and was tried once");
        cmp_ok(batch_number(unnamed, "line"), "==", 4, "blank lines count as lines, not as jobs");
        like(batch_text(unnamed, "id"), "^[a-z0-9]+\\.1$", "a job without an id is given one");
        is(text_of(records, "slow", "outcome"), "timeout", "a job has limits of its own");
        is(text_of(records, "none", "outcome"), "not-started", "what is no program is not started");
        cmp_ok(batch_number(batch_find(records, "none"), "index"), "==", 3,
               "the last line needs no newline");
        batch_check_nothing_left(records, "some jobs");
}

/* clang-format off */
static const struct {
        const char *line, *code, *message; /* behind "line N: " */
} mistakes[] = {
        { "bad", "bad-job", "$: expected a value, here is b (column 1)" },
        { "{\"command\":[\"true\"]} x", "bad-job", "$: expected the end of the text, here is x (column 22)" },
        { "[]", "bad-job", "$: an object is needed, here is an array" },
        { "{}", "bad-job", "$.command: there is none" },
        { "{\"comand\":[\"true\"]}", "bad-job", "$.comand: unknown key (did you mean \"command\"?)" },
        { "{\"command\":[\"true\"],\"limits\":{\"memory\":\"12Q\"}}", "bad-value", "$.limits.memory: \"12Q\" is not a size; accepted: a number with B, K, M, G or T (1024-based), or infinity" },
        { "{\"command\":[\"true\"],\"id\":\"-\"}", "bad-value", "$.id: *" },
        { "{\"command\":[\"true\"],\"pty\":true}", "bad-job", "$.pty: cordon batch has no such option" },
        { "{\"command\":[\"true\"],\"detach\":true}", "bad-job", "$.detach: cordon batch has no such option" },
        { "{\"command\":[\"true\"],\"parallel\":\"2\"}", "bad-job", "$.parallel: only for the command line, not part of a job" },
        { "{\"command\":[\"true\"],\"directory\":\"/nonexistent\"}", "directory", "$.directory: cannot use the directory \"/nonexistent\": No such file or directory" },
        { "{\"command\":[\"true\"],\"stdin\":\"/nonexistent\"}", "bad-value", "$.stdin: cannot open \"/nonexistent\": No such file or directory" },
        { "{\"command\":[\"true\"],\"uid\":\"no-such-user\"}", "no-such-account", "$.uid: *" },
        { "\xff", "bad-job", "$: these bytes are not UTF-8 (column 1)" },
};
/* clang-format on */

static void check_mistake(const cJSON *record, size_t i) {
        g_autofree char *pattern = g_strdup_printf("line %zu: %s", 2 * i + 2, mistakes[i].message);
        const cJSON *error = cJSON_GetObjectItem(record, "error");

        ok(g_str_equal(batch_text(record, "outcome"), "refused") &&
                   g_str_equal(batch_text(error, "code"), mistakes[i].code) &&
                   g_pattern_match_simple(pattern, batch_text(error, "message")) &&
                   batch_number(record, "line") == (int)(2 * i + 2),
           "refused: %s", mistakes[i].message);
        if (!g_pattern_match_simple(pattern, batch_text(error, "message")))
                diag("%s: \"%s\", not \"%s\"", batch_text(error, "code"),
                     batch_text(error, "message"), pattern);
}

/* Each between two good ones, which run. */
static void test_mistakes(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
                batch_add(jobs, NULL, NULL, VICTIM("end"));
                g_string_append_printf(jobs, "%s\n", mistakes[i].line);
        }

        g_autoptr(KitRun) run = batch_run(WORDS("--parallel", "4"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 0, "mistakes in jobs are no failure of the batch");
        cmp_ok(batch_count(records, "exited"), "==", G_N_ELEMENTS(mistakes), "the others run");
        for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++)
                check_mistake(batch_at(records, (int)(2 * i + 1)), i);
        batch_check_nothing_left(records, "mistakes");
}

static void test_repeated_id(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, "twin", NULL, VICTIM("end"));
        batch_add(jobs, "twin", NULL, VICTIM("end"));

        g_autoptr(KitRun) run = batch_run(NULL, jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        is(batch_text(batch_at(records, 0), "outcome"), "exited", "the first of an id runs");
        is(batch_text(batch_at(records, 1), "outcome"), "refused", "the second is refused");
        is(batch_text(cJSON_GetObjectItem(batch_at(records, 1), "error"), "code"), "duplicate-id",
           "and its code says why");
}

static void test_huge_line(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *huge = g_strnfill((16 << 20) + 1, 'x');

        batch_add(jobs, "before", NULL, VICTIM("end"));
        g_string_append_printf(jobs, "%s\n", huge);
        batch_add(jobs, "behind", NULL, VICTIM("end"));

        g_autoptr(KitRun) run = batch_run(NULL, jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        is(batch_text(batch_at(records, 1), "message"), "line 2: larger than 16M, which no job is",
           "a line larger than any job is refused");
        is(text_of(records, "behind", "outcome"), "exited", "and the one behind it runs");
}

#define SHOW "echo A=$A B=$B C=$C $PWD"

/* What is said for all, and what a job says instead. */
static void test_defaults(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        batch_add(jobs, "as-all", NULL, WORDS("sh", "-c", SHOW));
        batch_add(jobs, "own",
                  ", \"env\": {\"A\": \"job\"}, \"directory\": \"/\", \"labels\": {\"k\": \"job\"},"
                  " \"limits\": {\"tasks\": 7, \"memory\": \"infinity\"}",
                  WORDS("sh", "-c", SHOW));
        batch_add(jobs, "no-env", ", \"clean-env\": false", WORDS("sh", "-c", SHOW));
        batch_add(jobs, "clean", NULL, WORDS("sh", "-c", SHOW));
        (void)g_setenv("C", "callers", TRUE);

        g_autoptr(KitRun)
                run = batch_run(WORDS("-E", "A=all", "-E", "B=all", "--label", "k=all", "--memory",
                                      "64M", "--tasks", "5", "--clean-env", "-C", "/usr"),
                                jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *all = batch_find(records, "as-all"), *own = batch_find(records, "own");
        const cJSON *limits = cJSON_GetObjectItem(own, "limits");

        is(batch_text(all, "stdout"), "A=all B=all C= /usr\n", "options hold for all");
        is(batch_text(own, "stdout"), "A=job B=all C= /\n", "what a job says wins");
        is(batch_text(cJSON_GetObjectItem(all, "labels"), "k"), "all", "a label of all");
        is(batch_text(cJSON_GetObjectItem(own, "labels"), "k"), "job", "a label of its own");
        cmp_ok(batch_number(cJSON_GetObjectItem(limits, "tasks"), "requested"), "==", 7,
               "a limit of its own");
        ok(!cJSON_HasObjectItem(limits, "memory"), "a limit that it lifts");
        is(text_of(records, "no-env", "stdout"), "A=all B=all C=callers /usr\n",
           "false takes a flag back");
        is(text_of(records, "clean", "stdout"), "A=all B=all C= /usr\n", "which else holds");
        batch_check_nothing_left(records, "defaults");
}

static char *order_of(const KitRun *run) {
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        GString *order = g_string_new(NULL);

        for (guint i = 0; i < records->len; i++)
                g_string_append_printf(order, "%d ",
                                       batch_number(g_ptr_array_index(records, i), "index"));
        return g_string_free(order, FALSE);
}

/* The first one ends when the fourth has run, so when at least one of those between has ended. */
static void test_order(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *go = g_build_filename(kit_directory(), "order.go", NULL);
        g_autofree char *first = NULL, *second = NULL;

        batch_add(jobs, NULL, NULL, WORDS("sh", "-c", "until [ -e \"$0\" ]; do :; done", go));
        for (int i = 1; i < 6; i++)
                batch_add(jobs, NULL, NULL, WORDS("sh", "-c", i == 3 ? ": >\"$0\"" : ":", go));

        g_autoptr(KitRun) as_ended = batch_run(WORDS("--parallel", "3"), jobs->str);

        (void)unlink(go);

        g_autoptr(KitRun) ordered = batch_run(WORDS("--parallel", "3", "--ordered"), jobs->str);

        first = order_of(as_ended);
        second = order_of(ordered);
        is(second, "0 1 2 3 4 5 ", "--ordered: in the order of the jobs");
        ok(strlen(first) == strlen(second) && first[0] != '0',
           "without it in the order in which they end: %s", first);
}

/* All of them wait for a file, so that all that may run do. */
static void test_parallel(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *log = batch_file("log", ""), *text = NULL;
        g_autofree char *command = g_strdup_printf("echo >>%s; until [ -e %s.go ]; do :; done", log,
                                                   log);
        g_autofree char *go = g_strconcat(log, ".go", NULL);
        gsize size = 0;

        for (int i = 0; i < 9; i++)
                g_string_append_printf(jobs, "{\"command\": [\"sh\", \"-c\", \"%s\"]}\n", command);

        int fd = batch_open(jobs->str);
        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "3", "--ordered"), fd);

        (void)batch_wait_size(log, 3);
        (void)kit_wait_process(run->pidfd, kit_patience(200 * KIT_MSEC)); /* a fourth would come */
        ok(g_file_get_contents(log, &text, &size, NULL) && size == 3,
           "--parallel: so many at a time");
        (void)g_file_set_contents(go, "", 0, NULL);
        kit_finish(run);
        (void)close(fd);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(batch_count(records, "exited"), "==", 9, "--parallel: and all in the end");
        batch_check_nothing_left(records, "--parallel");
}

/* A job is written, its record read, and then the next. */
static void test_coprocess(void) {
        int ends[2];
        char job[] = "{\"command\":[\"cat\"]}\n";
        bool all_came = true;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");

        g_autoptr(KitRun) run = batch_start(NULL, ends[0]);

        (void)close(ends[0]);
        for (unsigned i = 1; i <= 5; i++)
                all_came = write(ends[1], job, strlen(job)) > 0 && batch_wait(run, i) && all_came;
        ok(all_came, "a coprocess: each job's record comes before the next is written");
        /* half a line, then the other half, then a last one without its newline */
        (void)!write(ends[1], job, 7);
        (void)!write(ends[1], job + 7, strlen(job) - 7);
        ok(batch_wait(run, 6), "a coprocess: a line may come in pieces");
        (void)!write(ends[1], job, strlen(job) - 1);
        (void)close(ends[1]);
        kit_finish(run);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(run->status, "==", 0, "a coprocess: it ends with its input");
        cmp_ok(batch_count(records, "exited"), "==", 7, "a coprocess: standard input is empty");
        batch_check_nothing_left(records, "a coprocess");
}

static unsigned count_descriptors(const KitRun *run) {
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)run->pid);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        unsigned count = 0;

        while (dir && g_dir_read_name(dir))
                count++;
        return count;
}

static int64_t read_rss(const KitRun *run) {
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)run->pid);
        g_autofree char *text = NULL;
        const char *line;

        if (!g_file_get_contents(path, &text, NULL, NULL) || !(line = strstr(text, "\nVmRSS:")))
                return 0;
        return g_ascii_strtoll(line + strlen("\nVmRSS:"), NULL, 10) * 1024;
}

/* Records of so many jobs more have come, so it is at rest. */
static bool feed(KitRun *run, int fd, unsigned jobs, unsigned *records) {
        static const char job[] = "{\"command\":[\"true\"]}\n";

        for (unsigned i = 0; i < jobs; i++)
                if (write(fd, job, strlen(job)) < 0)
                        return false;
        *records += jobs;
        return batch_wait(run, *records);
}

typedef struct {
        const KitRun *run;
        unsigned descriptors;
} Bound;

/* A record is written before what was held for its job is let go. */
static bool is_within(const void *what) {
        const Bound *bound = what;

        return count_descriptors(bound->run) <= bound->descriptors;
}

/* After many jobs it has no more than after some. */
static void test_growth(void) {
        unsigned records = 0, jobs = kit_is_slow() ? 20 : 160;
        int64_t bytes;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");

        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "4"), ends[0]);

        (void)close(ends[0]);
        ok(feed(run, ends[1], jobs / 4, &records), "some jobs");

        const Bound bound = { run, count_descriptors(run) };

        bytes = read_rss(run);
        ok(feed(run, ends[1], jobs, &records), "many jobs");
        ok(kit_wait_until(is_within, &bound, kit_patience(KIT_SEC)),
           "many jobs: no more descriptors than before");
        skip(kit_is_sanitized(), 1, "n/a: a sanitizer needs memory of its own");
        cmp_ok(read_rss(run), "<", bytes + 512 * 1024, "many jobs: no more memory than before");
        end_skip;
        (void)close(ends[1]);
        kit_finish(run);

        g_autoptr(GPtrArray) of_all = batch_records(run->output->str);

        cmp_ok(batch_count(of_all, "exited"), "==", records, "many jobs: all of them");
}

static void test_output_dir(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *dir = g_build_filename(kit_directory(), "results", NULL);
        g_autofree char *out = g_build_filename(dir, "a.stdout", NULL);
        g_autofree char *err = g_build_filename(dir, "a.stderr", NULL);
        g_autofree char *json = g_build_filename(dir, "a.json", NULL);
        g_autofree char *text = NULL, *errors = NULL, *record = NULL;
        g_autofree char *elsewhere = batch_file("elsewhere", "untouched"), *untouched = NULL;
        char *first_line;

        /* What lies in the way is replaced, neither followed nor waited for. */
        if (mkdir(dir, 0755) < 0 || symlink(elsewhere, json) < 0 || link(elsewhere, out) < 0 ||
            mkfifo(err, 0600) < 0)
                BAIL_OUT("no link");
        batch_add(jobs, "a", ", \"limits\": {\"output\": 6}",
                  VICTIM("say", "12345678", "complain", "oh"));
        batch_add(jobs, "a", NULL, VICTIM("say", "another"));

        g_autoptr(KitRun) run = batch_run(WORDS("--ordered", "--output-dir", "results"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *first = records->len > 0 ? g_ptr_array_index(records, 0) : NULL;

        (void)g_file_get_contents(out, &text, NULL, NULL);
        (void)g_file_get_contents(err, &errors, NULL, NULL);
        (void)g_file_get_contents(json, &record, NULL, NULL);
        (void)g_file_get_contents(elsewhere, &untouched, NULL, NULL);
        is(untouched, "untouched", "--output-dir: no link is followed");
        first_line = g_strndup(run->output->str, strcspn(run->output->str, "\n") + 1);
        is(text, "123456", "--output-dir: its stdout, as much as is allowed");
        is(errors, "oh\n", "--output-dir: its stderr");
        is(record, first_line, "--output-dir: its record, not that of a repeated id");
        is(batch_text(first, "stdout_file"), "results/a.stdout", "the record says where it is");
        ok(!cJSON_HasObjectItem(first, "stdout") &&
                   cJSON_IsTrue(cJSON_GetObjectItem(first, "stdout_truncated")),
           "and has none of it, and says that it was cut");
        g_free(first_line);
}

/* A word that stands for no file at all. */
static void test_null(void) {
        g_autofree char *fifo = g_build_filename(kit_directory(), "null", NULL);

        if (mkfifo(fifo, 0600) < 0)
                BAIL_OUT("no FIFO");

        g_autoptr(KitRun) run = batch_run(WORDS("--ordered"),
                                          "{\"command\":[\"cat\"]}\n"
                                          "{\"command\":[\"cat\"],\"stdin\":\"./null\"}\n");
        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        (void)unlink(fifo);
        is(batch_text(batch_at(records, 0), "outcome"), "exited",
           "--stdin null: a file of that name is another matter");
        is(batch_text(batch_at(records, 1), "message"),
           "line 2: $.stdin: \"./null\" is a FIFO; accepted: a file that opens at once",
           "a FIFO is not waited for");
}

static void test_check(void) {
        g_autofree char *good = batch_file("good", "{\"command\":[\"true\"]}\n\n");
        g_autofree char *bad = batch_file("bad",
                                          "{\"command\":[\"true\"]}\n\nno\n{\"id\":\"-\"}\n");
        g_autoptr(KitRun) of_good = batch_run(WORDS("--check", good), "");
        g_autoptr(KitRun) of_bad = batch_run(WORDS("--check", bad), "");
        g_autoptr(KitRun) as_json = batch_run(WORDS("--check", "--json", bad), "");
        g_autoptr(GPtrArray) records = batch_records(as_json->output->str);

        cmp_ok(of_good->status, "==", 0, "--check: nothing is wrong");
        is(of_good->output->str, "", "and nothing is said");
        cmp_ok(of_bad->status, "==", 125, "--check: something is");
        like(of_bad->errors->str, "^cordon: line 3: \\$: .*\ncordon: line 4: \\$\\.id: .*\n$",
             "each mistake is a line");
        is(of_bad->output->str, "", "and no record");
        cmp_ok(records->len, "==", 2, "with --json each is a record");
        is(as_json->errors->str, "", "and no line");
}

int main(void) {
        kit_init();
        test_records();
        test_mistakes();
        test_repeated_id();
        test_huge_line();
        test_defaults();
        test_order();
        test_parallel();
        test_coprocess();
        test_growth();
        test_output_dir();
        test_null();
        test_check();
        leftover_check_guard("after batches");
        kit_clear();
        done_testing();
}
