/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The launcher's end of the conversation with a gate (protocol.h says how it goes). */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/kernel/account.h"
#include "launcher/kernel/caller.h"
#include "protocol.h"
#include "units/enclosure.h"
#include "units/spec.h"

typedef struct GateChannel GateChannel;

typedef struct {
        char *const *command; /* argv */
        char *const *environment;
        const Caller *caller;
        uint32_t rlimit_mask; /* which of the caller's rlimits the program gets: those nobody asked to change */
        GateRlimit asked[GATE_RLIMITS]; /* that nobody but the gate can set, … */
        uint32_t asked_mask;            /* … and which */
        const CpuList *cpus;            /* likewise; NULL: none */
        uint32_t schedule_parts;        /* likewise of its schedule: GATE_UNAPPLIED_… */
        const Allow *allow;             /* what is to be shown closed; NULL: nothing */
        const Enclosure *enclosure;     /* the gate makes it itself; NULL: a manager has done so */
        int stdio[3];                   /* −1: closed */
        bool is_directory_another;      /* than the caller's of that path: so it was asked for */
        const Account *account;         /* that only the gate can become; NULL: none */
        bool keep_groups;           /* the manager sets another user: the groups are that user's */
        bool keep_umask, keep_nice; /* the manager sets others */
        bool is_scoped;             /* its signals shall stay inside */
        bool has_terminal;          /* stdio[0] is one, and the program's own */
        bool is_login;              /* a shell that is told so by its name */
} GateOrder;

typedef enum {
        GATE_NEWS_NONE, /* nothing to read */
        GATE_NEWS_HELLO,
        GATE_NEWS_FAILURE,
        GATE_NEWS_END, /* end of file: executed after "go", dead before */
} GateNews;

/* All of it but the streams, which are all closed. */
GateOrder gate_order_of(const Spec *spec, const Caller *caller);

/* Makes the pair and puts the request into it, where it waits for the gate. */
GateChannel *gate_channel_new(const GateOrder *order, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void gate_channel_free(GateChannel *channel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GateChannel, gate_channel_free)

/* Ours, for the loop; another one from hello on. */
int gate_channel_fd(const GateChannel *channel); /* ours, for the loop */
int gate_channel_child_end(
        const GateChannel *channel); /* the unit's standard input; until dropped */
void gate_channel_drop_child_end(
        GateChannel *channel); /* once the manager has it: else its end would not be seen */

GateNews gate_channel_read(GateChannel *channel);

/* After its hello the gate is heard over another descriptor. The former stays open until the loop has let it go: a child of
 * ours that is just being executed has it as well, so that closing it would not take it out of the loop. */
void gate_channel_leave_former(GateChannel *channel);

const GateHello *gate_channel_hello(const GateChannel *channel);
const GateFailure *gate_channel_failure(const GateChannel *channel);
/* Where the gate is, when it has said anything; else nothing can be seen. */
const GateWorld *gate_channel_world(const GateChannel *channel);
int gate_channel_pidfd(const GateChannel *channel); /* of the program; −1 before hello; stays ours */

/* Of a gate that stays as process 1 of a pid namespace; −1: there is none, or it is dismissed. Readable when the program
 * has ended. Reading: false: nothing yet; true: it has said how the program ended, or is gone itself. */
int gate_channel_init_fd(const GateChannel *channel);
bool gate_channel_read_end(GateChannel *channel);
const GateEnd *gate_channel_end(const GateChannel *channel); /* NULL: it has not said */
void gate_channel_dismiss(GateChannel *channel);             /* it ends, and all in there */

/* It could not see that this is as the caller has it: GATE_UNAPPLIED_… */
void gate_channel_take_back(GateChannel *channel, uint32_t unapplied);

/* It has said all that it will. */
void gate_channel_close(GateChannel *channel);

/* No "go" will come: a gate that waits for it ends. */
void gate_channel_hang_up(GateChannel *channel);

void gate_channel_go(GateChannel *channel);
