/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Takes the steps of an isolation (units/enclosure) in the process that is to be the program: one after the other, and no
 * further than the first that fails. Where the kernel gives no namespaces, the permits in their place. Libc alone, and
 * fit for a fork of a process with threads. */

#include <stdbool.h>
#include <stdint.h>

#include "protocol.h"

typedef struct {
        const Step *steps; /* the permits behind them */
        uint32_t step_count, permit_count;
        bool has_permits;
        const char *texts;
} Building;

/* False: it says which step, and the process is fit for nothing any more. */
bool builder_run(const Building *building, uint32_t *ret_enclosure, GateFailure *failure);
