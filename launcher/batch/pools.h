/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The pools that jobs of a batch name, each with a semaphore. Who says the same of the same pool waits in one line. */

#include <systemd/sd-event.h>

#include "launcher/options.h"
#include "launcher/pool.h"

typedef struct Pools Pools;

Pools *pools_new(sd_event *event);
void pools_free(Pools *pools); /* NULL is fine; slots are released before */

/* Of a job with --max-parallel. The handler is called from the loop. */
PoolSlot *pools_acquire(Pools *pools, const Options *options, PoolHandler handler, void *userdata);
