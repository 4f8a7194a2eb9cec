/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "birth.h"

#include "dbus/error.h"
#include "launcher/gate/channel.h"
#include "units/compose.h"
#include "units/name.h"

Program *birth_program(const LaunchSettings *settings, const CheckSource *check, Fleet *fleet,
                       const CaptureSet *captures, ProgramHandler handler, void *userdata,
                       GError **error) {
        const Spec *spec = settings->spec;
        GateOrder order = gate_order_of(spec, settings->caller);
        g_auto(Account) account = { 0 };
        g_autoptr(Program) program = NULL;

        capture_set_stdio(captures, settings->stdio, order.stdio);
        order.has_terminal = settings->has_terminal;
        if (spec->is_scope && (spec->user || spec->group)) {
                if (!account_find_both(spec->user, spec->group, &account, error))
                        return NULL;
                order.account = &account;
        }
        order.enclosure = check->enclosing.enclosure;
        if (spec->is_scope && settings->is_best_effort && readback_has_stand_ins(&spec->limits))
                order.cpus = &spec->limits.cpus;
        program = program_new(settings->event, &order, handler, userdata, error);
        if (program && spec->is_scope &&
            !program_execute(program, fleet_nursery(fleet), check->gate_path, spec->id,
                             fleet_owner(fleet), error))
                return NULL;
        return g_steal_pointer(&program);
}

void birth_units(const CheckSource *check, const Fleet *fleet, Program *program, UnitWatch *watch) {
        ComposeContext context = {
                .owner = fleet_owner(fleet),
                .gate_fd = gate_channel_child_end(program_gate(program)),
                .gate_pid = program_pid(program),
        };
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        check_prepare(check, &context);
        compose(check->settings->spec, &context, &slice, &unit);
        unit_watch_start(watch, unit, slice);
        gate_channel_drop_child_end(program_gate(program)); /* the message has a copy */
}

bool birth_gate_is_dead(const Program *program, const UnitState *state) {
        return program_gate_ended(program) || unit_snapshot_has_ended(&state->snapshot);
}

/* … and what there is to hear of it is heard: from the gate's side, which a manager whose child could not execute it closes,
 * too; and why, from the manager, or there is none any more. */
static bool is_gate_gone(const Program *program, const UnitState *state) {
        if (state->is_disconnected)
                return birth_gate_is_dead(program, state);
        return program_gate_ended(program) &&
               (unit_snapshot_has_ended(&state->snapshot) || program_is_own(program));
}

bool birth_has_failed(const Program *program, const UnitState *state) {
        return gate_channel_failure(program_gate(program))->type == GATE_FAILURE ||
               state->is_removed || unit_state_start_failed(state) || is_gate_gone(program, state);
}

/* Only when the job is done the manager has put the gate into a scope. A service has started when it is forked (Type=simple),
 * but who says so may be heard after the gate. */
bool birth_is_over(const Program *program, const UnitState *state) {
        return program_said_hello(program) && !program_gate_ended(program) && state->job_result;
}

char *birth_explain(const Spec *spec, const GError *error) {
        if (g_error_matches(error, DBUS_ERROR, DBUS_ERROR_EXISTS))
                return name_in_use(spec->id);
        return NULL;
}
