/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is what was asked in force? Looked up in the kernel while the gate waits, before the program's first instruction. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/gate/protocol.h"
#include "launcher/kernel/cgroup.h"
#include "units/limit.h"

typedef struct {
        bool is_known; /* effective could be read */
        bool is_enforced;
        uint64_t effective; /* LIMIT_INFINITY: nothing holds */
} Effective;

typedef struct {
        bool is_read; /* somebody looked */
        Effective limits[_LIMIT_MAX];
} Readback;

/* Reads every limit that was asked. False when one is not in force; the message names it, why, and what would help.
 * ret_readback is filled either way, so that --best-effort can go on and report. */
bool readback_check(const LimitSet *limits, Cgroup *cgroup, const GateHello *hello,
                    Readback *ret_readback, GError **error) G_GNUC_WARN_UNUSED_RESULT;
