/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What an attempt at a start is made of: a gate that waits for its request, and the units that are asked for. In a service
 * the manager executes the gate; into a scope goes one that we have executed. */

#include "check.h"
#include "dbus/watch.h"
#include "fleet.h"
#include "launch.h"
#include "program.h"

Program *birth_program(const LaunchSettings *settings, const CheckSource *check, Fleet *fleet,
                       const CaptureSet *captures, ProgramHandler handler, void *userdata,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

void birth_units(const CheckSource *check, const Fleet *fleet, Program *program, UnitWatch *watch);

/* Of units that the manager has accepted: the gate will not get to wait for "go"; it waits. */
bool birth_has_failed(const Program *program, const UnitState *state);
bool birth_is_over(const Program *program, const UnitState *state);

/* As far as is known: it hung up, or the manager has said so. */
bool birth_gate_is_dead(const Program *program, const UnitState *state);

/* Why the manager would not, where its own words say little; NULL: they will do. */
char *birth_explain(const Spec *spec, const GError *error);
