/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The first phase of a launch. */

#include "life.h"

/* One attempt at a start: gate, watch, units. */
bool starting_begin(Launch *launch, GError **error) G_GNUC_WARN_UNUSED_RESULT;

bool starting_awaits_gate(const Launch *launch);         /* the manager has done its part */
bool starting_awaits_guard(const Launch *launch);        /* all else is there, or comes by it */
void starting_on_comeback(Launch *launch, bool is_back); /* of a manager that was away */
void starting_decide(Launch *launch);
void starting_on_obstacle(bool is_gone, void *userdata);
void starting_refuse_gate(Launch *launch); /* it ended before the program could be executed */
