/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a Launch is to those who are part of it: launcher/launch and its first phase, launcher/starting. */

#include "check.h"
#include "enforcer.h"
#include "fleet.h"
#include "launch.h"
#include "launcher/guard/link.h"
#include "launcher/kernel/cgroup.h"
#include "obstacle.h"
#include "poolslice.h"
#include "program.h"

typedef enum {
        PHASE_STARTING,
        PHASE_RUNNING,
        PHASE_ENDING,
        PHASE_CLEARING,
        PHASE_OVER,
} Phase;

struct Launch {
        LaunchSettings settings;
        Fleet *fleet;
        char *unit, *slice;
        Phase phase;
        Facts facts;
        Readback readback;
        CheckSource check;

        Program *program;
        bool is_asked; /* the manager, for the units */
        bool is_early; /* begun while the manager, or the way to it, was away: to be begun again */
        bool is_gate_awaited, is_guard_awaited, is_concluded, is_told;
        UnitWatch *watch;
        GuardWatch *guard;
        Enforcer *enforcer; /* from "go" on */
        Obstacle *obstacle;
        PoolSlice *pool; /* NULL: it is in none */
        Cgroup *cgroup;
        CaptureSet captures;
        unsigned signals; /* to us */

        sd_event_source *over;
        sd_event_source *patience; /* of the phase: starting, the manager's last word, clearing */
};

/* Looks at everything and acts on what is true now; also the handler of whoever has news. */
void life_decide(void *userdata);
void life_on_program(void *userdata);
void life_on_guard(void *userdata);
int life_on_patience(sd_event_source *source, uint64_t usec, void *userdata);

/* Nothing of the program has run. What the manager has made for us is killed and cleared away; where it has not answered
 * it may still make it, and the guard sees to that. Where it said no, the unit of that name, if any, is not ours. */
void life_refuse(Launch *launch, const char *code, const char *message);
void life_refuse_error(Launch *launch, const GError *error);

/* The gate hears that there is nobody any more, or is killed. Only a unit that has come to rest can be cleared away: one
 * that fails afterwards would stay. */
void life_end_unstarted(Launch *launch);

/* is_clean: nothing of the run is left at the manager. Else the guard is left to end it. */
void life_end(Launch *launch, bool is_clean);
