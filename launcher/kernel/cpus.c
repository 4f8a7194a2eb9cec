/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel's masks are arrays of long, ours of bytes, least significant first: CPU_SET and CPU_ISSET do the order. */

#include "cpus.h"

#include <sched.h>
#include <string.h>

#include "units/parse.h"

#define CPUS      (PARSE_CPU_MAX + 1)
#define MASK_SIZE ((size_t)CPUS / 8)

typedef union {
        cpu_set_t set;
        char room[MASK_SIZE];
} Mask;

static bool mask_read(pid_t pid, Mask *ret_mask) {
        memset(ret_mask, 0, sizeof *ret_mask);
        return sched_getaffinity(pid, MASK_SIZE, &ret_mask->set) == 0;
}

bool cpus_read(pid_t pid, CpuList *ret_cpus) {
        Mask mask;
        CpuList cpus = { .size = MASK_SIZE };

        if (!mask_read(pid, &mask))
                return false;
        cpus.bytes = g_new0(uint8_t, MASK_SIZE);
        for (size_t i = 0; i < CPUS; i++)
                if (CPU_ISSET_S(i, MASK_SIZE, &mask.set))
                        cpus.bytes[i / 8] |= (uint8_t)(1U << (i % 8));
        *ret_cpus = cpus;
        return true;
}

/* There is no asking but doing it; what we had is put back. */
bool cpus_can_be_had(const CpuList *cpus) {
        Mask before, mask = { .room = { 0 } };
        bool is_taken;

        for (size_t i = 0; i < MIN(cpus->size * 8, (size_t)CPUS); i++)
                if (cpus->bytes[i / 8] & (1U << (i % 8)))
                        CPU_SET_S(i, MASK_SIZE, &mask.set);
        if (!mask_read(0, &before))
                return false;
        is_taken = sched_setaffinity(0, MASK_SIZE, &mask.set) == 0;
        if (is_taken)
                (void)sched_setaffinity(0, MASK_SIZE, &before.set);
        return is_taken;
}
