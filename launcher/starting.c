/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first phase, up to "go" or to the reason why there is none. What can go on at the same time does: our own gate is
 * executed while the manager shakes hands, and the guard hears of us while the units are made; the hierarchies of cgroups
 * are found then, too. */

#include "starting.h"

#include "birth.h"
#include "deadline.h"
#include "launcher/kernel/error.h"

#define START_PATIENCE_USEC (90 * G_USEC_PER_SEC) /* an emulated machine needs a good part of it */
#define GUARD_PATIENCE_USEC (25 * G_USEC_PER_SEC)
/* What the manager sets up between fork and exec can hang (a file system that does not answer), and the manager, to whom the
 * unit has started, would let it. Generous, because emulated machines are slow. */
#define GATE_PATIENCE_USEC  (30 * G_USEC_PER_SEC)

static void be_patient(Launch *launch, uint64_t usec) {
        deadline_arm(launch->settings.event, &launch->patience, usec, life_on_patience, launch);
}

/* Our own gate is on its way meanwhile. */
static void ask(Launch *launch) {
        launch->is_asked = true;
        be_patient(launch, START_PATIENCE_USEC);
        if (!launch->guard)
                launch->guard = guard_watch_new(fleet_guard(launch->fleet),
                                                launch->settings.spec->id, life_on_guard, launch);
        if (guard_watch_error(launch->guard)) { /* and nobody would take cordon.slice away */
                launch->is_asked = false;
                life_refuse_error(launch, guard_watch_error(launch->guard));
                return;
        }
        birth_units(&launch->check, launch->fleet, launch->program, launch->watch);
        check_look_ahead(&launch->check);
}

bool starting_begin(Launch *launch, GError **error) {
        g_clear_pointer(&launch->program, program_free);
        g_clear_pointer(&launch->watch, unit_watch_free);
        launch->is_early = fleet_is_cut_off(launch->fleet);
        launch->is_asked = launch->is_gate_awaited = false;
        be_patient(launch,
                   launch->settings.door->is_relayed ? GUARD_PATIENCE_USEC : START_PATIENCE_USEC);
        launch->watch = unit_watch_new(fleet_board(launch->fleet), launch->unit, launch->slice,
                                       life_decide, launch);
        launch->program = birth_program(&launch->settings, &launch->check, launch->fleet,
                                        &launch->captures, life_on_program, launch, error);
        if (!launch->program)
                return false;
        launch->check.gate = program_gate(launch->program);
        if (!launch->is_early && unit_watch_state(launch->watch)->is_connected)
                ask(launch);
        return true;
}

/* Where nothing was sent, there is nothing that could have come of it. */
void starting_on_comeback(Launch *launch, bool is_back) {
        g_autoptr(GError) error = NULL;

        if (!launch->is_early)
                return;
        if (is_back && launch->is_asked) {
                obstacle_end_own(launch->obstacle, fleet_owner(launch->fleet));
                return;
        }
        launch->is_early = false;
        if (!is_back)
                life_refuse(launch, "manager-unreachable",
                            "the manager went away and did not come back");
        else if (!starting_begin(launch, &error))
                life_refuse_error(launch, error);
}

static void go(Launch *launch) {
        g_autoptr(GError) error = NULL;
        EnforcerSettings enforcer = {
                .event = launch->settings.event,
                .limits = &launch->settings.spec->limits,
                .watch = launch->watch,
                .readback = &launch->readback,
                .disk = launch->settings.disk,
                .is_login = launch->settings.spec->is_login,
                .facts = &launch->facts,
        };

        if (!check_gate(&launch->check, &launch->cgroup, &launch->readback, &error)) {
                life_refuse_error(launch, error);
                return;
        }
        if (launch->settings.on_ready)
                launch->settings.on_ready(launch->settings.userdata);
        if (launch->phase != PHASE_STARTING)
                return; /* cancelled by who was told: all was there but the program */

        launch->phase = PHASE_RUNNING;
        deadline_disarm(&launch->patience);
        launch->facts.stage = STAGE_EXECUTED; /* unless the gate says otherwise */
        launch->facts.started_realtime_usec = (uint64_t)g_get_real_time();
        launch->facts.started_usec = (uint64_t)g_get_monotonic_time();
        enforcer.cgroup = launch->cgroup;
        launch->enforcer = enforcer_new(&enforcer);
        capture_set_drop_write_ends(&launch->captures); /* the gate has its own */
        program_go(launch->program);
        cgroup_rest(launch->cgroup);
}

static void refuse_start(Launch *launch) {
        const GError *error = unit_watch_state(launch->watch)->start_error;
        g_autofree char *message = birth_explain(launch->settings.spec, error);

        if (obstacle_remove(launch->obstacle, error))
                return;
        life_refuse(launch, launcher_error_word(error), message ?: error->message);
}

void starting_on_obstacle(bool is_gone, void *userdata) {
        Launch *launch = userdata;
        g_autoptr(GError) error = NULL;

        if (launch->phase != PHASE_STARTING)
                return; /* cancelled meanwhile */
        if (!is_gone)
                refuse_start(launch);
        else if (!starting_begin(launch, &error))
                life_refuse_error(launch, error);
}

void starting_refuse_gate(Launch *launch) {
        g_autoptr(GError) error = NULL;

        program_hear_gate(launch->program); /* why, it knows best */
        if (gate_channel_failure(program_gate(launch->program))->type == GATE_FAILURE)
                check_explain_failure(&launch->check, &error);
        else
                check_explain_end(&launch->check, unit_watch_state(launch->watch), &error);
        life_refuse_error(launch, error);
}

/* Before the manager has answered nobody knows whether there is something to end, unless nothing was asked of it. */
static void decide_cancelled(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_accepted)
                life_end_unstarted(launch);
        else if (!launch->is_asked)
                life_end(launch, true);
        else if (state->start_error || state->is_disconnected)
                life_end(launch, unit_state_is_refused(state));
}

static void await_guard(Launch *launch) {
        launch->is_guard_awaited = true;
        be_patient(launch, GUARD_PATIENCE_USEC);
}

bool starting_awaits_guard(const Launch *launch) {
        return launch->is_guard_awaited || (!launch->is_asked && launch->settings.door->is_relayed);
}

static void await_gate(Launch *launch) {
        launch->is_gate_awaited = true;
        be_patient(launch, GATE_PATIENCE_USEC);
}

bool starting_awaits_gate(const Launch *launch) {
        return launch->is_gate_awaited && !program_said_hello(launch->program);
}

/* Not only when the guard watches: one in other namespaces may never get to understand us. */
static void decide_ready(Launch *launch) {
        g_autoptr(GError) error = NULL;

        if (!check_world(&launch->check, &error) || !pool_slice_settle(launch->pool, &error))
                life_refuse_error(launch, error);
        else if (pool_slice_is_settled(launch->pool) && guard_watch_is_watched(launch->guard))
                go(launch);
        else if (!launch->is_guard_awaited)
                await_guard(launch);
}

static void decide_unasked(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        /* A guard that left just now: the next connection is to the manager itself. */
        if (state->is_disconnected && launch->settings.door->is_relayed)
                launch->is_early = true;
        else if (state->is_disconnected)
                life_refuse(launch, "manager-unreachable",
                            "the manager closed the connection before it had answered");
        else if (state->is_connected)
                ask(launch);
}

/* It is the guard that was killed, and not the manager. Nothing of the program has run, so that all can begin anew, over a
 * connection to the manager itself. */
static bool is_cut_off_by_guard(const Launch *launch) {
        return launch->settings.door->is_relayed &&
               unit_watch_state(launch->watch)->is_disconnected;
}

static void await_comeback(Launch *launch) {
        launch->is_early = true;
        launch->is_gate_awaited = launch->is_guard_awaited = false;
        be_patient(launch, START_PATIENCE_USEC);
}

/* It may have ended before the manager hung up, and not have had its turn. */
static bool is_gate_dead(Launch *launch) {
        program_hear_gate(launch->program);
        return birth_gate_is_dead(launch->program, unit_watch_state(launch->watch));
}

void starting_decide(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->facts.stage == STAGE_CANCELLED)
                decide_cancelled(launch);
        else if (launch->is_early)
                return; /* until the manager is back */
        else if (!launch->is_asked)
                decide_unasked(launch);
        else if (!launch->guard)
                return; /* it failed before there is anything to decide */
        else if (is_cut_off_by_guard(launch))
                await_comeback(launch);
        else if (guard_watch_error(launch->guard) && (state->is_accepted || state->start_error))
                life_refuse_error(launch, guard_watch_error(launch->guard));
        else if (state->start_error)
                refuse_start(launch);
        else if (state->is_disconnected && !(state->is_accepted && is_gate_dead(launch)))
                life_refuse(launch, "manager-unreachable",
                            "the manager closed the connection while it started the unit");
        else if (!state->is_accepted)
                return; /* also when the gate's end is closed: that is how a manager refuses it */
        else if (birth_has_failed(launch->program, state))
                starting_refuse_gate(launch);
        else if (birth_is_over(launch->program, state))
                decide_ready(launch);
        else if (state->job_result && !launch->is_gate_awaited)
                await_gate(launch);
}
