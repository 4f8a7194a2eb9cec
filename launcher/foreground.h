/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The caller's terminal, while a child of ours has it as if we were not there: its signals are the program's, a program
 * that stops stops us with it, and afterwards all is as it was. */

#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

typedef struct Foreground Foreground;

/* NULL: there is no terminal. */
Foreground *foreground_new(void);

/* Back to what it was, where it was ours and unless it belongs to somebody else by now: its modes are also those of who
 * reads what we wrote into a pipe. */
void foreground_restore(Foreground *foreground);
void foreground_free(Foreground *foreground);

/* What the terminal tells us it tells the program, too. */
bool foreground_is_shared(const Foreground *foreground, pid_t program);

/* SIGTSTP is not ignored. */
bool foreground_heeds_stops(void);

/* This one came from a key, and the program has it, too: if it stops, we do. */
bool foreground_leaves_stop(const Foreground *foreground, pid_t program,
                            const struct signalfd_siginfo *info);

/* As SIGTSTP does, which is blocked meanwhile. */
void foreground_stop_alone(void);

/* The program was stopped: so are we, for whoever waits for us, until we are told to go on; then it is. */
void foreground_stop_with(Foreground *foreground, pid_t program);
