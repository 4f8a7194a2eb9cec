/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The program as a process: what we hear of it ourselves, from the gate that becomes it and from the kernel, whatever the
 * manager says. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "launcher/gate/channel.h"

typedef struct Program Program;

/* There is news. */
typedef void (*ProgramHandler)(void *userdata);

/* The gate's end of the channel is to be given to a unit. */
Program *program_new(sd_event *event, const GateOrder *order, ProgramHandler handler,
                     void *userdata, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void program_free(Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

GateChannel *program_gate(const Program *program);
bool program_said_hello(const Program *program);
/* Nothing more will come: it was executed after "go", or the gate is gone. */
bool program_gate_ended(const Program *program);

/* The gate may execute it; its death is watched for. */
void program_go(Program *program);

/* It is dead, and whoever could tell how has told. */
bool program_is_dead(const Program *program);
/* How, as the manager would say it, where the manager's main process is another. False: it has to say. */
bool program_learn_end(const Program *program, int *ret_code, int *ret_status);
uint64_t program_death_usec(const Program *program); /* monotonic; 0: it is not dead */
uint64_t program_death_realtime_usec(const Program *program);

/* Nobody listens any more. */
void program_hush(Program *program);
