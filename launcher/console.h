/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The caller's own terminal while a program's is shown on it: raw, so that keys and output get through as they are, and
 * then as it was. It is touched only while it is ours to touch: who runs in the background leaves it alone. */

#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

typedef struct {
        int input_fd, output_fd; /* borrowed; −1: no terminal */
        bool is_input_raw, is_output_raw;
        struct termios input, output; /* before; of each its own half counts */
} Console;

/* Descriptors that are no terminals are no part of it. */
void console_init(Console *console, int input_fd, int output_fd);

bool console_has_input(const Console *console);
bool console_is_foreground(const Console *console);

/* False: there is none to be asked. */
bool console_read_mode(const Console *console, struct termios *ret_mode);
bool console_read_size(const Console *console, struct winsize *ret_size);

/* Raw from now on. False: it is another's, and is not touched. May be called again, after it was another's for instance. */
bool console_take(Console *console);

/* As it was: the keys alone, or all of it. */
void console_leave_input(Console *console);
void console_leave(Console *console);

/* Of a line of ours: a raw terminal does not return to its beginning by itself. */
const char *console_line_end(int fd);
