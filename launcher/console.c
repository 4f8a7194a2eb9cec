/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keys and output may be two terminals, or one of them none, so each has its half of the modes: what is done to input
 * (and echoed) goes by the one, what is done to output by the other. Nothing is drained or flushed on a change: draining
 * waits for who has stopped his terminal, flushing loses what was typed ahead. */

#include "console.h"

#include <unistd.h>

typedef struct {
        int fd;
        bool *is_raw;
        struct termios *before;
        void (*make_raw)(struct termios *mode);
        void (*take_half)(struct termios *mode, const struct termios *from);
} Half;

static void make_input_raw(struct termios *mode) {
        struct termios raw = *mode;

        cfmakeraw(&raw);
        raw.c_oflag = mode->c_oflag;
        *mode = raw;
}

static void make_output_raw(struct termios *mode) {
        mode->c_oflag &= ~(tcflag_t)OPOST;
}

static void take_input_half(struct termios *mode, const struct termios *from) {
        tcflag_t output = mode->c_oflag;

        *mode = *from;
        mode->c_oflag = output;
}

static void take_output_half(struct termios *mode, const struct termios *from) {
        mode->c_oflag = from->c_oflag;
}

static Half input_half(Console *console) {
        return (Half){ console->input_fd, &console->is_input_raw, &console->input, make_input_raw,
                       take_input_half };
}

static Half output_half(Console *console) {
        return (Half){ console->output_fd, &console->is_output_raw, &console->output,
                       make_output_raw, take_output_half };
}

void console_init(Console *console, int input_fd, int output_fd) {
        *console = (Console){ .input_fd = isatty(input_fd) ? input_fd : -1,
                              .output_fd = isatty(output_fd) ? output_fd : -1 };
}

bool console_has_input(const Console *console) {
        return console->input_fd >= 0;
}

static int any_fd(const Console *console) {
        return console->input_fd >= 0 ? console->input_fd : console->output_fd;
}

/* Who has no part in its session's jobs is nobody's background. */
bool console_is_foreground(const Console *console) {
        int fd = any_fd(console);
        pid_t group = fd < 0 ? -1 : tcgetpgrp(fd);

        return group < 0 || group == getpgrp();
}

bool console_read_mode(const Console *console, struct termios *ret_mode) {
        return console_is_foreground(console) && tcgetattr(any_fd(console), ret_mode) == 0;
}

bool console_read_size(const Console *console, struct winsize *ret_size) {
        int fd = console->output_fd >= 0 ? console->output_fd : console->input_fd;

        return fd >= 0 && ioctl(fd, TIOCGWINSZ, ret_size) == 0 && ret_size->ws_col > 0 &&
               ret_size->ws_row > 0;
}

static void half_take(const Half *half) {
        struct termios mode;

        if (half->fd < 0 || tcgetattr(half->fd, &mode) < 0)
                return;
        if (!*half->is_raw)
                *half->before = mode;
        half->make_raw(&mode);
        *half->is_raw = tcsetattr(half->fd, TCSANOW, &mode) == 0;
}

/* The half as it was, the other as it is now. */
static void half_leave(const Half *half, bool is_ours) {
        struct termios mode;

        if (*half->is_raw && is_ours && tcgetattr(half->fd, &mode) == 0) {
                half->take_half(&mode, half->before);
                (void)tcsetattr(half->fd, TCSANOW, &mode);
        }
        *half->is_raw = false;
}

bool console_take(Console *console) {
        Half input = input_half(console), output = output_half(console);

        if (!console_is_foreground(console)) {
                console->is_input_raw = console->is_output_raw = false;
                return false;
        }
        half_take(&input);
        half_take(&output);
        return true;
}

void console_leave_input(Console *console) {
        Half input = input_half(console);

        half_leave(&input, console_is_foreground(console));
}

void console_leave(Console *console) {
        Half output = output_half(console);

        console_leave_input(console);
        half_leave(&output, console_is_foreground(console));
}

const char *console_line_end(int fd) {
        struct termios mode;

        return isatty(fd) && tcgetattr(fd, &mode) == 0 && !(mode.c_oflag & OPOST) ? "\r\n" : "\n";
}
