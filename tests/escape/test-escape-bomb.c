/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bombs and floods: tasks, CPU time, files, output. Each run has a timeout and a bound on memory, and each attempt has an
 * end of its own, so that the machine lives on where we fail. */

#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "stage.h"

#define OUTPUT_KEPT    65536
#define LAUNCHER_BYTES (64 << 20)
#define CPU_USEC       (5 * KIT_SEC)
#define ESCAPED        10

typedef struct {
        Trial trial;
        const char *prospect; /* NULL: the trial's name */
        const char *const *limits;
        const char *outcome; /* where it is held */
        int status;
        const char *touched; /* a key of limits; NULL: it cannot be known */
} Row;

static bool uses_more_cpu(const KitRun *run, const char *verdict) {
        return !kit_is_slow() && record_number(run, "usage.cpu_usec") > (int64_t)CPU_USEC;
}

static bool floods(const KitRun *run, const char *verdict) {
        return strlen(record_text(run, "stdout")) > OUTPUT_KEPT ||
               !record_is_true(run, "stdout_truncated") ||
               (!kit_is_sanitized() && run->max_rss_bytes > LAUNCHER_BYTES);
}

#define BOUNDS "--memory", "128M", "--grace", "0"
/* What a failed fork has taken the kernel gives back later, on a busy machine much later: these are to end by the clock. */
#define ROOMY  "--memory", "512M", "--grace", "0"

/* clang-format off */
static const Row rows[] = {
        { { "fork-bomb",       { "400" },  NULL }, NULL, WORDS(ROOMY, "--timeout", "3s", "--tasks", "40"),
          "timeout", 124, "tasks" },
        { { "thread-bomb",     { "400" },  NULL }, NULL, WORDS(ROOMY, "--timeout", "3s", "--tasks", "40"),
          "timeout", 124, "tasks" },
        { { "fork-bomb",       { "300" },  NULL }, "fork-bomb-unlimited", WORDS(ROOMY, "--timeout", "8s"),
          "timeout", 124, "tasks" },
        { { "cpu-children",    { NULL },   uses_more_cpu }, NULL,
          WORDS(BOUNDS, "--timeout", "2m", "--cpu-time", "1s", "--tasks", "40"), "cpu-time", 124, "cpu-time" },
        { { "sparse-file",     { "64" },   NULL }, NULL, WORDS(BOUNDS, "--timeout", "1m", "--fsize", "1M"),
          "exited", 0, NULL },
        { { "many-files",      { "256" },  NULL }, NULL, WORDS(BOUNDS, "--timeout", "1m", "--disk", "4M"),
          "disk", 137, "disk" },
        { { "deleted-files",   { "256" },  NULL }, NULL, WORDS(BOUNDS, "--timeout", "1m", "--disk", "4M", "--nofile", "1000"),
          "disk", 137, "disk" },
        { { "open-files",      { "1000" }, NULL }, NULL, WORDS(BOUNDS, "--timeout", "1m", "--nofile", "64"),
          "exited", 0, NULL },
        { { "files-in-flight", { "64" },   NULL }, NULL, WORDS(BOUNDS, "--timeout", "1m", "--nofile", "64"),
          "exited", 0, NULL },
        { { "output-flood",    { NULL },   floods }, NULL,
          WORDS(BOUNDS, "--timeout", "2s", "--capture", "--output", "64K"), "timeout", 124, NULL },
};
/* clang-format on */

static void check_held(Stage stage, const Row *row, const KitRun *run) {
        g_autofree char *touched = row->touched ? g_strdup_printf("limits.%s.touched", row->touched)
                                                : NULL;

        if (!ok(g_str_equal(record_text(run, "outcome"), row->outcome) &&
                        run->status == row->status && (!touched || record_is_true(run, touched)),
                "%s: %s: ends as %s", stage_name(stage), row->prospect ?: row->trial.name,
                row->outcome))
                diag("status %d: %s%s", run->status, run->errors->str, run->record_text->str);
}

static void test_row(Stage stage, const Row *row) {
        const char *name = row->prospect ?: row->trial.name;
        g_autoptr(KitRun) run = stage_start_alone(stage, &row->trial, row->limits);
        bool is_said, is_seen;

        kit_finish(run);
        is_said = run->status == ESCAPED;
        is_seen = row->trial.is_seen ? row->trial.is_seen(run, "") : is_said;
        stage_judge(stage, run, name, is_said || (row->trial.is_seen && is_seen), is_seen);
        if (is_said)
                is(record_text(run, "outcome"), "exited", "%s: %s: ends by itself",
                   stage_name(stage), name);
        else
                check_held(stage, row, run);
        note("%s: %s: %s", stage_name(stage), name, record_text(run, "message"));
        leftover_check(run, name);
}

int main(void) {
        Trial trials[G_N_ELEMENTS(rows)];

        stage_begin();
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(STAGE_PLAIN, &rows[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(STAGE_UNTRUSTED, &rows[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                trials[i] = (Trial){ .name = rows[i].prospect ?: rows[i].trial.name };
        stage_covers("bomb", trials, G_N_ELEMENTS(trials));
        stage_end();
        done_testing();
}
