/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the fake program does, and what goes wrong around it. Two tables of rows that the fake manager obeys; a test
 * takes every program once per fault. A row says what happens, never what a consumer should make of it. */

#include <stdbool.h>
#include <stdint.h>

typedef enum {
        PROGRAM_EXITS_0,
        PROGRAM_EXITS_3,
        PROGRAM_KILLED_9,
        PROGRAM_KILLED_15,
        PROGRAM_NOT_EXECUTED,
        PROGRAM_NEVER_ENDS,
        PROGRAM_HANGS,
        _PROGRAM_MAX,
} ProgramKind;

typedef struct {
        bool is_executed;
        bool ends;  /* by itself; else somebody has to kill it */
        bool fails; /* the unit does, by its end */
        int code;   /* CLD_EXITED, CLD_KILLED */
        int status; /* exit code or signal */
        const char *text;
} Program;

extern const Program programs[_PROGRAM_MAX];

typedef enum {
        FAULT_NONE,
        FAULT_REFUSE_ACCESS,
        FAULT_REFUSE_POLKIT,
        FAULT_REFUSE_EXISTS,
        FAULT_REFUSE_PROPERTY,
        FAULT_REFUSE_UNKNOWN_PROPERTY,
        FAULT_REFUSE_SETTING,
        FAULT_REFUSE_LIMITS,
        FAULT_REFUSE_SLICE,
        FAULT_REFUSE_SLICE_TWICE,
        FAULT_END_BEFORE_REPLY,
        FAULT_JOB_FAILED,
        FAULT_JOB_TIMEOUT,
        FAULT_JOB_CANCELED,
        FAULT_JOB_DEPENDENCY,
        FAULT_JOB_SKIPPED,
        FAULT_SILENT_START,
        FAULT_SILENT_KILL,
        FAULT_SILENT_STOP,
        FAULT_SILENT_RESET,
        FAULT_SILENT_GET_ALL,
        FAULT_REEXEC_RUNNING,
        FAULT_REEXEC_TWICE,
        FAULT_REEXEC_ENDED,
        FAULT_REEXEC_GONE,
        FAULT_REEXEC_GONE_AFTER_END,
        FAULT_RELOAD,
        FAULT_RELOAD_EARLY,
        FAULT_RELOAD_ENDED,
        FAULT_RELOAD_SILENT,
        FAULT_REMOVED,
        FAULT_ODD_TYPES,
        FAULT_KILL_NO_UNIT,
        FAULT_STOP_NO_UNIT,
        FAULT_STOP_REFUSED,
        FAULT_FOREIGN,
        FAULT_TWICE,
        FAULT_LATE_FOREIGN_JOB,
        _FAULT_MAX,
} FaultKind;

/* What happens once the program runs, just before it ends. */
typedef enum {
        TURN_NONE,
        TURN_REEXEC_RUNNING, /* the connection ends; over a new one all is as it was, the program runs on */
        TURN_REEXEC_TWICE,          /* … and the new one ends, too */
        TURN_REEXEC_ENDED,          /* … and the program has ended in between */
        TURN_REEXEC_GONE,           /* … and the unit is not known any more */
        TURN_REEXEC_GONE_AFTER_END, /* the end is told, then as above */
        TURN_RELOAD,
        TURN_RELOAD_ENDED, /* the program ends while the manager reloads: no news but that it reloaded */
        TURN_REMOVED,      /* the unit goes without a word about its end */
} FaultTurn;

typedef struct {
        const char *refused_method; /* answers with … */
        const char *error_name;     /* … this error … */
        const char *error_words;    /* … and these words of the manager … */
        unsigned refusals;          /* … so many times; 0: always */
        const char *silent_method;  /* is never answered; what it asks for happens all the same */
        const char *job_result;     /* of the start job; NULL: as the program has it */
        FaultTurn turn;
        bool is_early; /* everything up to the end is told ahead of the reply to StartTransientUnit */
        bool reloads_at_start; /* between the reply and the first news of the job */
        bool has_odd_types; /* properties with values of other types, and signals with other bodies, besides the right ones */
        bool has_foreign; /* signals of units like ours, whose names begin or end as ours do */
        bool is_twice;    /* every signal comes twice */
        bool has_late_jobs; /* jobs of ours are told of that nobody here asked for, after the start job */
        bool loses_job; /* the start job is done, and nobody is told */
        const char *text;
} Fault;

extern const Fault faults[_FAULT_MAX];
