/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "choices.h"

#include <string.h>

#include "launcher/kernel/cpus.h"
#include "launcher/kernel/error.h"
#include "units/cause.h"
#include "units/nearest.h"
#include "units/parse.h"
#include "units/text.h"

#define TEXT_SHOWN   40
#define PARALLEL_MAX 100000

static bool refuse(const char *option, const char *value, const char *accepted, GError **error) {
        g_autofree char *shown = text_printable(value, TEXT_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "%s: \"%s\" is not accepted; accepted: %s", option, shown, accepted);
        return false;
}

static bool take_count(const char *option, const char *value, uint64_t min, uint64_t *place,
                       GError **error) {
        g_autofree char *accepted = g_strdup_printf("%d to %d", (int)min, PARALLEL_MAX);
        uint64_t count;

        if (parse_count(value, &count) != PARSE_OK || count < min || count > PARALLEL_MAX)
                return refuse(option, value, accepted, error);
        *place = count;
        return true;
}

static bool take_parallel(Options *options, const char *value, GError **error) {
        return take_count("--parallel", value, 1, &options->batch.parallel, error);
}

static bool take_retry(Options *options, const char *value, GError **error) {
        return take_count("--retry", value, 0, &options->batch.retries, error);
}

static bool take_limit_failures(Options *options, const char *value, GError **error) {
        return take_count("--limit-failures", value, 1, &options->batch.failures, error);
}

static bool find_outcome(const char *word, unsigned *outcomes) {
        for (int i = 0; i < _OUTCOME_MAX; i++)
                if (strcmp(outcome_info((Outcome)i)->word, word) == 0) {
                        *outcomes |= 1U << i;
                        return true;
                }
        return false;
}

static bool refuse_outcome(const char *option, const char *word, GError **error) {
        const char *words[_OUTCOME_MAX + 1] = { NULL };
        g_autofree char *meant = NULL, *accepted = NULL;
        g_autofree char *shown = text_printable(word, TEXT_SHOWN);

        for (int i = 0; i < _OUTCOME_MAX; i++)
                words[i] = outcome_info((Outcome)i)->word;
        meant = nearest_of(word, words);
        accepted = g_strjoinv(", ", (char **)words);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "%s: \"%s\" is not accepted%s; accepted: %s", option, shown, meant, accepted);
        return false;
}

/* Given again, they add up. */
static bool take_outcomes(const char *option, const char *value, unsigned *place, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, ",", -1);
        unsigned outcomes = *place;

        for (char **word = words; *word; word++)
                if (!find_outcome(*word, &outcomes))
                        return refuse_outcome(option, *word, error);
        if (!words[0])
                return refuse_outcome(option, value, error);
        *place = outcomes;
        return true;
}

static bool take_retry_on(Options *options, const char *value, GError **error) {
        return take_outcomes("--retry-on", value, &options->batch.retry_on, error);
}

static bool take_stop_on(Options *options, const char *value, GError **error) {
        return take_outcomes("--stop-on", value, &options->batch.stop_on, error);
}

static bool take_resume(Options *options, const char *value, GError **error) {
        text_replace(&options->batch.resume, value);
        return true;
}

static bool take_output_dir(Options *options, const char *value, GError **error) {
        if (value[0] == '\0')
                return refuse("--output-dir", value, "a directory", error);
        text_replace(&options->batch.output_dir, value);
        return true;
}

static bool take_check(Options *options, const char *value, GError **error) {
        options->batch.is_check = true;
        return true;
}

static bool take_strict(Options *options, const char *value, GError **error) {
        options->batch.is_strict = true;
        return true;
}

static bool take_ordered(Options *options, const char *value, GError **error) {
        options->batch.is_ordered = true;
        return true;
}

static bool take_progress(Options *options, const char *value, GError **error) {
        options->batch.has_progress = true;
        return true;
}

bool choices_take_file(Options *options, const char *word, GError **error) {
        g_autofree char *shown = options->batch.file ? text_printable(word, TEXT_SHOWN) : NULL;

        if (!shown) {
                options->batch.file = word;
                return true;
        }
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                    "batch takes one file with jobs, not \"%s\" as well", shown);
        return false;
}

#define ALONE (OPTION_NOT_IN_JOB | OPTION_BATCH_ALONE)

/* clang-format off */
static const OptionInfo rows[] = {
        { "parallel",       0, "N",           OPTION_GROUP_JOBS,    take_parallel,   "at most so many at a time (default: CPUs)", ALONE },
        { "check",          0, NULL,          OPTION_GROUP_JOBS,    take_check,      "look at every line of FILE, start nothing", ALONE },
        { "resume",         0, "FILE",        OPTION_GROUP_JOBS,    take_resume,     "not those whose records are in there", ALONE },
        { "retry",          0, "N",           OPTION_GROUP_JOBS,    take_retry,      "try a job so often again (default: 0)", ALONE },
        { "retry-on",       0, "OUTCOME,...", OPTION_GROUP_JOBS,    take_retry_on,   "when it ends like this (default: lost)", ALONE },
        { "stop-on",        0, "OUTCOME,...", OPTION_GROUP_JOBS,    take_stop_on,    "begin no more once one ends like this", ALONE },
        { "limit-failures", 0, "N",           OPTION_GROUP_JOBS,    take_limit_failures, "begin no more once so many are not ok", ALONE },
        { "strict",         0, NULL,          OPTION_GROUP_JOBS,    take_strict,     "end with 1 when a record is not ok", ALONE },
        { "progress",       0, NULL,          OPTION_GROUP_JOBS,    take_progress,   "say how it goes (default: on a terminal)", ALONE },
        { "ordered",        0, NULL,          OPTION_GROUP_RECORD,  take_ordered,    "records in the order of the jobs", ALONE },
        { "output-dir",     0, "DIR",         OPTION_GROUP_RECORD,  take_output_dir, "output and records into files there", ALONE },
};
/* clang-format on */

const OptionInfo *choices_at(size_t index) {
        return index < G_N_ELEMENTS(rows) ? &rows[index] : NULL;
}

size_t choices_count(void) {
        return G_N_ELEMENTS(rows);
}

uint64_t choices_parallel(const BatchChoices *choices) {
        g_auto(CpuList) cpus = { 0 };

        if (choices->parallel > 0)
                return choices->parallel;
        return cpus_read(0, &cpus) ? MAX(cpu_list_count(&cpus), 1) : 1;
}

unsigned choices_retry_on(const BatchChoices *choices) {
        return choices->retry_on ?: 1U << OUTCOME_LOST;
}
