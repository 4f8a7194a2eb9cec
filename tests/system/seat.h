/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A terminal whose other end is ours: what cordon shows comes out of it, what we type goes in, and it can be asked whether
 * it is as it was. */

#include <stdbool.h>
#include <termios.h>

#include "kit.h"

typedef struct {
        int fd; /* for KitOrder; −1: it is gone */
        struct termios before;
} Seat;

Seat seat_new(int rows, int columns);
void seat_close(Seat *seat);

void seat_resize(const Seat *seat, int rows, int columns);
void seat_type(const Seat *seat, const char *keys);
bool seat_is_raw(const Seat *seat);

/* Cordon runs it at this terminal; its words go into a pipe. */
KitRun *seat_run(const Seat *seat, const char *const *options, const char *const *command);

/* A part of victim-terminal, to be run. */
#define SITTER(part) WORDS(seat_victim(), part)
const char *seat_victim(void);

/* One point: nobody has changed it, for good. */
void seat_check(const Seat *seat, const char *name);
