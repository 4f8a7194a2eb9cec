/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Inside this room: how a verdict is put into words, and why an exec failed. */

#include "cause.h"

/* The message of the record; amounts in base units. */
char *verdict_message(const Verdict *verdict, const Facts *facts, const char *command);

/* Why a program could not be executed, by errno. */
typedef struct {
        int number;       /* 0: any other */
        const char *code; /* of the record's error */
        int exit_status;
        const char *words;
} ExecFailure;

const ExecFailure *exec_failure(int number);

/* For memory: was it the run's own limit? False when an ancestor's or the machine's memory ran out. */
bool facts_memory_is_own(const Facts *facts);

/* The manager stopped the unit, and not for a limit: somebody else's doing. */
bool facts_is_stopped_by_others(const Facts *facts);
