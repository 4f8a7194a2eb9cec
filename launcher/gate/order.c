/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was asked for wins over what the caller has: of that, the manager's setting stays. */

#include "channel.h"
#include "units/extra.h"

/* By their names on the bus. */
static const struct {
        const char *property;
        uint32_t part;
} scheduling[] = {
        { "CPUAffinity", GATE_UNAPPLIED_CPUS },
        { "CPUAffinityFromNUMA", GATE_UNAPPLIED_CPUS },
        { "CPUSchedulingPolicy", GATE_UNAPPLIED_POLICY },
        { "CPUSchedulingPriority", GATE_UNAPPLIED_POLICY },
        { "CPUSchedulingResetOnFork", GATE_UNAPPLIED_POLICY },
        { "IOSchedulingClass", GATE_UNAPPLIED_IO },
        { "IOSchedulingPriority", GATE_UNAPPLIED_IO },
};

static uint32_t schedule_parts(const Spec *spec) {
        uint32_t asked = limit_set_is_limited(&spec->limits, LIMIT_CPUS) ? GATE_UNAPPLIED_CPUS : 0;

        for (size_t i = 0; i < G_N_ELEMENTS(scheduling); i++)
                if (extra_has(spec->extra, scheduling[i].property))
                        asked |= scheduling[i].part;
        return GATE_SCHEDULE_PARTS & ~asked;
}

static void ask_rlimits(const Spec *spec, GateOrder *order) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                int number = limit_rlimit((Limit)i);

                if (number < 0 || !limit_set_is_limited(&spec->limits, (Limit)i))
                        continue;
                order->asked_mask |= 1U << number;
                limit_set_rlimit(&spec->limits, (Limit)i, &order->asked[number].soft,
                                 &order->asked[number].hard);
        }
}

GateOrder gate_order_of(const Spec *spec, const Caller *caller) {
        GateOrder order = {
                .command = spec->command,
                .environment = spec->environment,
                .caller = caller,
                .rlimit_mask = ~(limit_set_rlimits(&spec->limits) | extra_rlimits(spec->extra)),
                .schedule_parts = schedule_parts(spec),
                .allow = spec->isolation.allow,
                .stdio = { -1, -1, -1 },
                .is_directory_another = isolation_hides(&spec->isolation, caller->directory),
                .keep_groups = spec->user || spec->group || spec->isolation.is_untrusted ||
                               extra_has(spec->extra, "SupplementaryGroups"),
                .keep_umask = extra_has(spec->extra, "UMask"),
                .keep_nice = spec->isolation.is_untrusted || extra_has(spec->extra, "Nice"),
                .is_scoped = spec->isolation.is_untrusted,
                .is_login = spec->is_login,
        };

        if (spec->is_scope) /* which has no rlimits */
                ask_rlimits(spec, &order);
        return order;
}
