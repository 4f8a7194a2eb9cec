/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A source is on only while its event could be made use of: who has nothing to read, or no room, does not listen (and
 * does not turn in circles over a hang-up, which nobody can decline). That is all there is of back pressure; settle()
 * sees to it after everything that happens.
 *
 * Our copy of the program's end keeps the kernel from telling that nobody has it open, which proves nothing: a program
 * may close it and open /dev/tty later. That it is over is said by who knows (terminal_finish), and then all that was
 * written is there to be read without waiting. */

#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "console.h"
#include "deadline.h"
#include "launcher/kernel/error.h"
#include "outlet.h"

#define OUTPUT_SIZE       65536
#define INPUT_SIZE        4096
#define TURNS             8            /* then other events get theirs */
#define REST_SIZE         (1U << 20)   /* more than a terminal holds: a stranger is writing */
#define LOOK_USEC         (250 * 1000) /* nobody tells a job that it was brought to the foreground */
#define ESCAPE            0x1d         /* Ctrl-] */
#define ESCAPES           3
#define ESCAPE_USEC       G_USEC_PER_SEC
#define END_OF_FILE       4 /* Ctrl-D */
#define COLUMNS_ELSEWHERE 80
#define ROWS_ELSEWHERE    24

typedef struct {
        uint8_t *data;
        size_t begin, end, size;
} Buffer;

struct Terminal {
        TerminalSettings settings;
        int master_fd, program_fd;
        Console console;
        Outlet input, output;
        Buffer typed, written;
        uint8_t last_typed;
        unsigned escapes;
        uint64_t escape_usec; /* of the first one */

        bool has_begun, is_ended, is_finishing;
        bool is_foreground;
        bool is_input_over, is_output_over, is_dry; /* dry: there was nothing to be read */
        uint64_t patience_usec;
        size_t rest; /* what is still read when it is finishing */

        sd_event_source *master_io, *input_io, *output_io;
        sd_event_source *input_always; /* of a file, which poll(2) knows nothing of */
        sd_event_source *size_changed, *continued, *stopped;
        sd_event_source *look_again, *impatience;
};

static const int signals[] = { SIGWINCH, SIGCONT, SIGTSTP };

static void settle(Terminal *terminal);

/* Buffers */

static bool buffer_is_empty(const Buffer *buffer) {
        return buffer->begin == buffer->end;
}

static size_t buffer_room(Buffer *buffer) {
        if (buffer->begin > 0)
                memmove(buffer->data, buffer->data + buffer->begin, buffer->end - buffer->begin);
        buffer->end -= buffer->begin;
        buffer->begin = 0;
        return buffer->size - buffer->end;
}

static void buffer_drop(Buffer *buffer) {
        buffer->begin = buffer->end = 0;
}

static void buffer_put(Buffer *buffer, uint8_t byte) {
        if (buffer_room(buffer) > 0)
                buffer->data[buffer->end++] = byte;
}

/* What the program writes */

static int on_impatience(sd_event_source *source, uint64_t usec, void *userdata) {
        Terminal *terminal = userdata;

        terminal->is_output_over = true;
        settle(terminal);
        return 0;
}

static void be_patient(Terminal *terminal) {
        if (terminal->is_finishing && terminal->patience_usec != TERMINAL_PATIENT)
                deadline_arm(terminal->settings.event, &terminal->impatience,
                             terminal->patience_usec, on_impatience, terminal);
}

static void output_failed(Terminal *terminal, int error_number) {
        terminal->is_output_over = true;
        if (terminal->console.output_fd >= 0)
                terminal->settings.on_hang_up(terminal->settings.userdata);
        else
                terminal->settings.on_unwritable(terminal->settings.userdata, error_number);
}

/* False: the caller takes no more now. */
static bool flush_written(Terminal *terminal) {
        Buffer *written = &terminal->written;

        if (terminal->settings.on_output && !buffer_is_empty(written))
                terminal->settings.on_output(terminal->settings.userdata, written->data,
                                             written->end);
        if (terminal->settings.on_output || terminal->is_output_over)
                buffer_drop(written);
        while (!buffer_is_empty(written)) {
                ssize_t n = outlet_write(&terminal->output, written->data + written->begin,
                                         written->end - written->begin);

                if (n < 0 && errno == EAGAIN)
                        return false;
                if (n < 0 && errno != EINTR) {
                        output_failed(terminal, errno);
                        buffer_drop(written);
                }
                if (n > 0) {
                        written->begin += (size_t)n;
                        be_patient(terminal);
                }
        }
        return true;
}

/* Somebody has hung it up (vhangup(2)); who opens it by its name finds it alive. */
static void revive(Terminal *terminal) {
        int fd = ioctl(terminal->master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

        if (fd < 0)
                return;
        (void)close(terminal->program_fd);
        terminal->program_fd = fd;
}

/* False: there is nothing to be read now. */
static bool fill_written(Terminal *terminal) {
        Buffer *written = &terminal->written;
        ssize_t n;

        buffer_drop(written);
        do
                n = read(terminal->master_fd, written->data, written->size);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno == EIO && !terminal->is_finishing)
                revive(terminal);
        if (n <= 0)
                return false;

        written->end = (size_t)n;
        terminal->rest -= MIN(terminal->rest, (size_t)n);
        return true;
}

static void pass_output(Terminal *terminal) {
        bool goes_on = flush_written(terminal);

        for (int i = 0; goes_on && i < TURNS; i++) {
                terminal->is_dry = !fill_written(terminal);
                goes_on = !terminal->is_dry && flush_written(terminal);
        }
}

/* What is typed */

/* The keys before go to the program: it may have a use for one or two. */
static bool is_escape(Terminal *terminal, uint8_t byte) {
        uint64_t now = (uint64_t)g_get_monotonic_time();

        if (byte != ESCAPE || terminal->escapes == 0 || now - terminal->escape_usec > ESCAPE_USEC) {
                terminal->escapes = byte == ESCAPE;
                terminal->escape_usec = now;
                return false;
        }
        return ++terminal->escapes == ESCAPES;
}

/* Those who hold the key down mean it once. */
static void take_keys(Terminal *terminal, size_t size) {
        Buffer *typed = &terminal->typed;
        bool is_asked = false;

        for (size_t i = 0; i < size && console_has_input(&terminal->console); i++)
                if (is_escape(terminal, typed->data[typed->end + i]))
                        is_asked = true;
        terminal->last_typed = typed->data[typed->end + size - 1];
        typed->end += size;
        if (is_asked)
                terminal->settings.on_escape(terminal->settings.userdata);
}

/* In the middle of a line the first end of file only hands over what there is of it. */
static void type_end_of_file(Terminal *terminal) {
        struct termios mode = { 0 };
        uint8_t key = END_OF_FILE;

        if (tcgetattr(terminal->master_fd, &mode) == 0 && mode.c_cc[VEOF] != _POSIX_VDISABLE)
                key = mode.c_cc[VEOF];
        if (terminal->last_typed != '\n')
                buffer_put(&terminal->typed, key);
        buffer_put(&terminal->typed, key);
}

/* A terminal ends when it is gone; what looks like an end before that is a key that somebody else had it take for one. */
static void end_input(Terminal *terminal, bool is_failure) {
        struct pollfd hang_up = { .fd = terminal->input.fd };
        bool is_terminal = console_has_input(&terminal->console);

        terminal->is_input_over = is_failure || !is_terminal || poll(&hang_up, 1, 0) > 0;
        if (is_terminal && terminal->is_input_over)
                terminal->settings.on_hang_up(terminal->settings.userdata);
        type_end_of_file(terminal);
}

static void read_input(Terminal *terminal) {
        Buffer *typed = &terminal->typed;
        size_t room = buffer_room(typed);
        ssize_t n;

        if (terminal->settings.has_ended(terminal->settings.userdata)) {
                terminal->is_input_over = true;
                console_leave_input(&terminal->console);
                return;
        }
        if (room <= 2) /* what the end of file takes */
                return;
        n = outlet_read(&terminal->input, typed->data + typed->end, room - 2);
        if (n > 0)
                take_keys(terminal, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                end_input(terminal, n < 0);
}

static void flush_typed(Terminal *terminal) {
        Buffer *typed = &terminal->typed;
        ssize_t n = 1;

        while (!buffer_is_empty(typed) && n > 0) {
                n = write(terminal->master_fd, typed->data + typed->begin,
                          typed->end - typed->begin);
                typed->begin += (size_t)MAX(n, 0);
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
                buffer_drop(typed);
}

/* Sources */

static int on_master(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Terminal *terminal = userdata;

        if (events & EPOLLOUT)
                flush_typed(terminal);
        if (events & ~(uint32_t)EPOLLOUT)
                pass_output(terminal);
        settle(terminal);
        return 0;
}

static int on_output(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Terminal *terminal = userdata;

        pass_output(terminal);
        settle(terminal);
        return 0;
}

static int on_input_always(sd_event_source *source, void *userdata) {
        Terminal *terminal = userdata;

        read_input(terminal);
        settle(terminal);
        return 0;
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        return on_input_always(source, userdata);
}

static void listen_for(sd_event_source *source, uint32_t events) {
        if (!source)
                return;
        if (events)
                (void)sd_event_source_set_io_events(source, events);
        (void)sd_event_source_set_enabled(source, events ? SD_EVENT_ON : SD_EVENT_OFF);
}

static bool wants_input(Terminal *terminal) {
        return terminal->has_begun && !terminal->is_finishing && !terminal->is_input_over &&
               (terminal->is_foreground || !console_has_input(&terminal->console)) &&
               buffer_room(&terminal->typed) > 2;
}

static void settle(Terminal *terminal) {
        bool is_passed = buffer_is_empty(&terminal->written), wants = wants_input(terminal);
        uint32_t events = 0;

        if (terminal->is_ended)
                return;
        if (terminal->is_output_over && !is_passed) {
                buffer_drop(&terminal->written);
                is_passed = true;
        }
        if (terminal->is_finishing && is_passed && (terminal->is_dry || terminal->rest == 0)) {
                terminal->settings.on_finished(terminal->settings.userdata);
                return;
        }
        if (is_passed && terminal->has_begun)
                events |= EPOLLIN;
        if (!buffer_is_empty(&terminal->typed) && !terminal->is_finishing)
                events |= EPOLLOUT;
        listen_for(terminal->master_io, events);
        listen_for(terminal->output_io, is_passed ? 0 : EPOLLOUT);
        listen_for(terminal->input_io, wants ? EPOLLIN : 0);
        if (terminal->input_always)
                (void)sd_event_source_set_enabled(terminal->input_always,
                                                  wants ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* The caller's terminal */

static void copy_size(Terminal *terminal) {
        struct winsize size;

        if (console_read_size(&terminal->console, &size))
                (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size);
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata);

/* Whose is it now? */
static void look(Terminal *terminal) {
        terminal->is_foreground = console_take(&terminal->console);
        if (terminal->is_finishing)
                console_leave_input(&terminal->console);
        deadline_disarm(&terminal->look_again);
        if (!terminal->is_foreground)
                deadline_arm(terminal->settings.event, &terminal->look_again, LOOK_USEC, on_look,
                             terminal);
        copy_size(terminal);
        settle(terminal);
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        look(userdata);
        return 0;
}

static int on_continued(sd_event_source *source, const struct signalfd_siginfo *info,
                        void *userdata) {
        look(userdata);
        return 0;
}

static int on_size_changed(sd_event_source *source, const struct signalfd_siginfo *info,
                           void *userdata) {
        copy_size(userdata);
        return 0;
}

static void block(int how, const int *numbers, size_t count) {
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < count; i++)
                sigaddset(&set, numbers[i]);
        (void)sigprocmask(how, &set, NULL);
}

/* No key of a raw terminal does this: somebody has sent it. */
static int on_stopped(sd_event_source *source, const struct signalfd_siginfo *info,
                      void *userdata) {
        Terminal *terminal = userdata;
        const int stop = SIGTSTP;

        console_leave(&terminal->console);
        outlet_rest(&terminal->output);
        (void)raise(stop);
        block(SIG_UNBLOCK, &stop, 1); /* here we stand still */
        block(SIG_BLOCK, &stop, 1);
        outlet_resume(&terminal->output);
        look(terminal);
        return 0;
}

/* From beginning to end */

static bool open_pair(Terminal *terminal, GError **error) {
        struct winsize size = { .ws_col = COLUMNS_ELSEWHERE, .ws_row = ROWS_ELSEWHERE };
        struct termios mode;

        terminal->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
        if (terminal->master_fd >= 0 && grantpt(terminal->master_fd) == 0 &&
            unlockpt(terminal->master_fd) == 0)
                terminal->program_fd = ioctl(terminal->master_fd, TIOCGPTPEER,
                                             O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (terminal->program_fd < 0) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "--pty: no terminal can be had: %s", g_strerror(errno));
                return false;
        }

        if (console_read_mode(&terminal->console, &mode))
                (void)tcsetattr(terminal->program_fd, TCSANOW, &mode);
        (void)console_read_size(&terminal->console, &size);
        (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size);
        return true;
}

static Buffer buffer_new(size_t size) {
        return (Buffer){ .data = g_malloc(size), .size = size };
}

Terminal *terminal_new(const TerminalSettings *settings, GError **error) {
        g_autoptr(Terminal) terminal = g_new0(Terminal, 1);

        terminal->settings = *settings;
        terminal->master_fd = terminal->program_fd = -1;
        terminal->input = terminal->output = OUTLET_INIT;
        terminal->typed = buffer_new(INPUT_SIZE);
        terminal->written = buffer_new(OUTPUT_SIZE);
        terminal->last_typed = '\n';
        terminal->rest = SIZE_MAX;
        console_init(&terminal->console, settings->input_fd, settings->output_fd);
        return open_pair(terminal, error) ? g_steal_pointer(&terminal) : NULL;
}

int terminal_program_end(const Terminal *terminal) {
        return terminal->program_fd;
}

static void add_sources(Terminal *terminal) {
        sd_event *event = terminal->settings.event;
        int r = sd_event_add_io(event, &terminal->master_io, terminal->master_fd, EPOLLIN,
                                on_master, terminal);

        g_assert(r >= 0);
        if (terminal->output.fd >= 0)
                (void)sd_event_add_io(event, &terminal->output_io, terminal->output.fd, EPOLLOUT,
                                      on_output, terminal);
        if (terminal->input.fd >= 0 &&
            sd_event_add_io(event, &terminal->input_io, terminal->input.fd, EPOLLIN, on_input,
                            terminal) < 0)
                (void)sd_event_add_defer(event, &terminal->input_always, on_input_always, terminal);
        block(SIG_BLOCK, signals, G_N_ELEMENTS(signals));
        (void)sd_event_add_signal(event, &terminal->size_changed, SIGWINCH, on_size_changed,
                                  terminal);
        (void)sd_event_add_signal(event, &terminal->continued, SIGCONT, on_continued, terminal);
        (void)sd_event_add_signal(event, &terminal->stopped, SIGTSTP, on_stopped, terminal);
}

void terminal_begin(Terminal *terminal) {
        if (terminal->has_begun)
                return;
        terminal->has_begun = true;
        outlet_open(&terminal->input, terminal->settings.input_fd, O_RDONLY);
        if (!terminal->settings.on_output)
                outlet_open(&terminal->output, terminal->settings.output_fd, O_WRONLY);
        terminal->is_output_over = !terminal->settings.on_output && terminal->output.fd < 0;
        add_sources(terminal);
        if (terminal->input.fd < 0)
                end_input(terminal, false);
        look(terminal);
}

void terminal_finish(Terminal *terminal, uint64_t patience_usec) {
        terminal->is_finishing = true;
        terminal->patience_usec = patience_usec;
        terminal->rest = REST_SIZE;
        deadline_disarm(&terminal->look_again);
        console_leave_input(&terminal->console);
        be_patient(terminal);
        if (terminal->has_begun)
                pass_output(terminal);
        terminal->is_dry |= !terminal->has_begun;
        settle(terminal);
}

bool terminal_is_finishing(const Terminal *terminal) {
        return terminal->is_finishing;
}

void terminal_end(Terminal *terminal) {
        sd_event_source **const sources[] = {
                &terminal->master_io,    &terminal->input_io,     &terminal->output_io,
                &terminal->input_always, &terminal->size_changed, &terminal->continued,
                &terminal->stopped,      &terminal->look_again,   &terminal->impatience,
        };

        terminal->is_ended = true;
        for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
                *sources[i] = sd_event_source_disable_unref(*sources[i]);
        console_leave(&terminal->console);
        outlet_close(&terminal->input);
        outlet_close(&terminal->output);
        if (terminal->has_begun)
                block(SIG_UNBLOCK, signals, G_N_ELEMENTS(signals));
}

void terminal_free(Terminal *terminal) {
        if (!terminal)
                return;
        if (!terminal->is_ended)
                terminal_end(terminal);
        if (terminal->program_fd >= 0)
                (void)close(terminal->program_fd);
        if (terminal->master_fd >= 0)
                (void)close(terminal->master_fd);
        g_free(terminal->typed.data);
        g_free(terminal->written.data);
        g_free(terminal);
}
