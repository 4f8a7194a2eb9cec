/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "schedule.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IO_WHO_PROCESS  1
#define IO_CLASS_SHIFT  13
#define POLICY_DEADLINE 6 /* a child cannot have it */

static bool read_cpus(uint64_t ret_cpus[GATE_CPU_WORDS]) {
        memset(ret_cpus, 0, GATE_CPU_WORDS * sizeof(uint64_t));
        return sched_getaffinity(0, GATE_CPU_WORDS * sizeof(uint64_t), (cpu_set_t *)ret_cpus) == 0;
}

/* Without a class it follows the nice level, whatever older kernels have in the other bits. */
static int read_io_priority(void) {
        long value = syscall(SYS_ioprio_get, IO_WHO_PROCESS, 0);

        return value >= 0 && value >> IO_CLASS_SHIFT ? (int)value : 0;
}

static void read_policy(int32_t *ret_policy, int32_t *ret_priority) {
        struct sched_param parameters = { 0 };
        int policy = sched_getscheduler(0);
        bool is_inherited = policy >= 0 && !(policy & SCHED_RESET_ON_FORK) &&
                            policy != POLICY_DEADLINE && sched_getparam(0, &parameters) == 0;

        *ret_policy = is_inherited ? policy : SCHED_OTHER;
        *ret_priority = is_inherited ? parameters.sched_priority : 0;
}

void schedule_read(GateSchedule *ret_schedule) {
        *ret_schedule = (GateSchedule){ .io_priority = read_io_priority() };
        ret_schedule->has_cpus = read_cpus(ret_schedule->cpus);
        read_policy(&ret_schedule->policy, &ret_schedule->priority);
}

/* Whoever resets on fork has children that are no more than ordinary. */
int schedule_read_nice(void) {
        int policy = sched_getscheduler(0);
        int nice = getpriority(PRIO_PROCESS, 0);
        bool is_reset = policy >= 0 && (policy & SCHED_RESET_ON_FORK);

        policy &= ~SCHED_RESET_ON_FORK;
        if (is_reset &&
            (nice < 0 || policy == SCHED_FIFO || policy == SCHED_RR || policy == POLICY_DEADLINE))
                return 0;
        return nice;
}

static bool cpus_are_among(const uint64_t cpus[GATE_CPU_WORDS],
                           const uint64_t others[GATE_CPU_WORDS]) {
        for (int i = 0; i < GATE_CPU_WORDS; i++)
                if (cpus[i] & ~others[i])
                        return false;
        return true;
}

/* The kernel takes what the cgroup allows of the mask, and refuses one of which nothing is left. */
static bool apply_cpus(const GateSchedule *schedule) {
        uint64_t now[GATE_CPU_WORDS];

        if (!schedule->has_cpus)
                return true;
        if (sched_setaffinity(0, sizeof schedule->cpus, (const cpu_set_t *)schedule->cpus) == 0)
                return true;
        return read_cpus(now) && cpus_are_among(now, schedule->cpus);
}

static bool apply_policy(const GateSchedule *schedule) {
        struct sched_param parameters = { .sched_priority = schedule->priority };
        int32_t policy, priority;

        read_policy(&policy, &priority);
        if (policy == schedule->policy && priority == schedule->priority)
                return true;
        return sched_setscheduler(0, schedule->policy, &parameters) == 0;
}

static bool apply_io_priority(const GateSchedule *schedule) {
        return read_io_priority() == schedule->io_priority ||
               syscall(SYS_ioprio_set, IO_WHO_PROCESS, 0, schedule->io_priority) == 0;
}

uint32_t schedule_apply(const GateSchedule *schedule, uint32_t parts) {
        static const struct {
                uint32_t part;
                bool (*apply)(const GateSchedule *);
        } appliers[] = {
                { GATE_UNAPPLIED_CPUS, apply_cpus },
                { GATE_UNAPPLIED_POLICY, apply_policy },
                { GATE_UNAPPLIED_IO, apply_io_priority },
        };
        uint32_t unapplied = 0;

        for (size_t i = 0; i < sizeof appliers / sizeof appliers[0]; i++)
                if ((parts & appliers[i].part) && !appliers[i].apply(schedule))
                        unapplied |= appliers[i].part;
        return unapplied;
}
