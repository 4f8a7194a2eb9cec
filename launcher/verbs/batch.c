/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon batch: many jobs, one record each. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "help.h"
#include "launcher/batch/choices.h"
#include "launcher/batch/foreman.h"
#include "launcher/batch/inspect.h"
#include "launcher/console.h"
#include "launcher/interrupt.h"
#include "launcher/kernel/error.h"
#include "launcher/layers.h"
#include "launcher/session.h"
#include "units/text.h"
#include "verbs.h"

#define STATUS_NOT_OK  1
#define STATUS_FAILURE 125

#define DESCRIPTORS       64 /* our own */
#define DESCRIPTORS_A_JOB 16 /* 14 were seen, while it runs */

/* Everything of one invocation. */
typedef struct {
        Options options;
        Caller caller;
        ProfileShelf *shelf;
        Intake *intake;
        Ledger ledger;
        Store *store;
} Batch;

static void batch_clear(Batch *batch) {
        intake_free(batch->intake);
        ledger_clear(&batch->ledger);
        store_free(batch->store);
        caller_clear(&batch->caller);
        profile_shelf_free(batch->shelf);
        options_clear(&batch->options);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Batch, batch_clear)

static void say(const char *text, const char *behind) {
        g_autofree char *shown = text_printable(text, G_MAXSIZE);
        g_autofree char *line = g_strdup_printf("cordon: %s%s%s", shown, behind,
                                                console_line_end(STDERR_FILENO));

        (void)!interrupt_write(STDERR_FILENO, line, strlen(line));
}

static int fail(const char *message) {
        interrupt_hold(); /* it is told, to whoever listens */
        say(message, "");
        return STATUS_FAILURE;
}

static int refuse(const GError *error) {
        interrupt_hold();
        say(error->message, launcher_error_is_mistake(error) ? "; see cordon batch --help" : "");
        return STATUS_FAILURE;
}

static bool parse(Batch *batch, char **argv, GError **error) {
        Options *options = &batch->options;

        options->verb = VERB_BATCH;
        if (!layers_parse(options, argv, error))
                return false;
        return options->is_help ||
               ((!options->command[0] || choices_take_file(options, options->command[0], error)) &&
                session_choose_manager(&options->manager, error));
}

/* main() has put something close-on-exec where the caller had nothing. */
static bool check_output(GError **error) {
        int flags = fcntl(STDOUT_FILENO, F_GETFD);

        if (flags >= 0 && !(flags & FD_CLOEXEC))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                    "standard output is closed, and records go there");
        return false;
}

/* What each job at a time needs is known, so it is refused before, and not in mid-batch. */
static bool check_descriptors(const BatchChoices *choices, GError **error) {
        uint64_t parallel = choices_parallel(choices);
        uint64_t needed = DESCRIPTORS + parallel * DESCRIPTORS_A_JOB;
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--parallel: %" G_GUINT64_FORMAT " at a time need %" G_GUINT64_FORMAT
                    " descriptors, and the hard limit is %" G_GUINT64_FORMAT
                    "; accepted: fewer, or a higher limit (ulimit -Hn)",
                    parallel, needed, (uint64_t)limit.rlim_cur);
        return false;
}

static bool wants_progress(const Options *options) {
        bool is_seen = isatty(STDERR_FILENO) && !options->is_json;

        return !options->is_quiet && (options->batch.has_progress || is_seen);
}

/* What was written so far is read before anything is added to it. */
static bool prepare(Batch *batch, GError **error) {
        const Options *options = &batch->options;
        const BatchChoices *choices = &options->batch;

        ledger_init(&batch->ledger);
        batch->shelf = profile_shelf_new();
        batch->intake = intake_open(choices->file, error);
        if (!batch->intake || !caller_read_namespaces(&batch->caller, error))
                return false;
        if (choices->is_check)
                return true;
        if (choices->output_dir && !(batch->store = store_open(choices->output_dir, error)))
                return false;
        return check_output(error) && check_descriptors(choices, error) &&
               (!choices->resume || ledger_read(&batch->ledger, choices->resume, error));
}

/* Checking */

static void tell_mistake(void *userdata, const char *text) {
        const Options *options = userdata;

        if (options->is_json)
                printf("%s\n", text);
        else if (!options->is_quiet)
                say(text, "");
}

static int check(const Batch *batch, const ForemanOrder *order) {
        g_autoptr(GError) error = NULL;
        uint64_t bad = 0;

        if (!intake_is_file(batch->intake))
                return fail("--check: jobs are checked in a file alone; see cordon batch --help");
        if (!inspect_jobs(order, batch->options.is_json, tell_mistake, (void *)&batch->options,
                          &bad, &error))
                return refuse(error);
        return bad > 0 ? STATUS_FAILURE : 0;
}

/* The end */

static void print_table(const ForemanReport *report) {
        g_autofree char *table = tally_table(&report->tally, report->elapsed_usec);
        g_autofree char *text = g_strconcat("cordon: ", table, NULL);

        (void)!interrupt_write(STDERR_FILENO, text, strlen(text));
}

static int status_of(const Batch *batch, const ForemanReport *report) {
        bool is_all_ok = report->tally.ok == report->tally.done && batch->ledger.not_ok == 0;

        if (report->cancel_signal)
                return 128 + report->cancel_signal;
        return report->is_cut_short || (batch->options.batch.is_strict && !is_all_ok)
                       ? STATUS_NOT_OK
                       : 0;
}

static int run(const Batch *batch, const ForemanOrder *order) {
        g_auto(ForemanReport) report = { 0 };
        g_autoptr(GError) error = NULL;

        if (!foreman_run(order, &report, &error))
                return refuse(error);
        if (order->has_progress)
                print_table(&report);
        return report.failure ? fail(report.failure) : status_of(batch, &report);
}

int verb_batch(char **argv) {
        g_auto(Batch) batch = { 0 };
        g_autoptr(GError) error = NULL;

        options_init(&batch.options);
        caller_read(&batch.caller); /* before anything of it is changed */
        interrupt_begin(batch.caller.signal_ignored);
        session_lift_own_limits();
        if (!parse(&batch, argv, &error))
                return refuse(error);
        if (batch.options.is_help) {
                help_print_batch(stdout);
                return 0;
        }
        if (!prepare(&batch, &error))
                return refuse(error);

        ForemanOrder order = { .options = &batch.options,
                               .words = argv,
                               .shelf = batch.shelf,
                               .caller = &batch.caller,
                               .intake = batch.intake,
                               .ledger = &batch.ledger,
                               .store = batch.store,
                               .output_fd = STDOUT_FILENO,
                               .has_progress = wants_progress(&batch.options) };

        return batch.options.batch.is_check ? check(&batch, &order) : run(&batch, &order);
}
