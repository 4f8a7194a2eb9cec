/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Signals to cordon itself while no event loop hears them. Before the run a signal ends us at once with what was prepared
 * for that: the words and the record of a run that was cancelled. After it, and wherever else we write to somebody who
 * may not read, a signal ends us only where we would wait for him. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The signals that cancel a run; 0: no more. */
#define INTERRUPT_SIGNALS 6
int interrupt_signal(size_t index);

/* To be written to a descriptor when the signal comes. */
typedef struct {
        int fd;
        bool is_replaced; /* a file: what it holds goes */
        int dir_fd;
        const char *name; /* that a file without one gets there then; NULL: none */
        const char *text; /* a copy is kept; NULL: nothing */
} InterruptNote;

#define INTERRUPT_NOTES 2

/* Bit n−1 of ignored: the caller ignores signal n, and so do we. */
void interrupt_begin(uint64_t ignored);

/* For each signal, by its index, in place of what was prepared before; the notes are written in their order. */
void interrupt_prepare(const InterruptNote notes[INTERRUPT_SIGNALS][INTERRUPT_NOTES]);
void interrupt_forget(void); /* all that was prepared */

/* From now on they are blocked: they wait for the loop, or for a write that has to wait. */
void interrupt_hold(void);

/* All of it. While the other end takes nothing, a signal that is held ends us as if nobody had ever handled it. */
bool interrupt_write(int fd, const char *text, size_t size) G_GNUC_WARN_UNUSED_RESULT;

/* As whoever has no handler for Ctrl-C ends by it. */
void interrupt_end(void);
