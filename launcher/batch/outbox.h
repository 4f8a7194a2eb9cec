/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where records go: one whole line each, in the order in which they come or in that of their jobs, without ever waiting
 * for the reader. What he does not take is kept here, and there is soon no room for more jobs: a slow reader slows what
 * begins, and memory is bounded. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Outbox Outbox;

/* There is room again, all of it was written, or it has failed. */
typedef void (*OutboxHandler)(void *userdata);

typedef struct {
        int fd;          /* borrowed */
        bool is_ordered; /* by place, from 0 on without a gap */
        OutboxHandler handler;
        void (*before_write)(void *userdata); /* NULL: nobody cares */
        void *userdata;
} OutboxSettings;

/* What is added to a file whose last line was torn begins on a line of its own. */
Outbox *outbox_new(sd_event *event, const OutboxSettings *settings);
void outbox_free(Outbox *outbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Outbox, outbox_free)

/* Takes the line, which has its newline. NULL: this place stays empty. */
void outbox_put(Outbox *outbox, uint64_t place, GString *line);

bool outbox_has_room(const Outbox *outbox);
bool outbox_is_empty(const Outbox *outbox); /* of what can be written */
int outbox_error(
        const Outbox
                *outbox); /* errno of the write that failed; EPIPE also for a reader who is gone */
