/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What people see of a batch: a line that is drawn over itself and never stands in a record, a table in the end, and
 * neither where nobody looks. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"
#include "seat.h"

#define WIPE "\r\033[K"

static char *make_jobs(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        for (int i = 0; i < 3; i++)
                batch_add(jobs, NULL, NULL, VICTIM("nap", i == 2 ? "900" : "400"));
        return batch_file("jobs", jobs->str);
}

static KitRun *sit(const Seat *seat, const char *const *options) {
        KitOrder order = { .program = kit_cordon(), .terminal_fd = seat->fd, .command = options };

        return kit_start(&order);
}

/* What stands on a line in the end: what was drawn before was wiped. */
static const char *last_drawn(const char *line) {
        const char *wipe = g_strrstr(line, WIPE);

        return wipe ? wipe + strlen(WIPE) : line;
}

static void test_terminal(const char *jobs) {
        Seat seat = seat_new(24, 70);
        g_autoptr(KitRun) run = sit(&seat, WORDS("batch", "--parallel", "3", "--ordered", jobs));
        unsigned records = 0, others = 0;

        kit_finish(run);

        g_auto(GStrv) lines = g_strsplit(run->output->str, "\r\n", -1);

        for (char **line = lines; *line; line++) {
                const char *text = last_drawn(*line);
                cJSON *record = text[0] == '{' ? kit_parse_record(text, NULL) : NULL;

                records += record != NULL;
                others += !record && strchr(text, '{') != NULL;
                cJSON_Delete(record);
        }
        cmp_ok(run->status, "==", 0, "at a terminal: the status");
        cmp_ok(records, "==", 3, "at a terminal: each record has a line of its own");
        cmp_ok(others, "==", 0, "and nothing else stands on it");
        like(run->output->str, "[0-9] done, [0-9] running", "it says how it goes");
        like(run->output->str, "cordon: 3 jobs, 3 ok, in [0-9.]+s",
             "and in the end what came of it");
        like(run->output->str, "  exited +3 +[0-9.]+s", "by outcome");
        like(run->output->str, "  slowest: [a-z0-9]+\\.2 \\(line 3\\) [0-9.]+s, ",
             "with the slowest");
        seat_check(&seat, "at a terminal");
        seat_close(&seat);
}

static void test_quiet(const char *jobs) {
        Seat seat = seat_new(24, 70);
        g_autoptr(KitRun) run = sit(&seat, WORDS("batch", "--parallel", "3", "-q", jobs));

        kit_finish(run);
        ok(!strstr(run->output->str, "running") && !strstr(run->output->str, "cordon:"),
           "-q: not a word");
        seat_close(&seat);
}

static void test_interrupt(void) {
        Seat seat = seat_new(24, 70);
        g_autoptr(GString) jobs = g_string_new(NULL);
        g_autofree char *path = NULL, *log = batch_file("log", "");

        batch_add(jobs, NULL, NULL,
                  WORDS("sh", "-c", "echo >>\"$0\"; exec \"$1\" pause", log, kit_victim()));
        path = batch_file("pausing", jobs->str);

        g_autoptr(KitRun) run = sit(&seat, WORDS("batch", path));

        (void)batch_wait_size(log, 1);
        seat_type(&seat, "\x18");
        kit_finish(run);
        cmp_ok(run->status, "==", 130, "the key that interrupts ends it");
        like(run->output->str, "\"outcome\":\"cancelled\"", "and its job has a record");
        seat_check(&seat, "interrupted");
        seat_close(&seat);
}

/* Nobody sits there, and it was asked for. */
static void test_asked(const char *jobs) {
        g_autoptr(KitRun) asked = batch_run(WORDS("--parallel", "3", "--progress", jobs), "");
        g_autoptr(KitRun) unasked = batch_run(WORDS("--parallel", "3", jobs), "");
        g_autoptr(GPtrArray) records = batch_records(asked->output->str);

        cmp_ok(records->len, "==", 3, "--progress: records and nothing else on stdout");
        like(asked->errors->str, "^cordon: 3 jobs, 3 ok, ", "--progress: the table on stderr");
        ok(!strstr(asked->errors->str, "\033"), "and nothing that only a terminal understands");
        is(unasked->errors->str, "", "without it nothing");
}

int main(void) {
        kit_init();

        g_autofree char *jobs = make_jobs();

        test_terminal(jobs);
        test_quiet(jobs);
        test_interrupt();
        test_asked(jobs);
        leftover_check_guard("after batches at a terminal");
        kit_clear();
        done_testing();
}
