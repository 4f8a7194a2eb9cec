/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a run must have come to: exit status, words on stderr, and the record. What is not named must be absent. */

#include "kit.h"

#define ABSENT (-1)

typedef struct {
        const char *outcome;
        int status;          /* of cordon */
        int exit_code;       /* ABSENT: has none */
        int signal;          /* 0: has none */
        const char *error;   /* error.code; NULL: has none */
        const char *message; /* of the record; "*" and "?" stand for anything; NULL: any */
        const char *words;   /* all of stderr, likewise; NULL: silent */
        const char *said;    /* all of stdout, likewise; NULL: silent */
        const char *touched; /* keys of limits, separated by spaces; NULL: none is touched */
        const char *manager; /* NULL: the one under test */
        bool is_unmeasured;  /* the slice may be gone before its counters are read */
} Expected;

/* Four points: how it ended, that its record keeps the form, what the record says, and that nothing is left. */
void expect(const KitRun *run, const Expected *expected, const char *name);

/* Finds "limits.memory.effective". */
const cJSON *record_at(const KitRun *run, const char *path);
const char *record_text(const KitRun *run, const char *path); /* "": absent */
int64_t record_number(const KitRun *run, const char *path);   /* ABSENT */
bool record_is_true(const KitRun *run, const char *path);
bool record_has_evidence(const KitRun *run, const char *pattern);

/* One point: requested and effective are as given, and it is enforced by this property. */
void expect_limit(const KitRun *run, const char *key, int64_t requested, int64_t effective,
                  const char *by);
