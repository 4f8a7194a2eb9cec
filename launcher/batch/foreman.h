/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A batch: jobs from an intake, many launches at a time on one loop and one connection, records to an outbox. It begins
 * no more than it may, loses none, and ends when every job has its record, when it is told to, or when there is nobody
 * left to tell. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "intake.h"
#include "launcher/kernel/caller.h"
#include "launcher/options.h"
#include "launcher/profile/shelf.h"
#include "ledger.h"
#include "store.h"
#include "tally.h"

typedef struct {
        const Options *options; /* all borrowed */
        char **words;           /* they were read from these */
        ProfileShelf *shelf;
        const Caller *caller;
        Intake *intake;
        Ledger *ledger;
        Store *store; /* NULL: output goes into records */
        int output_fd;
        bool has_progress;
} ForemanOrder;

typedef struct {
        Tally tally;
        uint64_t elapsed_usec;
        int cancel_signal; /* 0: it was not cancelled */
        bool is_cut_short; /* there were jobs left that did not begin */
        char *failure;     /* its own, a sentence; NULL: none; owned */
} ForemanReport;

void foreman_report_clear(ForemanReport *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ForemanReport, foreman_report_clear)

/* Runs them all. False: nothing was started. */
bool foreman_run(const ForemanOrder *order, ForemanReport *ret_report,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
