/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One start-to-end case: a program, a fault, and a subject that lives through them. The runner makes the loop and the
 * manager, runs until the subject says that it is over, and looks after what no case may do: hang, leave descriptors
 * open, leave units behind. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "fake.h"
#include "fault.h"

typedef struct Case Case;

/* What is under test. */
typedef struct {
        void *(*begin)(
                Case *run,
                sd_bus *bus); /* starts the unit of CASE_UNIT in CASE_SLICE; the bus is borrowed */
        char *(*end)(void *subject); /* what it came to, in one line; frees the subject */
        bool is_timed;               /* has deadlines of its own */
} Subject;

#define CASE_UNIT  "cordon-x.service"
#define CASE_SLICE "cordon-x.slice"
#define CASE_NEVER (-1)

typedef struct CaseRow CaseRow;
typedef struct CaseResult CaseResult;

struct CaseRow {
        const Subject *subject;
        ProgramKind program;
        FaultKind fault;
        int drop_after; /* this many messages; CASE_NEVER */
        bool (*is_good)(const CaseRow *row,
                        const CaseResult *result); /* where no one line is expected */
        const char *expected;                      /* the line, else */
};

struct CaseResult {
        char *line; /* of the subject; "hangs: …" when it was not over in time */
        char *left; /* units that are still there, by name; NULL when the manager is gone or has none */
        char *log; /* what went over the wire */
        int fds;   /* open now that were not before */
        unsigned n_messages;
        FakeTold told;
};

void case_run(const CaseRow *row, CaseResult *ret_result);
void case_result_clear(CaseResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CaseResult, case_result_clear)

/* For subjects */
sd_event *case_event(const Case *run);
Fake *case_fake(const Case *run);
const Program *case_program(const Case *run);
const Fault *case_fault(const Case *run);
unsigned case_slowness(
        const Case *run); /* so many times longer than at first should deadlines be: 1, 8, 64 */
sd_bus *case_reconnect(Case *run); /* borrowed; NULL: the manager is gone for good */
void case_is_over(Case *run);
