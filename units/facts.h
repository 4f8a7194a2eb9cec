/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All that is known at the end of a run, gathered by the rooms that can see it and judged by units/cause. Times are
 * CLOCK_MONOTONIC microseconds; 0 means "it did not happen", FACTS_UNKNOWN "nobody could tell". */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "limit.h"

#define FACTS_UNKNOWN UINT64_MAX

/* What we did to the program, by reason. */
typedef enum {
        ACT_TIMEOUT,
        ACT_CPU_TIME,
        ACT_DISK,
        ACT_OUTPUT,
        ACT_CANCEL,
        _ACT_MAX,
} Act;

/* How far the start came. */
typedef enum {
        STAGE_REFUSED,      /* nothing was started: the request was bad or could not be kept */
        STAGE_CANCELLED,    /* nor here: the caller did not want it any more */
        STAGE_NOT_EXECUTED, /* the gate ran, the program could not be executed */
        STAGE_EXECUTED,
} Stage;

typedef struct {
        LimitSet limits; /* asked, defaults applied */
        char *pool;      /* that it is in; owned; NULL: none */

        Stage stage;
        int exec_errno;        /* of STAGE_NOT_EXECUTED */
        char *refusal_code;    /* of STAGE_REFUSED: "unenforceable"; owned */
        char *refusal_message; /* owned */

        uint64_t act_usec[_ACT_MAX]; /* when we acted */
        int cancel_signal;           /* the signal we got; 0: cordon stop or none */
        bool is_output_truncated;    /* a captured stream outgrew its limit and was cut */

        bool is_lost;       /* the unit or the manager went away before its end was learnt */
        char *lost_message; /* owned */
        char *guard_message; /* why at its end nobody would have ended the run for us; owned; NULL: somebody would */

        /* The manager's word */
        int exec_main_code;   /* CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0 unknown */
        int exec_main_status; /* exit code or signal */
        char *unit_result;    /* "success", "oom-kill", "timeout", …; owned; NULL unknown */
        bool is_stopped;      /* it was stopping the unit before the main process ended */

        /* The kernel's word, read from the slice after the end */
        uint64_t oom_kills; /* of the slice's tree: memory.events oom_kill, or v1's counters */
        uint64_t oom_kills_local_limit; /* memory.events.local "oom" of the slice: its own limit was the one; v1: notifications of that */
        uint64_t oom_events; /* memory.events "oom": that limit or one below it, in the tree, was met */
        char *oom_ancestor; /* whose limit above it was met meanwhile: a cgroup's path; owned; NULL: nobody's, or unknown */
        bool is_ancestry_whole;     /* nothing is above what could be seen but the machine itself */
        uint64_t memory_max_events; /* memory.events max */
        uint64_t memory_high_events;
        uint64_t tasks_denied;  /* pids.events max */
        uint64_t cpu_throttled; /* cpu.stat nr_throttled */
        const char *
                counter_source; /* of oom_kills: "memory.events oom_kill", or what v1 has; static */
        const char *local_limit_source; /* likewise: "memory.events.local oom" */

        uint64_t started_usec, ended_usec; /* exec … end of the main process, monotonic */
        uint64_t started_realtime_usec, ended_realtime_usec;
        uint64_t cpu_usec, cpu_user_usec, cpu_system_usec;
        uint64_t memory_peak_bytes, swap_peak_bytes;
        uint64_t tasks_peak;
        uint64_t io_read_bytes, io_write_bytes;
        uint64_t net_in_bytes, net_out_bytes;
        uint64_t disk_before_bytes; /* in the workspace, before the program */
        uint64_t disk_growth_bytes; /* the most that was seen on top of it */
        uint64_t disk_hidden;       /* directories in it that we cannot read, and could before */
        bool is_disk_final;         /* it was looked at after the end */
        uint64_t outlived;          /* processes alive when the main one ended */
} Facts;

void facts_init(Facts *facts); /* every measure unknown, every act undone */
void facts_clear(Facts *facts);

/* Nothing was started, and this is why. */
void facts_set_refusal(Facts *facts, const char *code, const char *message);

/* Nothing was started, because of this signal to us. */
void facts_set_cancelled(Facts *facts, int signal, uint64_t now_usec);

/* exec … end of the main process; FACTS_UNKNOWN when either is not known. */
uint64_t facts_wall_usec(const Facts *facts);

/* Did we act while the program was still there? What we did after its end is not a cause of it. */
bool facts_act_counts(const Facts *facts, Act act);

/* The act that came first of those that count; _ACT_MAX: none. */
Act facts_first_act(const Facts *facts);

/* The signal that ended the main process; 0: none, or not known. */
int facts_signal(const Facts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Facts, facts_clear)
