/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The world around a launch, for tests of the launch: gate, guard, cgroup, door and clock, each with the calls of the
 * real one, none of them touching the machine. The fake manager's program is the only process there is. One at a time. */

#include <stdbool.h>
#include <stdint.h>

#include "case.h"
#include "launcher/diskwatch.h"
#include "launcher/manager/door.h"

typedef struct {
        Case *run;           /* borrowed */
        Door door;           /* borrows the case's connection */
        uint64_t speed;      /* how many times faster than ours the launch's clock is */
        unsigned n_failures; /* so many attempts to reopen the door fail first */
        bool has_no_guard;   /* none can be had */
        bool loses_guard;    /* once the program runs, there is no guard any more */
        bool takes_clearing; /* the guard clears away what is left at the end */
        bool outgrows_disk;  /* as soon as it runs, the workspace is too large */
        int exec_errno;      /* the gate cannot execute the program; 0: it can */

        bool is_let_go;      /* the gate was told to go */
        bool is_hung_up;     /* … or that nobody will ever */
        bool is_guard_done;  /* the guard was told that nothing is left */
        bool is_handed_over; /* … that it may clear away what is */
} World;

void world_begin(World *world, Case *run, sd_bus *bus);
void world_end(World *world);
DiskWatch *world_disk(const World *world); /* NULL: nothing to watch */
