/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What came of the jobs so far, and how that is told to people: one line while they run, a table when they are done.
 * Pure: times are given. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "units/cause.h"
#include "units/facts.h"

#define TALLY_PEAKS 3

typedef struct {
        uint64_t value; /* 0: nobody's */
        char *id;       /* owned */
        uint64_t line;
} TallyPeak;

typedef struct {
        uint64_t done, ok;
        uint64_t outcomes[_OUTCOME_MAX];
        uint64_t outcome_cpu_usec[_OUTCOME_MAX];
        uint64_t cpu_usec;
        TallyPeak slowest[TALLY_PEAKS], hungriest[TALLY_PEAKS]; /* most first */
} Tally;

void tally_clear(Tally *tally);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tally, tally_clear)

void tally_add(Tally *tally, const Verdict *verdict, const Facts *facts, const char *id,
               uint64_t line);

/* "12 done, 4 running, 3 failed (timeout 1, exited 2), 40.1/s, about 12s left", at most so wide. total 0: not known. */
char *tally_line(const Tally *tally, uint64_t running, uint64_t total, uint64_t elapsed_usec,
                 size_t width);

/* Lines that end with a newline each. */
char *tally_table(const Tally *tally, uint64_t elapsed_usec);
