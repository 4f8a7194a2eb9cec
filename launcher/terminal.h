/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A terminal for the program, and who sits at it: what the program writes goes to the caller, what the caller types goes
 * to the program, both without ever waiting and with no more in between than two small buffers. The caller's own
 * terminal, if that is what he has, is raw meanwhile. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Terminal Terminal;

#define TERMINAL_PATIENT UINT64_MAX

typedef struct {
        sd_event *event;         /* borrowed */
        int input_fd, output_fd; /* the caller's; −1: nothing is typed, nobody is written to */
        /* Takes what the program writes, instead of output_fd; NULL: nobody. */
        void (*on_output)(void *userdata, const void *data, size_t size);
        bool (*has_ended)(const void *userdata); /* the program: what is typed now is not for it */
        void (*on_escape)(void *userdata);       /* Ctrl-], three times */
        void (*on_hang_up)(void *userdata);      /* the caller's terminal is gone */
        void (*on_unwritable)(void *userdata,
                              int error_number); /* what is no terminal takes no more */
        void (*on_finished)(void *userdata);
        void *userdata;
} TerminalSettings;

Terminal *terminal_new(const TerminalSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void terminal_free(Terminal *terminal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Terminal, terminal_free)

/* The program's end, which stays ours, too. */
int terminal_program_end(const Terminal *terminal);

/* The program has it: from now on keys and output pass. Once is enough. */
void terminal_begin(Terminal *terminal);

/* The program has ended: what it has written still passes, and on_finished comes when that has gone out. It is not waited
 * for somebody who takes nothing of it for longer than the patience. */
void terminal_finish(Terminal *terminal, uint64_t patience_usec);
bool terminal_is_finishing(const Terminal *terminal);

/* Nothing passes any more, and the caller has his terminal back as it was. */
void terminal_end(Terminal *terminal);
