/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is what was asked in force? Looked up in the kernel while the gate waits, before the program's first instruction. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/gate/protocol.h"
#include "launcher/kernel/cgroup.h"
#include "units/isolation.h"
#include "units/limit.h"

typedef struct {
        bool is_known; /* effective could be read */
        bool is_enforced;
        uint64_t effective; /* LIMIT_INFINITY: nothing holds */
        bool is_stand_in;   /* what holds is the row's stand-in: until the program changes it */
} Effective;

typedef struct {
        bool is_read; /* somebody looked */
        Effective limits[_LIMIT_MAX];
        bool isolation[_ISOLATION_MAX]; /* is in force; launcher/walls */
        bool is_landlock;   /* in place of mounts, where a scope's program may make none */
        unsigned residuals; /* what --untrusted leaves open here: bit n: UntrustedResidual n */
} Readback;

/* Reads every limit that was asked. False when one is not in force; the message names it, why, and what would help.
 * ret_readback is filled either way, so that --best-effort can go on and report. */
bool readback_check(const LimitSet *limits, Cgroup *cgroup, const GateHello *hello,
                    Readback *ret_readback, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For --best-effort: could the stand-ins be set without failing the start? And then: do they hold for this process? */
bool readback_has_stand_ins(const LimitSet *limits);
void readback_add_stand_ins(const LimitSet *limits, pid_t pid, Readback *readback);
