/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Outliving the deadline or the main process, and records that are not cordon's. An escape is what is still there, or a
 * record that says something else than what happened. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "outside.h"
#include "stage.h"

#define GONE_USEC     (1 * KIT_SEC)
#define WALL_USEC     (4 * KIT_SEC)  /* one second and the grace, with much to spare */
#define BACKSTOP_USEC (50 * KIT_SEC) /* deadline, grace, and half a minute */
#define AS_IT_WAS     "as it was\n"
#define BOUNDS        "--memory", "64M", "--tasks", "40"
#define HAS_SECONDS   BOUNDS, "--timeout", "1s", "--grace", "500ms"

typedef struct {
        Trial trial;
        const char *const *limits;
        const char *outcome;
        int status;
} Row;

/* clang-format off */
static const Row rows[] = {
        { { "stop-self",        { NULL } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "ignore-signals",   { NULL } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "hide-in-vfork",    { NULL } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "hide-in-trace",    { NULL } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "stopped-children", { NULL } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "notify",           { "@notify-sockets" } }, WORDS(HAS_SECONDS), "timeout", 124 },
        { { "daemonise",        { NULL } }, WORDS(BOUNDS, "--timeout", "1m"), "exited", 3 },
        { { "orphans",          { NULL } }, WORDS(BOUNDS, "--timeout", "1m"), "exited", 3 },
        { { "forge-record",     { NULL } }, WORDS(BOUNDS, "--timeout", "1m", "--capture"), "exited", 3 },
};
/* clang-format on */

static bool is_true_record(const KitRun *run, const char *outcome) {
        return run->record && g_str_equal(record_text(run, "id"), run->id) &&
               g_str_equal(record_text(run, "outcome"), outcome);
}

static void test_row(Stage stage, const Row *row) {
        g_autoptr(KitRun) run = stage_start_alone(stage, &row->trial, row->limits);
        bool is_gone, is_late, is_true;

        kit_finish(run);
        is_gone = leftover_wait(run, GONE_USEC) && !run->is_held;
        is_late = run->is_hung ||
                  (!kit_is_slow() && run->ended_usec - run->started_usec > WALL_USEC);
        is_true = is_true_record(run, row->outcome) && run->status == row->status;
        stage_judge(stage, run, row->trial.name, !is_gone || is_late || !is_true,
                    !is_gone || is_late || !is_true);
        if (!is_gone || is_late || !is_true)
                diag("status %d: %s%s", run->status, run->errors->str, run->record_text->str);
        note("%s: %s: %s", stage_name(stage), row->trial.name, record_text(run, "message"));
}

static void test_diverted(Stage stage) {
        g_autofree char *record = g_build_filename(stage_known("workspace"), "record", NULL);
        g_autofree char *target = g_build_filename(stage_known("directory"), "outside", "target",
                                                   NULL);
        g_autofree char *text = NULL, *there = NULL;
        Trial trial = { "divert-record", { "@record", "@target" }, NULL };
        struct stat info;
        bool is_kept;

        (void)unlink(record);
        if (!g_file_set_contents(target, AS_IT_WAS, -1, NULL))
                BAIL_OUT("cannot write %s", target);
        stage_know("record", "%s", record);
        stage_know("target", "%s", target);

        g_autoptr(KitRun)
                run = stage_start_alone(stage, &trial, WORDS(BOUNDS, "--record", "@record"));

        kit_finish(run);
        (void)g_file_get_contents(target, &text, NULL, NULL);
        (void)g_file_get_contents(record, &there, NULL, NULL);
        is_kept = g_strcmp0(text, AS_IT_WAS) == 0;
        stage_judge(stage, run, trial.name, !is_kept, !is_kept);
        ok(lstat(record, &info) == 0 && S_ISREG(info.st_mode) && kit_is_record(there),
           "%s: the record is where it was asked for", stage_name(stage));
        leftover_check(run, trial.name);
}

static void test_preload(Stage stage) {
        g_autofree char *library = kit_program("escape-preload.so");
        g_autofree char *file = g_build_filename(stage_known("workspace"), "preloaded", NULL);
        g_autofree char *variable = g_strconcat("LD_PRELOAD=", library, NULL);
        g_autofree char *where = g_strconcat("ESCAPE_PRELOAD_FILE=", file, NULL);
        g_autofree char *names = NULL;
        Trial trial = { "preload", { NULL }, NULL };
        bool is_more;

        (void)unlink(file);

        g_autoptr(KitRun)
                run = stage_start_alone(stage, &trial,
                                        stage == STAGE_UNTRUSTED
                                                ? WORDS(BOUNDS, "-E", variable, "-E", where, "--ro",
                                                        library)
                                                : WORDS(BOUNDS, "-E", variable, "-E", where));

        kit_finish(run);
        (void)g_file_get_contents(file, &names, NULL, NULL);
        is_more = g_strcmp0(names, "attempt\n") != 0;
        stage_judge(stage, run, trial.name, is_more, is_more);
        if (is_more)
                diag("loaded by: %s; %s%s%s", names ?: "nobody", run->output->str, run->errors->str,
                     run->record_text->str);
        leftover_check(run, trial.name);
}

/* Where it comes off, that is what the plain mode is: whoever is the caller's user can do it. */
static void test_at_launcher(Stage stage, const char *name) {
        Trial trial = { name, { NULL }, NULL };
        g_autoptr(KitRun) run = stage_start_alone(stage, &trial, WORDS(BOUNDS, "--timeout", "1m"));
        bool is_changed;

        kit_finish(run);
        is_changed = !is_true_record(run, "exited");
        stage_judge(stage, run, name, is_changed, is_changed);
        if (!is_changed)
                cmp_ok(run->status, "==", 0, "%s: %s: it was tried", stage_name(stage), name);
        note("%s: %s: %s", stage_name(stage), name, run->output->str);
        leftover_check(run, name);
}

static bool is_dead(const void *what) {
        const KitRun *run = what;
        g_autoptr(GArray) pids = leftover_processes(run->id);

        /* the launcher itself has the mark */
        return pids->len <= 1;
}

/* The manager keeps the deadline later than the launcher would: others are tried meanwhile. */
static KitRun *begin_stopped_launcher(Stage stage) {
        Trial trial = { "stop-launcher", { NULL }, NULL };

        return stage_start_alone(stage, &trial, WORDS(HAS_SECONDS));
}

static void end_stopped_launcher(Stage stage, KitRun *stopped) {
        Trial trial = { "stop-launcher", { NULL }, NULL };
        g_autoptr(KitRun) run = stopped;
        bool is_over;

        (void)kit_wait_process(run->pidfd, WALL_USEC / 2);
        is_over = kit_wait_until(is_dead, run, kit_patience(BACKSTOP_USEC));
        kit_signal(run, SIGCONT);
        kit_finish(run);
        is_over = is_over && is_true_record(run, "timeout");
        stage_judge(stage, run, trial.name, !is_over, !is_over);
        if (!is_over)
                diag("status %d: %s%s", run->status, run->errors->str, run->record_text->str);
        leftover_check(run, trial.name);
}

/* Its word alone: nothing is changed. */
static void test_trace(Stage stage) {
        Trial trial = { "trace-launcher", { NULL }, NULL };
        g_autoptr(KitRun) run = stage_start_alone(stage, &trial, WORDS(BOUNDS, "--timeout", "1m"));
        bool is_said;

        kit_finish(run);
        is_said = run->status == 10;
        stage_judge(stage, run, trial.name, is_said, is_said);
        ok(is_said || run->status == 0, "%s: %s: it was tried", stage_name(stage), trial.name);
        note("%s: %s: %s", stage_name(stage), trial.name, run->output->str);
        leftover_check(run, trial.name);
}

static void test_stage(Stage stage) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(stage, &rows[i]);
        test_diverted(stage);
        test_preload(stage);
        test_at_launcher(stage, "signal-launcher");
        test_at_launcher(stage, "forge-at-launcher");
        test_trace(stage);
}

int main(void) {
        static const char *const others[] = { "divert-record",   "preload",
                                              "signal-launcher", "forge-at-launcher",
                                              "stop-launcher",   "trace-launcher" };
        Trial trials[G_N_ELEMENTS(rows) + G_N_ELEMENTS(others)];
        KitRun *plain, *untrusted;

        stage_begin();
        outside_know_manager();
        stage_know("notify-sockets", "%s/systemd/notify:/run/systemd/notify",
                   stage_known("manager-directory"));
        plain = kit_is_brief() ? NULL : begin_stopped_launcher(STAGE_PLAIN);
        untrusted = begin_stopped_launcher(STAGE_UNTRUSTED);
        test_stage(STAGE_PLAIN);
        test_stage(STAGE_UNTRUSTED);
        if (plain)
                end_stopped_launcher(STAGE_PLAIN, plain);
        end_stopped_launcher(STAGE_UNTRUSTED, untrusted);
        for (size_t i = 0; i < G_N_ELEMENTS(trials); i++)
                trials[i] = i < G_N_ELEMENTS(rows)
                                    ? rows[i].trial
                                    : (Trial){ .name = others[i - G_N_ELEMENTS(rows)] };
        stage_covers("life", trials, G_N_ELEMENTS(trials));
        stage_end();
        done_testing();
}
