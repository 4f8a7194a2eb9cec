/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The program as a process: what we hear of it ourselves, from the gate that becomes it and from the kernel, whatever the
 * manager says. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "dbus/watch.h"
#include "launcher/gate/channel.h"
#include "launcher/kernel/cgroup.h"
#include "nursery.h"
#include "units/facts.h"

typedef struct Program Program;

/* There is news. */
typedef void (*ProgramHandler)(void *userdata);

/* The gate's end of the channel is to be given to a unit. */
Program *program_new(sd_event *event, const GateOrder *order, ProgramHandler handler,
                     void *userdata, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void program_free(Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

/* In a scope: the gate is a child of ours. The nursery is borrowed. */
bool program_execute(Program *program, Nursery *nursery, const char *gate_path, const char *id,
                     const char *owner, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool program_is_own(const Program *program); /* it was */
pid_t program_pid(const Program *program); /* of such a child; 0: it is the manager's, or reaped */

GateChannel *program_gate(const Program *program);
bool program_said_hello(const Program *program);
/* Nothing more will come: it was executed after "go", or the gate is gone. */
bool program_gate_ended(const Program *program);

/* The gate may execute it; its death is watched for. */
void program_go(Program *program);

/* It hears what the terminal has to say to us. */
bool program_shares_terminal(const Program *program);

/* It was a child of ours, and one of those who tell of its death has told. */
bool program_is_ending(const Program *program);

/* It is dead, and not all that is to be heard of it has had its turn. */
bool program_is_dying(const Program *program);

/* All that the gate has said by now, whoever has the next turn. */
void program_hear_gate(Program *program);

/* It is dead, and whoever could tell how has told. */
bool program_is_dead(const Program *program);
/* Who is in its cgroup besides the gate that may stay there. */
uint64_t program_count_others(const Program *program, Cgroup *cgroup);
/* How, as the manager would say it, where the manager's main process is another, or it has none. False: it has to say. */
bool program_learn_end(const Program *program, int *ret_code, int *ret_status);
/* Nobody has outlived it. True: the manager is to be asked for the unit's state, and that is all. */
bool program_asks_nothing_more(Program *program);

/* The manager, or who knows it in its place, has said how. */
bool program_has_ended(const Program *program, const UnitState *state);
void program_put_end(const Program *program, const UnitState *state, Facts *facts);
uint64_t program_death_usec(const Program *program); /* monotonic; 0: it is not dead */
uint64_t program_death_realtime_usec(const Program *program);

/* Nobody listens any more. */
void program_hush(Program *program);
