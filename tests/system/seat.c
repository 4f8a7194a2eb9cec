/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "seat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <tap.h>
#include <unistd.h>

Seat seat_new(int rows, int columns) {
        Seat seat = { .fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };

        if (seat.fd < 0 || grantpt(seat.fd) < 0 || unlockpt(seat.fd) < 0 ||
            tcgetattr(seat.fd, &seat.before) < 0)
                BAIL_OUT("no terminal: %s", strerror(errno));
        /* Such as nobody gets by chance. */
        seat.before.c_cc[VINTR] = 24;
        seat.before.c_iflag |= IUTF8;
        (void)tcsetattr(seat.fd, TCSANOW, &seat.before);
        (void)tcgetattr(seat.fd, &seat.before);
        seat_resize(&seat, rows, columns);
        return seat;
}

void seat_close(Seat *seat) {
        if (seat->fd >= 0)
                (void)close(seat->fd);
        seat->fd = -1;
}

void seat_resize(const Seat *seat, int rows, int columns) {
        struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };

        (void)ioctl(seat->fd, TIOCSWINSZ, &size);
}

void seat_type(const Seat *seat, const char *keys) {
        if (write(seat->fd, keys, strlen(keys)) != (ssize_t)strlen(keys))
                BAIL_OUT("cannot type: %s", strerror(errno));
}

bool seat_is_raw(const Seat *seat) {
        struct termios now = { 0 };

        return tcgetattr(seat->fd, &now) == 0 && !(now.c_oflag & OPOST) &&
               !(now.c_lflag & (ICANON | ECHO | ISIG | IEXTEN)) && !(now.c_iflag & (IXON | ICRNL));
}

KitRun *seat_run(const Seat *seat, const char *const *options, const char *const *command) {
        KitOrder order = {
                .terminal_fd = seat->fd, .has_errors = true, .options = options, .command = command
        };

        return kit_start(&order);
}

const char *seat_victim(void) {
        static char path[4096];
        g_autofree char *found = kit_program("victim-terminal");

        g_strlcpy(path, found, sizeof path);
        return path;
}

void seat_check(const Seat *seat, const char *name) {
        const struct termios *before = &seat->before;
        struct termios now = { 0 };

        ok(tcgetattr(seat->fd, &now) == 0 && now.c_iflag == before->c_iflag &&
                   now.c_oflag == before->c_oflag && now.c_cflag == before->c_cflag &&
                   now.c_lflag == before->c_lflag &&
                   memcmp(now.c_cc, before->c_cc, sizeof now.c_cc) == 0,
           "%s: the terminal is as it was", name);
}
