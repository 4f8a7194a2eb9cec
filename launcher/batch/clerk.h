/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What becomes of a job's record: a line for the reader, its files where --output-dir wants them, and a number in what
 * people see. */

#include "launcher/record.h"
#include "outbox.h"
#include "store.h"
#include "tally.h"
#include "task.h"

/* All borrowed. */
typedef struct {
        Store *store; /* NULL: no files */
        Outbox *outbox;
        Tally *tally;
} Clerk;

/* What was to be kept and could not be, in words for people; NULL: nothing. */
char *clerk_put(const Clerk *clerk, const Task *task,
                RecordSource *source) G_GNUC_WARN_UNUSED_RESULT;
