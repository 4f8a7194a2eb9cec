/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Facts → outcome. One pure function; a cause needs evidence, an exit code alone proves nothing. */

#include <glib.h>
#include <stdbool.h>

#include "facts.h"

typedef enum {
        OUTCOME_EXITED,
        OUTCOME_SIGNALED,
        OUTCOME_MEMORY,
        OUTCOME_TIMEOUT,
        OUTCOME_CPU_TIME,
        OUTCOME_FSIZE,
        OUTCOME_DISK,
        OUTCOME_OUTPUT,
        OUTCOME_CANCELLED,
        OUTCOME_NOT_STARTED,
        OUTCOME_REFUSED,
        OUTCOME_LOST,
        _OUTCOME_MAX,
} Outcome;

typedef struct {
        const char *word;  /* "cpu-time" */
        bool is_exhausted; /* resource_exhausted of the record */
        Limit limit;       /* the limit it is about; _LIMIT_MAX: none */
        const char *help;
} OutcomeInfo;

const OutcomeInfo *outcome_info(Outcome outcome);

typedef struct {
        Outcome outcome;
        bool is_ok;
        int exit_code; /* −1: absent */
        int signal;    /* 0: absent */
        bool core_dumped;
        bool touched[_LIMIT_MAX];
        bool touched_known[_LIMIT_MAX]; /* false: the record leaves "touched" out */
        char *error_code;               /* NULL: none. "command-not-found", …; owned */
        char *message;                  /* one sentence, no "cordon:" in front; owned; never NULL */
        GPtrArray *evidence;            /* of char*, owned */
} Verdict;

void cause_decide(const Facts *facts, const char *command, Verdict *ret_verdict);

/* The words for people, without "cordon:" in front and newline behind: "memory limit hit: killed (SIGKILL) after 0.8s,
 * peak 256M [memory=256M]". NULL when there is nothing to say: it just exited. */
char *verdict_words(const Verdict *verdict, const Facts *facts);

int verdict_exit_status(const Verdict *verdict, const Facts *facts); /* CONTRACT's table */
void verdict_clear(Verdict *verdict);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Verdict, verdict_clear)
