/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A run with somebody at its terminal: what happens there becomes what happens to the launch, and the terminal ends
 * when the run does, not before all that the program has said was shown. A run without a terminal has an attendance,
 * too, that does nothing. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launch.h"
#include "terminal.h"
#include "units/verdict.h"

typedef struct {
        Terminal *terminal; /* NULL: it has none */
        Launch *launch;     /* borrowed; NULL: not yet */
        sd_event *event;    /* likewise */
        bool heeds_hang_up, has_hung_up;
        bool has_keys;           /* a terminal of the program's own, and somebody at ours */
        bool is_interrupt_typed; /* Ctrl-C, which came to us */
        char *complaint;         /* for people: why what was said was not shown; NULL: it was */
} Attendance;

/* Makes a terminal and puts it in the place of the streams that the settings have for the program: they are where it is
 * shown. */
bool attend_open(Attendance *attendance, LaunchSettings *settings,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The program runs. May be called again. */
void attend_begin(Attendance *attendance, Launch *launch);

/* A signal to us. */
void attend_signal(Attendance *attendance, Launch *launch, const struct signalfd_siginfo *info);

/* Ctrl-C, and it was no key like others to the program. Then a shell wants to see that we ended by it, too, or it goes on
 * with its loop or script. */
bool attend_was_interrupted(const Attendance *attendance, const Facts *facts,
                            const Verdict *verdict);

/* The run is over: the loop ends when there is nothing left to be shown. */
void attend_finish(Attendance *attendance, Launch *launch, sd_event *event);

/* The caller has his terminal back. */
void attend_end(Attendance *attendance);

void attend_clear(Attendance *attendance);
