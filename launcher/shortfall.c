/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shortfall.h"

#include <glib.h>

#include "launcher/gate/protocol.h"

static const Shortfall table[] = {
        { GATE_UNAPPLIED_NICE, "nice", "the caller's nice level", false },
        { GATE_UNAPPLIED_RLIMIT, "rlimits",
          "a hard limit of the caller's, higher than the manager's", false },
        { GATE_UNAPPLIED_GROUPS, "groups", "the caller's groups", false },
        { GATE_UNAPPLIED_CPUS, "cpus",
          "the caller's CPU affinity: the program's cgroup has none of these CPUs", true },
        { GATE_UNAPPLIED_POLICY, "scheduling", "the caller's scheduling policy", false },
        { GATE_UNAPPLIED_IO, "io-priority", "the caller's I/O priority", false },
};

const Shortfall *shortfall_at(size_t index) {
        return index < G_N_ELEMENTS(table) ? &table[index] : NULL;
}
