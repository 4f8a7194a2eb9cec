/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of every kind. It is held whether the kernel kills or refuses; what counts is that no more was ever there, as
 * the slice's counter has it. */

#include <string.h>

#include "expect.h"
#include "leftover.h"
#include "stage.h"

#define LIMIT       "48M"
#define LIMIT_BYTES (48 << 20)
#define SLACK_BYTES (8 << 20) /* the kernel charges in batches */
#define WANTED_MIB  "192"

/* Those that differ most come first: the others only where there is time. */
static const char *const kinds[] = {
        "memory-anonymous", "memory-tmpfs",    "memory-pipes",  "memory-children",
        "memory-sockets",   "memory-segments", "memory-memfd",  "memory-shared",
        "memory-locked",    "memory-cache",    "memory-tables",
};
#define KINDS_BRIEF 4

static bool ends_as_it_may(const KitRun *run) {
        const char *outcome = record_text(run, "outcome");

        return (g_str_equal(outcome, "memory") && run->status == 137 &&
                record_is_true(run, "limits.memory.touched")) ||
               (g_str_equal(outcome, "exited") && run->status == 0);
}

static void test_kind(Stage stage, const char *kind) {
        Trial trial = { kind, { WANTED_MIB }, NULL };
        g_autoptr(KitRun) run = stage_start_alone(stage, &trial,
                                                  WORDS("--memory", LIMIT, "--timeout", "2m",
                                                        "--fsize", "infinity"));
        int64_t peak;

        kit_finish(run);
        peak = record_number(run, "usage.memory_peak_bytes");
        stage_judge(stage, run, kind, run->status == 10, peak > LIMIT_BYTES + SLACK_BYTES);
        if (!ok(ends_as_it_may(run), "%s: %s: the end is as it may be", stage_name(stage), kind))
                diag("%s%s", run->errors->str, run->record_text->str);
        note("%s: %s: %s, %s", stage_name(stage), kind, record_text(run, "message"),
             run->output->str);
        leftover_check(run, kind);
}

int main(void) {
        Trial trials[G_N_ELEMENTS(kinds)];

        stage_begin();
        for (size_t i = 0; i < (kit_is_brief() ? KINDS_BRIEF : G_N_ELEMENTS(kinds)); i++)
                test_kind(STAGE_PLAIN, kinds[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                test_kind(STAGE_UNTRUSTED, kinds[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                trials[i] = (Trial){ .name = kinds[i] };
        stage_covers("memory", trials, G_N_ELEMENTS(trials));
        stage_end();
        done_testing();
}
