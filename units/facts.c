/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts begin as ignorance: a measure that nobody filled in must be absent from the record, never 0. */

#include <signal.h>

#include "facts.h"

#include "text.h"

void facts_init(Facts *facts) {
        *facts = (Facts){
                .oom_kills = FACTS_UNKNOWN,
                .oom_kills_local_limit = FACTS_UNKNOWN,
                .oom_events = FACTS_UNKNOWN,
                .memory_max_events = FACTS_UNKNOWN,
                .memory_high_events = FACTS_UNKNOWN,
                .tasks_denied = FACTS_UNKNOWN,
                .cpu_throttled = FACTS_UNKNOWN,
                .cpu_usec = FACTS_UNKNOWN,
                .cpu_user_usec = FACTS_UNKNOWN,
                .cpu_system_usec = FACTS_UNKNOWN,
                .memory_peak_bytes = FACTS_UNKNOWN,
                .swap_peak_bytes = FACTS_UNKNOWN,
                .tasks_peak = FACTS_UNKNOWN,
                .io_read_bytes = FACTS_UNKNOWN,
                .io_write_bytes = FACTS_UNKNOWN,
                .net_in_bytes = FACTS_UNKNOWN,
                .net_out_bytes = FACTS_UNKNOWN,
                .disk_before_bytes = FACTS_UNKNOWN,
                .disk_growth_bytes = FACTS_UNKNOWN,
                .disk_hidden = FACTS_UNKNOWN,
                .outlived = FACTS_UNKNOWN,
        };
}

void facts_clear(Facts *facts) {
        limit_set_clear(&facts->limits);
        g_free(facts->pool);
        g_free(facts->refusal_code);
        g_free(facts->refusal_message);
        g_free(facts->lost_message);
        g_free(facts->guard_message);
        g_free(facts->unit_result);
        g_free(facts->oom_ancestor);
        *facts = (Facts){ 0 };
}

/* 0 is "did not happen" also for times. */
static bool time_is_known(uint64_t usec) {
        return usec != 0 && usec != FACTS_UNKNOWN;
}

uint64_t facts_wall_usec(const Facts *facts) {
        if (!time_is_known(facts->started_usec) || !time_is_known(facts->ended_usec) ||
            facts->ended_usec < facts->started_usec)
                return FACTS_UNKNOWN;

        return facts->ended_usec - facts->started_usec;
}

bool facts_act_counts(const Facts *facts, Act act) {
        uint64_t acted = facts->act_usec[act];

        return time_is_known(acted) &&
               (!time_is_known(facts->ended_usec) || acted <= facts->ended_usec);
}

Act facts_first_act(const Facts *facts) {
        Act first = _ACT_MAX;

        for (int i = 0; i < _ACT_MAX; i++)
                if (facts_act_counts(facts, (Act)i) &&
                    (first == _ACT_MAX || facts->act_usec[i] < facts->act_usec[first]))
                        first = (Act)i;

        return first;
}

int facts_signal(const Facts *facts) {
        bool is_signaled = facts->exec_main_code == CLD_KILLED ||
                           facts->exec_main_code == CLD_DUMPED;

        return is_signaled ? facts->exec_main_status : 0;
}

void facts_set_refusal(Facts *facts, const char *code, const char *message) {
        facts->stage = STAGE_REFUSED;
        text_replace(&facts->refusal_code, code);
        text_replace(&facts->refusal_message, message);
}

void facts_set_cancelled(Facts *facts, int signal, uint64_t now_usec) {
        facts->stage = STAGE_CANCELLED;
        facts->cancel_signal = signal;
        facts->act_usec[ACT_CANCEL] = now_usec;
}
