/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whatever is wrong with a run is gathered first and then told with one point, so that a failure says all of it. */

#include "expect.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "leftover.h"

static void G_GNUC_PRINTF(2, 3) complain(GString *problems, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_string_append_vprintf(problems, format, arguments);
        va_end(arguments);
        g_string_append_c(problems, '\n');
}

static void tell(GString *problems, const KitRun *run, const char *name, const char *what) {
        if (ok(problems->len == 0, "%s: %s", name, what))
                return;
        diag("%s", problems->str);
        diag("stdout: %s", run->output->str);
        diag("stderr: %s", run->errors->str);
        diag("record: %s", run->record_text->str);
}

/* Reading a record */

const cJSON *record_at(const KitRun *run, const char *path) {
        g_auto(GStrv) keys = g_strsplit(path, ".", -1);
        const cJSON *item = run->record;

        for (char **key = keys; *key && item; key++)
                item = cJSON_GetObjectItemCaseSensitive(item, *key);
        return item;
}

const char *record_text(const KitRun *run, const char *path) {
        return cJSON_GetStringValue(record_at(run, path)) ?: "";
}

int64_t record_number(const KitRun *run, const char *path) {
        const cJSON *item = record_at(run, path);

        return cJSON_IsNumber(item) ? (int64_t)cJSON_GetNumberValue(item) : ABSENT;
}

bool record_is_true(const KitRun *run, const char *path) {
        return cJSON_IsTrue(record_at(run, path));
}

bool record_has_evidence(const KitRun *run, const char *pattern) {
        const cJSON *item;

        cJSON_ArrayForEach(
                item,
                record_at(run, "evidence")) if (g_pattern_match_simple(pattern,
                                                                       cJSON_GetStringValue(item)
                                                                               ?: "")) return true;
        return false;
}

/* How it ended */

static void check_text(GString *problems, const char *what, const char *got, const char *pattern) {
        if (!g_pattern_match_simple(pattern ?: "", got))
                complain(problems, "%s is \"%s\", not \"%s\"", what, got, pattern ?: "");
}

static void check_end(GString *problems, const KitRun *run, const Expected *expected) {
        if (run->is_hung)
                complain(problems, "it did not end and was killed");
        if (run->is_held)
                complain(problems, "somebody has its output still open");
        if (run->status != expected->status)
                complain(problems, "status is %d, not %d", run->status, expected->status);
        check_text(problems, "stderr", run->errors->str, expected->words);
        check_text(problems, "stdout", run->output->str, expected->said);
}

/* The form, which is the same for all */

static bool is_exhausted(const char *outcome) {
        static const char *const outcomes[] = { "memory", "timeout", "cpu-time", "fsize",
                                                "disk",   "output",  NULL };

        return g_strv_contains(outcomes, outcome);
}

static void check_is(GString *problems, const KitRun *run, const char *path, const char *value) {
        if (!value && record_at(run, path))
                complain(problems, "%s is there", path);
        else if (value && !g_str_equal(record_text(run, path), value))
                complain(problems, "%s is \"%s\", not \"%s\"", path, record_text(run, path), value);
}

static void check_bool(GString *problems, const KitRun *run, const char *path, bool value) {
        if (!cJSON_IsBool(record_at(run, path)) || record_is_true(run, path) != value)
                complain(problems, "%s is not %s", path, value ? "true" : "false");
}

static void check_number(GString *problems, const KitRun *run, const char *path, int64_t value) {
        if ((record_at(run, path) != NULL) != (value != ABSENT) ||
            record_number(run, path) != value)
                complain(problems, "%s is %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, path,
                         record_number(run, path), value);
}

static void check_names(GString *problems, const KitRun *run, const char *manager) {
        bool is_reached = manager != NULL;

        g_autofree char *unit = run->id ? leftover_program_unit(run->id) : NULL;
        const char *pool = record_text(run, "pool");
        g_autofree char *slice = run->id ? leftover_slice(pool, run->id) : NULL;

        check_number(problems, run, "schema", 1);
        check_is(problems, run, "id", run->id);
        check_is(problems, run, "mode", kit_is_scope() ? "scope" : "service");
        check_is(problems, run, "unit", is_reached ? unit : NULL);
        check_is(problems, run, "slice", is_reached ? slice : NULL);
        check_is(problems, run, "manager", manager);
}

static void check_command(GString *problems, const KitRun *run) {
        const cJSON *command = record_at(run, "command");
        int n = run->command ? (int)g_strv_length(run->command) : 0;

        if (!cJSON_IsArray(command) || cJSON_GetArraySize(command) != n) {
                complain(problems, "command does not have %d words", n);
                return;
        }
        for (int i = 0; i < n; i++) {
                g_autofree char *valid = g_utf8_make_valid(run->command[i], -1);

                if (g_strcmp0(cJSON_GetStringValue(cJSON_GetArrayItem(command, i)), valid) != 0)
                        complain(problems, "command[%d] is not \"%s\"", i, valid);
        }
}

static void check_time(GString *problems, const KitRun *run, const char *path) {
        if (!g_regex_match_simple("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$",
                                  record_text(run, path), 0, 0))
                complain(problems, "%s is \"%s\"", path, record_text(run, path));
}

/* What only a program that ran has. */
static void check_ran(GString *problems, const KitRun *run, bool is_unmeasured) {
        static const struct {
                const char *path;
                bool is_counter; /* of the slice */
        } measures[] = {
                { "usage.wall_usec", false },
                { "usage.cpu_usec", true },
                { "usage.memory_peak_bytes", true },
                { "usage.tasks_peak", true },
                { "outlived", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(measures); i++)
                if (!(measures[i].is_counter && is_unmeasured) &&
                    record_number(run, measures[i].path) < 0)
                        complain(problems, "%s is absent", measures[i].path);
        check_time(problems, run, "started_at");
        check_time(problems, run, "ended_at");
        if (strcmp(record_text(run, "started_at"), record_text(run, "ended_at")) > 0)
                complain(problems, "it ended before it was started");
        if (strlen(record_text(run, "invocation_id")) != 32)
                complain(problems, "invocation_id is \"%s\"", record_text(run, "invocation_id"));
        if (record_text(run, "systemd_version")[0] == '\0')
                complain(problems, "systemd_version is absent");
        if (record_text(run, "cordon_version")[0] == '\0')
                complain(problems, "cordon_version is absent");
}

static void check_form(GString *problems, const KitRun *run, const Expected *expected) {
        bool is_refused = g_str_equal(expected->outcome, "refused");
        bool is_ours = expected->error != NULL;

        if (!run->record) {
                complain(problems, "there is no record, or it is not one line of JSON");
                return;
        }
        if (strchr(run->record_text->str, '\n') != strrchr(run->record_text->str, '\n'))
                complain(problems, "the record is more than one line");
        check_names(problems, run,
                    is_refused && !record_at(run, "manager") ? NULL
                                                             : expected->manager ?: kit_manager());
        check_command(problems, run);
        if (!cJSON_IsObject(record_at(run, "labels")) ||
            !cJSON_IsObject(record_at(run, "limits")) || !cJSON_IsArray(record_at(run, "evidence")))
                complain(problems, "labels, limits or evidence is absent");
        if (record_text(run, "message")[0] == '\0')
                complain(problems, "message is absent");
        if (is_ours && !g_str_equal(record_text(run, "error.message"), record_text(run, "message")))
                complain(problems, "error.message is \"%s\"", record_text(run, "error.message"));
        if (!is_ours)
                check_ran(problems, run, expected->is_unmeasured);
}

/* What it says */

static void check_touched(GString *problems, const KitRun *run, const char *touched) {
        g_auto(GStrv) keys = g_strsplit(touched ?: "", " ", -1);
        const cJSON *limit;

        for (char **key = keys; *key && **key; key++)
                if (!cJSON_GetObjectItem(record_at(run, "limits"), *key))
                        complain(problems, "limits.%s is absent", *key);
        cJSON_ArrayForEach(limit, record_at(run, "limits")) {
                bool is_touched = cJSON_IsTrue(cJSON_GetObjectItem(limit, "touched"));
                bool is_meant = g_strv_contains((const char *const *)keys, limit->string);

                /* A machine that emulates its CPUs throttles whoever may have but one of them. */
                if (is_touched != is_meant && !(kit_is_slow() && strcmp(limit->string, "cpu") == 0))
                        complain(problems, "limits.%s.touched is %s", limit->string,
                                 is_touched ? "true" : "not true");
        }
}

static void check_signal(GString *problems, const KitRun *run, int number) {
        g_autofree char *name = number ? g_strconcat("SIG", sigabbrev_np(number), NULL) : NULL;

        check_number(problems, run, "signal", number ? number : ABSENT);
        check_is(problems, run, "signal_name", name);
        if ((record_at(run, "core_dumped") != NULL) != (number != 0))
                complain(problems, "core_dumped is %s", number ? "absent" : "there");
}

static void check_record(GString *problems, const KitRun *run, const Expected *expected) {
        bool is_ok = g_str_equal(expected->outcome, "exited") && expected->exit_code == 0;

        if (!run->record)
                return;
        check_is(problems, run, "outcome", expected->outcome);
        check_bool(problems, run, "ok", is_ok);
        check_bool(problems, run, "resource_exhausted", is_exhausted(expected->outcome));
        check_bool(problems, run, "cancelled", g_str_equal(expected->outcome, "cancelled"));
        check_number(problems, run, "exit_code", expected->exit_code);
        check_signal(problems, run, expected->signal);
        check_is(problems, run, "error.code", expected->error);
        if (!expected->error && record_at(run, "error"))
                complain(problems, "error is there");
        if (expected->message)
                check_text(problems, "message", record_text(run, "message"), expected->message);
        check_touched(problems, run, expected->touched);
}

void expect(const KitRun *run, const Expected *expected, const char *name) {
        static const struct {
                void (*check)(GString *problems, const KitRun *run, const Expected *expected);
                const char *what;
        } points[] = {
                { check_end, "ends as it must" },
                { check_form, "its record keeps the form" },
                { check_record, "its record says so" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(points); i++) {
                g_autoptr(GString) problems = g_string_new(NULL);

                points[i].check(problems, run, expected);
                tell(problems, run, name, points[i].what);
        }
        leftover_check(run, name);
}

void expect_limit(const KitRun *run, const char *key, int64_t requested, int64_t effective,
                  const char *by) {
        g_autoptr(GString) problems = g_string_new(NULL);
        g_autofree char *asked = g_strdup_printf("limits.%s.requested", key);
        g_autofree char *holds = g_strdup_printf("limits.%s.effective", key);
        g_autofree char *carrier = g_strdup_printf("limits.%s.by", key);
        g_autofree char *enforced = g_strdup_printf("limits.%s.enforced", key);

        check_number(problems, run, asked, requested);
        check_number(problems, run, holds, effective);
        check_is(problems, run, carrier,
                 kit_is_scope() && g_str_has_prefix(by, "Limit") ? "setrlimit" : by);
        check_bool(problems, run, enforced, true);
        tell(problems, run, key, "is requested and effective side by side");
}
