/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Options and values come from their tables; what is here alone are the examples and the statuses. */

#include "help.h"

#include <glib.h>

#include "launcher/options.h"
#include "units/cause.h"
#include "units/wrap.h"

#define VALUE_BEGIN 9

static const char *const examples[] = {
        "cordon run --memory 256M --timeout 30s -- make check",
        "cordon run --json --cpu-time 10s -- ./solve < input",
        "cordon run --record run.json --tasks 64 --stdin null -- ./server",
};

static const struct {
        const char *status, *words;
} statuses[] = {
        { "0-255", "the command's own" },
        { "124", "its --timeout or --cpu-time was over" },
        { "125", "cordon failed: the request was refused, or the end could not be learnt" },
        { "126", "the command was found, but cannot be executed" },
        { "127", "the command was not found" },
        { "128+n", "signal n ended it (memory, disk, output: 137; fsize: 153), or cancels" },
};

static void print_outcomes(FILE *stream) {
        g_autoptr(GString) words = g_string_new(NULL);
        g_autoptr(GString) lines = g_string_new("  OUTCOME\n         ");

        for (int i = 0; i < _OUTCOME_MAX; i++)
                g_string_append_printf(words, "%s%s", i > 0 ? ", " : "",
                                       outcome_info((Outcome)i)->word);
        wrap_append(lines, words->str, VALUE_BEGIN, VALUE_BEGIN);
        (void)fputs(lines->str, stream);
}

/* Each kind of value once, in the order of the limits. */
static void print_values(FILE *stream, const char *verb) {
        unsigned shown = 0;

        fprintf(stream, "\nValues (infinity lifts a limit):\n");
        for (int i = 0; i < _LIMIT_MAX; i++) {
                const LimitInfo *limit = limit_info((Limit)i);
                const LimitUnitInfo *unit = limit_unit_info(limit->unit);

                if (shown & (1U << limit->unit))
                        continue;
                shown |= 1U << limit->unit;
                fprintf(stream, "  %-7s%s%s%s\n", limit->value_name, unit->accepted,
                        unit->example ? ": " : "", unit->example ?: "");
        }
        if (g_strcmp0(verb, VERB_BATCH) == 0)
                print_outcomes(stream);
}

void help_print_run(FILE *stream) {
        fprintf(stream, "Usage: cordon run [OPTIONS] [--] COMMAND [ARG...]\n\n"
                        "Runs COMMAND under limits and ends with its exit status.\n");
        options_print(stream, NULL);
        print_values(stream, NULL);
        fprintf(stream, "\nExamples:\n");
        for (size_t i = 0; i < G_N_ELEMENTS(examples); i++)
                fprintf(stream, "  %s\n", examples[i]);
        fprintf(stream, "\nExit status:\n");
        for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
                fprintf(stream, "  %-7s%s\n", statuses[i].status, statuses[i].words);
        fprintf(stream, "\nThe manual: cordon-run(1); the record: cordon-outcome(5).\n");
}

void help_print_shell(FILE *stream) {
        fprintf(stream, "Usage: cordon shell [OPTIONS]\n\n"
                        "Starts a login shell under limits, says once what it is held to, and ends "
                        "with\nits exit status. It is a scope, or a service where a scope cannot "
                        "carry what is\nasked (--untrusted, --net allow, most of -p).\n");
        options_print(stream, VERB_SHELL);
        print_values(stream, VERB_SHELL);
        fprintf(stream, "\nExamples:\n"
                        "  cordon shell --memory 2G --tasks 200\n"
                        "  cordon shell --net none --fs strict --workspace build\n"
                        "\nExit status: the shell's own; else as that of cordon run.\n"
                        "\nThe manual: cordon-shell(1).\n");
}

static const struct {
        const char *status, *words;
} batch_statuses[] = {
        { "0", "every job has its record" },
        { "1", "--strict, and one is not ok; or --stop-on or a limit left jobs out" },
        { "125", "cordon failed: an option, the manager, the records' place; --check" },
        { "128+n", "signal n cancelled it" },
};

void help_print_batch(FILE *stream) {
        fprintf(stream, "Usage: cordon batch [OPTIONS] [FILE]\n\n"
                        "Runs the jobs of FILE or standard input, one JSON object a line, many at "
                        "once.\nA record a line comes of them. Options hold for all jobs; what a "
                        "job says wins.\n");
        options_print(stream, VERB_BATCH);
        print_values(stream, VERB_BATCH);
        fprintf(stream, "\nExamples:\n"
                        "  cordon batch --timeout 10s --memory 256M jobs.jsonl >records.jsonl\n"
                        "  generate | cordon batch --untrusted --parallel 4 | judge\n");
        fprintf(stream, "\nExit status:\n");
        for (size_t i = 0; i < G_N_ELEMENTS(batch_statuses); i++)
                fprintf(stream, "  %-7s%s\n", batch_statuses[i].status, batch_statuses[i].words);
        fprintf(stream, "\nThe manual: cordon-batch(1); jobs: cordon-run(1); records: "
                        "cordon-outcome(5).\n");
}

void help_print_profile(FILE *stream) {
        fprintf(stream, "Usage: cordon profile [OPTIONS] [NAME]\n\n"
                        "Lists the profiles that --profile takes, or shows one: what it says, and "
                        "in\nwhich file and line.\n");
        options_print(stream, VERB_PROFILE);
        fprintf(stream, "\nExit status:\n"
                        "  0      all of them can be used\n"
                        "  125    one cannot, or there is none of that name\n"
                        "\nFiles, the later in place of the earlier one of its name:\n"
                        "  what came with cordon, /etc/cordon/profiles/NAME.conf,\n"
                        "  ~/.config/cordon/profiles/NAME.conf; in each also NAME.conf.d/*.conf\n"
                        "\nThe manual: cordon-profile(1); the files: cordon.conf(5).\n");
}

void help_print_doctor(FILE *stream) {
        fprintf(stream, "Usage: cordon doctor [OPTIONS]\n\n"
                        "Says what this machine and its managers can enforce, and what would help "
                        "where\nthey cannot. Each limit and each isolation option is tried in a "
                        "throw-away unit.\n");
        options_print(stream, "doctor");
        fprintf(stream,
                "\nExit status:\n"
                "  0      the manager that a run takes here can enforce all of --untrusted\n"
                "  1      it cannot\n"
                "  125    cordon failed: a mistake in an option\n"
                "\nThe manual: cordon-doctor(1).\n");
}
