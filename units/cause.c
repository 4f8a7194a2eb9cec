/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts → outcome, by the first rule of a table that holds. The hard thing is which of two met limits ended the program,
 * and never to be fooled by a program that ends as a limit would have ended it. */

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "format.h"
#include "name.h"
#include "signame.h"
#include "verdict.h"

/* Counters move once a tick, and a process's clock and its cgroup's differ by about as much. */
#define CPU_TOLERANCE_USEC UINT64_C(20000)

/* The manager counts from the fork, we from exec; on an emulated machine much lies between. */
#define WALL_TOLERANCE_USEC UINT64_C(1000000)

/* clang-format off */
static const OutcomeInfo outcomes[] = {
        [OUTCOME_EXITED]      = { "exited",      false, _LIMIT_MAX,     "the program ended itself" },
        [OUTCOME_SIGNALED]    = { "signaled",    false, _LIMIT_MAX,     "a signal that no limit explains ended it" },
        [OUTCOME_MEMORY]      = { "memory",      true,  LIMIT_MEMORY,   "the kernel killed in it for memory" },
        [OUTCOME_TIMEOUT]     = { "timeout",     true,  LIMIT_TIMEOUT,  "the wall-clock deadline passed" },
        [OUTCOME_CPU_TIME]    = { "cpu-time",    true,  LIMIT_CPU_TIME, "its CPU budget was spent" },
        [OUTCOME_FSIZE]       = { "fsize",       true,  LIMIT_FSIZE,    "it wrote a file larger than allowed (SIGXFSZ)" },
        [OUTCOME_DISK]        = { "disk",        true,  LIMIT_DISK,     "the workspace outgrew the limit" },
        [OUTCOME_OUTPUT]      = { "output",      true,  LIMIT_OUTPUT,   "its captured output outgrew the limit" },
        [OUTCOME_CANCELLED]   = { "cancelled",   false, _LIMIT_MAX,     "the caller ended it" },
        [OUTCOME_NOT_STARTED] = { "not-started", false, _LIMIT_MAX,     "the program could not be executed" },
        [OUTCOME_REFUSED]     = { "refused",     false, _LIMIT_MAX,     "the request was bad or could not be kept" },
        [OUTCOME_LOST]        = { "lost",        false, _LIMIT_MAX,     "its end could not be learnt" },
};
/* clang-format on */

G_STATIC_ASSERT(G_N_ELEMENTS(outcomes) == _OUTCOME_MAX);

const OutcomeInfo *outcome_info(Outcome outcome) {
        g_assert((unsigned)outcome < _OUTCOME_MAX);
        return &outcomes[outcome];
}

/* ---- the rules ---- */

static bool is_known(uint64_t number) {
        return number != FACTS_UNKNOWN;
}

static bool was_counted(uint64_t number) {
        return is_known(number) && number > 0;
}

static bool result_is(const Facts *facts, const char *result) {
        return g_strcmp0(facts->unit_result, result) == 0;
}

static bool is_refused(const Facts *facts) {
        return facts->stage == STAGE_REFUSED;
}

static bool is_cancelled_before(const Facts *facts) {
        return facts->stage == STAGE_CANCELLED;
}

static bool is_exec_failed(const Facts *facts) {
        return facts->stage == STAGE_NOT_EXECUTED && facts->exec_errno != 0;
}

static bool is_lost(const Facts *facts) {
        return facts->is_lost;
}

/* Counters decide. The manager's word stands in only where there are none: it is racy, but only towards "signal". */
static bool is_memory(const Facts *facts) {
        if (is_known(facts->oom_kills))
                return facts->oom_kills > 0;

        return result_is(facts, "oom-kill");
}

/* After a deadline there is SIGTERM and then, when grace is over, SIGKILL. A SIGKILL within the grace was not ours, so
 * where the kernel counted a kill for memory, that is what ended it. Not so when somebody asked twice: a second signal
 * to us kills at once. */
static bool is_memory_within_grace(const Facts *facts) {
        Act act = facts_first_act(facts);
        uint64_t grace = facts->limits.is_set[LIMIT_GRACE] ? facts->limits.value[LIMIT_GRACE] : 0;

        if ((act != ACT_TIMEOUT && act != ACT_CPU_TIME) || !is_memory(facts) ||
            facts_signal(facts) != SIGKILL)
                return false;
        if (facts_act_counts(facts, ACT_CANCEL) || facts_act_counts(facts, ACT_OUTPUT) ||
            facts_act_counts(facts, ACT_DISK))
                return false;

        return facts->ended_usec >= facts->act_usec[act] &&
               facts->ended_usec - facts->act_usec[act] < grace;
}

static bool is_act_timeout(const Facts *facts) {
        return facts_first_act(facts) == ACT_TIMEOUT;
}

static bool is_act_cpu_time(const Facts *facts) {
        return facts_first_act(facts) == ACT_CPU_TIME;
}

static bool is_act_disk(const Facts *facts) {
        return facts_first_act(facts) == ACT_DISK;
}

static bool is_act_output(const Facts *facts) {
        return facts_first_act(facts) == ACT_OUTPUT;
}

static bool is_act_cancel(const Facts *facts) {
        return facts_first_act(facts) == ACT_CANCEL;
}

/* The gate ended before it could execute anything, and nothing above says why: what it ended with is not the program's. */
static bool is_not_executed(const Facts *facts) {
        return facts->stage == STAGE_NOT_EXECUTED;
}

static bool is_fsize(const Facts *facts) {
        return facts_signal(facts) == SIGXFSZ && limit_set_is_limited(&facts->limits, LIMIT_FSIZE);
}

static bool is_cpu_spent(const Facts *facts, uint64_t tolerance) {
        return is_known(facts->cpu_usec) && limit_set_is_limited(&facts->limits, LIMIT_CPU_TIME) &&
               facts->cpu_usec + tolerance >= facts->limits.value[LIMIT_CPU_TIME];
}

/* The backstop, LimitCPU: SIGXCPU first. A program that sends itself one without having used its budget is not it. */
static bool is_cpu_backstop_soft(const Facts *facts) {
        return facts_signal(facts) == SIGXCPU &&
               limit_set_is_limited(&facts->limits, LIMIT_CPU_TIME) &&
               (!is_known(facts->cpu_usec) || is_cpu_spent(facts, CPU_TOLERANCE_USEC));
}

/* … then SIGKILL, a second later, for a program that ignores it. */
static bool is_cpu_backstop_hard(const Facts *facts) {
        return facts_signal(facts) == SIGKILL && is_cpu_spent(facts, 0);
}

/* The backstop, RuntimeMaxSec: says "timeout", but so does a stop that took too long; the clock tells them apart. */
static bool is_timeout_backstop(const Facts *facts) {
        uint64_t wall = facts_wall_usec(facts);

        if (!result_is(facts, "timeout") || !limit_set_is_limited(&facts->limits, LIMIT_TIMEOUT))
                return false;

        return !is_known(wall) || wall + WALL_TOLERANCE_USEC >= facts->limits.value[LIMIT_TIMEOUT];
}

static bool is_signaled(const Facts *facts) {
        return facts_signal(facts) != 0;
}

static bool is_exited(const Facts *facts) {
        return facts->exec_main_code == CLD_EXITED;
}

static bool is_anything(const Facts *facts) {
        return true;
}

/* clang-format off */
static const struct {
        bool (*holds)(const Facts *facts);
        Outcome outcome;
        const char *why; /* it stands where it stands */
} rules[] = {
        { is_refused,             OUTCOME_REFUSED,     "nothing ran" },
        { is_cancelled_before,    OUTCOME_CANCELLED,   "nor here, whatever became of what would have started it" },
        { is_exec_failed,         OUTCOME_NOT_STARTED, "the kernel said so" },
        { is_lost,                OUTCOME_LOST,        "what follows needs an end that was seen" },
        { is_memory_within_grace, OUTCOME_MEMORY,      "before the act that only opened the grace" },
        { is_act_timeout,         OUTCOME_TIMEOUT,     "we acted while it ran, however it then ended" },
        { is_act_cpu_time,        OUTCOME_CPU_TIME,    "likewise" },
        { is_act_disk,            OUTCOME_DISK,        "likewise" },
        { is_act_output,          OUTCOME_OUTPUT,      "likewise" },
        { is_act_cancel,          OUTCOME_CANCELLED,   "likewise" },
        { is_fsize,               OUTCOME_FSIZE,       "a signal of its own says more than a counter of the tree" },
        { is_cpu_backstop_soft,   OUTCOME_CPU_TIME,    "likewise" },
        { is_memory,              OUTCOME_MEMORY,      "also when the main process survived and exited 0" },
        { is_cpu_backstop_hard,   OUTCOME_CPU_TIME,    "SIGKILL without a memory kill" },
        { is_timeout_backstop,    OUTCOME_TIMEOUT,     "the manager acted because we did not" },
        { is_not_executed,        OUTCOME_NOT_STARTED, "the wait status below would be the gate's" },
        { is_signaled,            OUTCOME_SIGNALED,    "nothing above explains it" },
        { is_exited,              OUTCOME_EXITED,      "124, 137 and 203 included" },
        { is_anything,            OUTCOME_LOST,        "no wait status, no evidence" },
};
/* clang-format on */

static Outcome decide_outcome(const Facts *facts) {
        for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
                if (rules[i].holds(facts))
                        return rules[i].outcome;

        g_assert_not_reached();
}

/* ---- which limits were met ---- */

typedef enum {
        TOUCHED_UNKNOWN,
        TOUCHED_NO,
        TOUCHED_YES,
} Touched;

static Touched touched_if(bool is_met) {
        return is_met ? TOUCHED_YES : TOUCHED_NO;
}

static Touched touched_counter(uint64_t events) {
        return is_known(events) ? touched_if(events > 0) : TOUCHED_UNKNOWN;
}

static Touched touched_peak(uint64_t peak, uint64_t limit) {
        return is_known(peak) ? touched_if(peak >= limit) : TOUCHED_UNKNOWN;
}

/* Met when either says so; not met only when one says so and none the contrary. */
static Touched touched_either(Touched a, Touched b) {
        return MAX(a, b);
}

static Touched touched_timeout(const Facts *facts, Outcome outcome, uint64_t limit) {
        if (outcome == OUTCOME_TIMEOUT || facts_act_counts(facts, ACT_TIMEOUT))
                return TOUCHED_YES;

        return touched_peak(facts_wall_usec(facts), limit);
}

static Touched touched_cpu_time(const Facts *facts, Outcome outcome, uint64_t limit) {
        if (outcome == OUTCOME_CPU_TIME || facts_act_counts(facts, ACT_CPU_TIME))
                return TOUCHED_YES;

        return touched_peak(facts->cpu_usec, limit);
}

static Touched touched_grace(const Facts *facts, uint64_t grace) {
        Act act = facts_first_act(facts);

        if (act == _ACT_MAX)
                return TOUCHED_NO;
        if (facts_wall_usec(facts) == FACTS_UNKNOWN)
                return TOUCHED_UNKNOWN;

        return touched_if(facts->ended_usec - facts->act_usec[act] >= grace);
}

static Touched touched_disk(const Facts *facts, uint64_t limit) {
        if (facts_act_counts(facts, ACT_DISK))
                return TOUCHED_YES;

        if (is_known(facts->disk_growth_bytes) && facts->disk_growth_bytes > limit)
                return TOUCHED_YES;

        return facts->is_disk_final ? TOUCHED_NO : TOUCHED_UNKNOWN;
}

/* The pool's own slice, and not one of an outer run that this one is nested in. */
static bool is_own_pool(const Facts *facts, const char *cgroup) {
        g_autofree char *name = g_path_get_basename(cgroup);
        g_autofree char *pool = name_pool_from_unit(name);

        return pool && g_strcmp0(pool, facts->pool) == 0;
}

/* Met without a kill it leaves no trace that is this run's. */
static Touched touched_pool_memory(const Facts *facts, Outcome outcome) {
        if (outcome == OUTCOME_MEMORY && !facts_memory_is_own(facts) && facts->oom_ancestor &&
            is_own_pool(facts, facts->oom_ancestor))
                return TOUCHED_YES;

        return TOUCHED_UNKNOWN;
}

/* Of the rlimits only SIGXFSZ can be seen from outside: who got EFBIG, EMFILE or ENOMEM does not tell. */
static Touched limit_touched(const Facts *facts, Outcome outcome, Limit limit) {
        uint64_t value = facts->limits.value[limit];

        switch (limit) {
        case LIMIT_TIMEOUT:
                return touched_timeout(facts, outcome, value);
        case LIMIT_GRACE:
                return touched_grace(facts, value);
        case LIMIT_MEMORY:
                return touched_either(touched_counter(facts->oom_kills_local_limit),
                                      touched_counter(facts->memory_max_events));
        case LIMIT_SWAP:
                return value > 0 ? touched_peak(facts->swap_peak_bytes, value) : TOUCHED_UNKNOWN;
        case LIMIT_MEMORY_HIGH:
                return touched_counter(facts->memory_high_events);
        case LIMIT_CPU:
                return touched_counter(facts->cpu_throttled);
        case LIMIT_CPU_TIME:
                return touched_cpu_time(facts, outcome, value);
        case LIMIT_TASKS:
                return touched_either(touched_counter(facts->tasks_denied),
                                      touched_peak(facts->tasks_peak, value));
        case LIMIT_FSIZE:
                return outcome == OUTCOME_FSIZE ? TOUCHED_YES : TOUCHED_UNKNOWN;
        case LIMIT_DISK:
                return touched_disk(facts, value);
        case LIMIT_POOL_MEMORY:
                return touched_pool_memory(facts, outcome);
        case LIMIT_OUTPUT:
                return touched_if(facts->is_output_truncated ||
                                  facts_act_counts(facts, ACT_OUTPUT));
        default:
                return TOUCHED_UNKNOWN;
        }
}

static void decide_touched(const Facts *facts, Verdict *verdict) {
        bool ran = facts->stage != STAGE_CANCELLED && verdict->outcome != OUTCOME_REFUSED &&
                   verdict->outcome != OUTCOME_NOT_STARTED;

        for (int i = 0; ran && i < _LIMIT_MAX; i++) {
                Touched touched = TOUCHED_UNKNOWN;

                if (limit_set_is_limited(&facts->limits, (Limit)i))
                        touched = limit_touched(facts, verdict->outcome, (Limit)i);
                verdict->touched[i] = touched == TOUCHED_YES;
                verdict->touched_known[i] = touched != TOUCHED_UNKNOWN;
        }
}

bool facts_memory_is_own(const Facts *facts) {
        return limit_set_is_limited(&facts->limits, LIMIT_MEMORY) &&
               (!is_known(facts->oom_kills_local_limit) || facts->oom_kills_local_limit > 0);
}

bool facts_is_stopped_by_others(const Facts *facts) {
        return facts->is_stopped && facts_first_act(facts) == _ACT_MAX &&
               !result_is(facts, "oom-kill");
}

/* ---- how we know ---- */

static void G_GNUC_PRINTF(2, 3) add_evidence(Verdict *verdict, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(verdict->evidence, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

static void add_act(Verdict *verdict, const Facts *facts, Act act) {
        static const char *const words[] = {
                [ACT_TIMEOUT] = "wall deadline passed",
                [ACT_CPU_TIME] = "CPU budget spent",
                [ACT_DISK] = "workspace outgrew its limit",
                [ACT_OUTPUT] = "captured output outgrew its limit",
                [ACT_CANCEL] = "cancelled by the caller",
        };
        uint64_t acted = facts->act_usec[act];
        g_autofree char *when = NULL;

        if (!was_counted(acted))
                return;
        if (!facts_act_counts(facts, act)) {
                add_evidence(verdict, "%s, but the program had ended before", words[act]);
                return;
        }
        if (facts->started_usec == 0 || acted < facts->started_usec) {
                add_evidence(verdict, "%s before it was executed", words[act]);
                return;
        }

        when = format_duration(acted - facts->started_usec);
        add_evidence(verdict, "%s %s after exec", words[act], when);
}

static void add_whose_memory(Verdict *verdict, const Facts *facts) {
        static const char own[] = "own memory limit not met";

        if (was_counted(facts->oom_events))
                add_evidence(verdict, "%s, but one inside it: memory.events oom=%" PRIu64, own,
                             facts->oom_events);
        else if (facts->oom_ancestor)
                add_evidence(verdict, "%s, but that of %s", own, facts->oom_ancestor);
        else if (facts->is_ancestry_whole)
                add_evidence(verdict, "%s, nor that of an ancestor: the machine ran out of memory",
                             own);
        else
                add_evidence(verdict, "%s: memory of an ancestor or of the machine ran out", own);
}

static void add_memory(Verdict *verdict, const Facts *facts) {
        const char *kills = facts->counter_source ?: "memory.events oom_kill";
        const char *own = facts->local_limit_source ?: "memory.events.local oom";

        if (was_counted(facts->oom_kills))
                add_evidence(verdict, "%s=%" PRIu64, kills, facts->oom_kills);
        if (was_counted(facts->oom_kills_local_limit))
                add_evidence(verdict, "%s=%" PRIu64, own, facts->oom_kills_local_limit);
        if (verdict->outcome == OUTCOME_MEMORY && !facts_memory_is_own(facts))
                add_whose_memory(verdict, facts);
}

static void add_disk(Verdict *verdict, const Facts *facts) {
        if (is_known(facts->disk_growth_bytes))
                add_evidence(verdict, "workspace grew by %" PRIu64 " bytes, from %" PRIu64,
                             facts->disk_growth_bytes, facts->disk_before_bytes);
        if (is_known(facts->disk_growth_bytes) && was_counted(facts->disk_hidden))
                add_evidence(verdict,
                             "directories of the workspace that could not be read: %" PRIu64
                             ", the file system's loss was counted in their place",
                             facts->disk_hidden);
}

static void add_wait_status(Verdict *verdict, const Facts *facts) {
        g_autofree char *name = signame(facts_signal(facts));

        if (facts_signal(facts) != 0)
                add_evidence(verdict, "main process killed by %s", name);
        else if (is_exited(facts))
                add_evidence(verdict, "main process exited %d", facts->exec_main_status);
}

static void gather_evidence(const Facts *facts, Verdict *verdict) {
        if (is_exec_failed(facts)) {
                add_evidence(verdict, "execve: %s", g_strerror(facts->exec_errno));
                return; /* the rest would be about the gate */
        }
        for (int i = 0; i < _ACT_MAX; i++)
                add_act(verdict, facts, (Act)i);
        if (facts->stage == STAGE_CANCELLED)
                return; /* likewise */
        add_memory(verdict, facts);
        if (was_counted(facts->tasks_denied))
                add_evidence(verdict, "pids.events max=%" PRIu64, facts->tasks_denied);
        if (verdict->outcome == OUTCOME_CPU_TIME && is_known(facts->cpu_usec))
                add_evidence(verdict, "cpu_usec=%" PRIu64, facts->cpu_usec);
        add_disk(verdict, facts);
        if (facts_is_stopped_by_others(facts))
                add_evidence(verdict, "unit stopped at the manager before the main process ended");
        if (facts->unit_result && !result_is(facts, "success"))
                add_evidence(verdict, "unit Result=%s", facts->unit_result);
        if (facts->stage != STAGE_REFUSED)
                add_wait_status(verdict, facts);
        if (facts->guard_message)
                add_evidence(verdict, "guard lost in mid-run: %s", facts->guard_message);
}

/* ---- the verdict ---- */

static bool outcome_has_error(Outcome outcome) {
        return outcome == OUTCOME_NOT_STARTED || outcome == OUTCOME_REFUSED ||
               outcome == OUTCOME_LOST;
}

static const char *error_code(const Facts *facts, Outcome outcome) {
        if (outcome == OUTCOME_REFUSED)
                return facts->refusal_code ? facts->refusal_code : "refused";
        if (outcome == OUTCOME_NOT_STARTED)
                return facts->exec_errno ? exec_failure(facts->exec_errno)->code : "start-failed";

        return "lost";
}

void cause_decide(const Facts *facts, const char *command, Verdict *ret_verdict) {
        Verdict verdict = {
                .outcome = decide_outcome(facts),
                .exit_code = -1,
                .evidence = g_ptr_array_new_with_free_func(g_free),
        };

        if (outcome_has_error(verdict.outcome)) {
                verdict.error_code = g_strdup(error_code(facts, verdict.outcome));
        } else if (facts->stage != STAGE_CANCELLED) {
                verdict.exit_code = is_exited(facts) ? facts->exec_main_status : -1;
                verdict.signal = facts_signal(facts);
                verdict.core_dumped = facts->exec_main_code == CLD_DUMPED;
        }
        verdict.is_ok = verdict.outcome == OUTCOME_EXITED && verdict.exit_code == 0;

        decide_touched(facts, &verdict);
        gather_evidence(facts, &verdict);
        verdict.message = verdict_message(&verdict, facts, command);
        *ret_verdict = verdict;
}
