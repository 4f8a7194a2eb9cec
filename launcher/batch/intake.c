/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A regular file cannot be polled, and never makes us wait for long: it is read in pieces where a line is asked for. The
 * same goes for what epoll does not take (/dev/null). All else is listened to only while somebody waits for a line. */

#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/outlet.h"
#include "lines.h"
#include "units/text.h"

#define PIECE      65536
#define NAME_SHOWN 80

struct Intake {
        char *name;
        int fd; /* ours to close; −1: it is standard input */
        Outlet outlet;
        bool is_regular;
        uint64_t size_bytes; /* of a regular file */
        Lines *lines;
        int error;

        sd_event_source *io; /* NULL: none is needed, or there is no loop */
        bool has_loop;
        IntakeHandler handler;
        void *userdata;
};

static bool fail(const char *name, const char *why, GError **error) {
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE, "cannot read jobs from %s: %s",
                    name, why);
        return false;
}

/* Standard input that is close-on-exec is main()'s: the caller had closed it. */
static bool open_source(Intake *intake, const char *path, GError **error) {
        bool is_stdin = !path || strcmp(path, "-") == 0;
        int fd = STDIN_FILENO, flags;
        struct stat st;

        if (!is_stdin)
                fd = intake->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 || fstat(fd, &st) < 0)
                return fail(intake->name, g_strerror(errno), error);
        flags = fcntl(fd, F_GETFD);
        if (is_stdin && (flags < 0 || (flags & FD_CLOEXEC)))
                return fail(intake->name, "it is closed", error);
        if (S_ISDIR(st.st_mode))
                return fail(intake->name, g_strerror(EISDIR), error);
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
                return fail(intake->name, "it is open for writing only", error);
        intake->is_regular = S_ISREG(st.st_mode);
        intake->size_bytes = (uint64_t)st.st_size;
        if (intake->is_regular)
                intake->outlet.fd = fd;
        else
                outlet_open(&intake->outlet, fd, O_RDONLY);
        return true;
}

Intake *intake_open(const char *path, GError **error) {
        g_autoptr(Intake) intake = g_new0(Intake, 1);
        bool is_stdin = !path || strcmp(path, "-") == 0;
        g_autofree char *shown = is_stdin ? NULL : text_printable(path, NAME_SHOWN);

        intake->name = is_stdin ? g_strdup("standard input") : g_strdup_printf("\"%s\"", shown);
        intake->fd = -1;
        intake->outlet = OUTLET_INIT;
        intake->lines = lines_new(INTAKE_LINE_MAX);
        if (!open_source(intake, path, error))
                return NULL;
        return g_steal_pointer(&intake);
}

void intake_free(Intake *intake) {
        if (!intake)
                return;
        sd_event_source_disable_unref(intake->io);
        outlet_close(&intake->outlet);
        if (intake->fd >= 0)
                (void)close(intake->fd);
        lines_free(intake->lines);
        g_free(intake->name);
        g_free(intake);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Intake *intake = userdata;

        intake_rest(intake);
        intake->handler(intake->userdata);
        return 0;
}

void intake_attach(Intake *intake, sd_event *event, IntakeHandler handler, void *userdata) {
        intake->has_loop = true;
        intake->handler = handler;
        intake->userdata = userdata;
        if (intake->is_regular)
                return;
        if (sd_event_add_io(event, &intake->io, intake->outlet.fd, EPOLLIN, on_readable, intake) <
            0)
                intake->io = NULL;
        else
                intake_rest(intake);
}

void intake_rest(Intake *intake) {
        if (intake->io)
                (void)sd_event_source_set_enabled(intake->io, SD_EVENT_OFF);
}

static bool wait_for_more(const Intake *intake) {
        struct pollfd wait = { .fd = intake->outlet.fd, .events = POLLIN };

        return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

static ssize_t read_piece(const Intake *intake, char *piece) {
        if (intake->is_regular || (intake->has_loop && !intake->io))
                return read(intake->outlet.fd, piece, PIECE);
        return outlet_read(&intake->outlet, piece, PIECE);
}

/* False: not now. */
static bool read_more(Intake *intake) {
        char piece[PIECE];
        ssize_t n = read_piece(intake, piece);

        if (n > 0) {
                lines_put(intake->lines, piece, (size_t)n);
        } else if (n == 0) {
                lines_end(intake->lines);
        } else if (errno == EAGAIN) {
                if (!intake->has_loop)
                        return wait_for_more(intake);
                (void)sd_event_source_set_enabled(intake->io, SD_EVENT_ON);
                return false;
        } else if (errno != EINTR) {
                intake->error = errno;
        }
        return true;
}

static bool is_blank(const char *text, size_t size) {
        return strspn(text, " \t\r") == size;
}

IntakeResult intake_next(Intake *intake, IntakeLine *ret_line) {
        for (;;) {
                const char *text = NULL;
                size_t size = 0;
                LinesResult result = intake->error ? LINES_ENDED
                                                   : lines_next(intake->lines, &text, &size);

                if (intake->error)
                        return INTAKE_FAILED;
                if (result == LINES_ENDED)
                        return INTAKE_ENDED;
                if (result == LINES_MORE && !read_more(intake))
                        return INTAKE_WAIT;
                if (result == LINES_MORE || (result == LINES_LINE && is_blank(text, size)))
                        continue;
                *ret_line = (IntakeLine){ text, size, lines_number(intake->lines) };
                return result == LINES_HUGE ? INTAKE_HUGE : INTAKE_LINE;
        }
}

const char *intake_name(const Intake *intake) {
        return intake->name;
}

int intake_error(const Intake *intake) {
        return intake->error;
}

bool intake_is_file(const Intake *intake) {
        return intake->is_regular;
}

uint64_t intake_estimate(const Intake *intake, uint64_t lines) {
        uint64_t consumed = lines_consumed(intake->lines);

        if (!intake->is_regular || consumed == 0 || lines == 0)
                return 0;
        return (uint64_t)((double)lines * (double)MAX(intake->size_bytes, consumed) /
                          (double)consumed);
}
