/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The record: everything a script is told of a run, as one JSON object (CONTRACT has the keys). A key that is not known
 * is absent. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/capture.h"
#include "launcher/readback.h"
#include "units/cause.h"
#include "units/facts.h"
#include "units/spec.h"

/* Which job of a batch it was. */
typedef struct {
        const char *id;    /* the job's; the spec's, and so its units', may be another's */
        uint64_t index;    /* of the jobs, from 0 */
        uint64_t line;     /* of what they were read from, from 1 */
        uint64_t attempts; /* that were made */
        char *files[CAPTURE_STREAMS]; /* where its output is, by descriptor; NULL: in the record */
} RecordPlace;

typedef struct {
        const Spec *spec;
        const Facts *facts;
        const Verdict *verdict;
        const Readback *readback;       /* NULL: nothing was started */
        const Capture *output, *errors; /* NULL: not captured */
        const char *manager;            /* "system", "user", "private"; NULL: none was reached */
        const char *manager_version;    /* NULL: unknown, likewise the next */
        const char *invocation_id;
        const RecordPlace *place; /* NULL: it was the only one */
        uint32_t unapplied; /* GATE_UNAPPLIED_…: what of the caller's world it did not have */
} RecordSource;

typedef void (*RecordPut)(void *userdata, const char *data, size_t size);

/* One line without a newline, or indented for people, piece by piece: captured output is large and has no second copy. */
void record_put(const RecordSource *source, bool is_pretty, RecordPut put, void *userdata);
