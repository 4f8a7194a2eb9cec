/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where the record goes: a file, standard output, or a descriptor of the caller's. Opened before anything runs: who asks
 * for a record and cannot have it is told before, not after. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/interrupt.h"
#include "launcher/replacement.h"

typedef struct {
        int fd;         /* −1: none */
        bool is_ours;   /* to be closed */
        bool is_stream; /* a path that is one of the caller's streams: written behind what is there */
        char *name;     /* as asked, for messages */
        int error;      /* errno of the first write that failed; 0: none has */
        Replacement replacement; /* of a regular file; its fd may be ours */
} Sink;

#define SINK_INIT \
        { .fd = -1, .replacement = REPLACEMENT_INIT }

/* "-", "fd:N" or a path. */
bool sink_open(const char *where, Sink *ret_sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The record: begun, put in pieces (after a failure nothing more is written), ended with a newline. It takes the place of
 * what a file held, whole or not at all. */
void sink_begin(Sink *sink);
void sink_put(Sink *sink, const char *data, size_t size);
bool sink_end(Sink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a signal before there is a record; in place, where the file is there already. The text is borrowed. */
InterruptNote sink_note(const Sink *sink, const char *text);

bool sink_is_terminal(const Sink *sink);
void sink_clear(Sink *sink);
