/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Before the run we may be anywhere: in the open of a FIFO that nobody has at its other end, in a name service, in front of a
 * manager that is stopped. So it is a handler that ends us, and a handler may call next to nothing: what it has to say is
 * ready beforehand, in the one variable of the program that is not constant.
 *
 * A write that would wait for its reader is told by poll() from one that would not; a pipe that has room at all takes
 * PIPE_BUF bytes at once. */

#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[INTERRUPT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

static struct {
        pid_t owner; /* whose notes they are: not a child's that has yet to become what it will */
        uint64_t ignored;
        bool is_held;
        struct {
                int fd;
                bool is_replaced;
                int dir_fd;
                char *name, *link; /* link: where a file without a name is found */
                char *text;
                size_t size;
        } notes[G_N_ELEMENTS(signals)][INTERRUPT_NOTES];
} prepared;

int interrupt_signal(size_t index) {
        return index < G_N_ELEMENTS(signals) ? signals[index] : 0;
}

static bool is_ignored(int number) {
        return prepared.ignored & (UINT64_C(1) << (number - 1));
}

static void get_set(sigset_t *ret_set) {
        sigemptyset(ret_set);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                if (!is_ignored(signals[i]))
                        sigaddset(ret_set, signals[i]);
}

static void handle_as(void (*handler)(int)) {
        struct sigaction action = { .sa_handler = handler };

        get_set(&action.sa_mask);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                if (!is_ignored(signals[i]))
                        (void)sigaction(signals[i], &action, NULL);
}

/* Blocked first: none of them may meet the default action in between. */
void interrupt_hold(void) {
        sigset_t set;

        if (prepared.is_held)
                return;
        get_set(&set);
        (void)sigprocmask(SIG_BLOCK, &set, NULL);
        handle_as(SIG_DFL);
        prepared.is_held = true;
}

static void wait_for_room(int fd) {
        struct pollfd wait = { .fd = fd, .events = POLLOUT };
        sigset_t set, before;

        if (poll(&wait, 1, 0) != 0)
                return;
        get_set(&set);
        (void)sigprocmask(SIG_UNBLOCK, &set, &before);
        while (poll(&wait, 1, -1) < 0 && errno == EINTR)
                continue;
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

bool interrupt_write(int fd, const char *text, size_t size) {
        while (size > 0) {
                ssize_t n;

                wait_for_room(fd);
                n = write(fd, text, MIN(size, PIPE_BUF));
                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        return false;
                if (n > 0) {
                        text += n;
                        size -= (size_t)n;
                }
        }
        return true;
}

static void write_notes(size_t index) {
        for (size_t i = 0; i < INTERRUPT_NOTES; i++) {
                const char *text = prepared.notes[index][i].text;
                int fd = prepared.notes[index][i].fd;

                if (!text || (prepared.notes[index][i].is_replaced && ftruncate(fd, 0) < 0))
                        continue;
                if (interrupt_write(fd, text, prepared.notes[index][i].size) &&
                    prepared.notes[index][i].name)
                        (void)!linkat(AT_FDCWD, prepared.notes[index][i].link,
                                      prepared.notes[index][i].dir_fd,
                                      prepared.notes[index][i].name, AT_SYMLINK_FOLLOW);
        }
}

static void on_signal(int number) {
        interrupt_hold();
        if (prepared.owner == getpid()) {
                (void)signal(SIGPIPE,
                             SIG_IGN); /* who has closed one end may still want the other */
                for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                        if (signals[i] == number)
                                write_notes(i);
        }
        _exit(128 + number);
}

void interrupt_begin(uint64_t ignored) {
        sigset_t set;

        prepared.ignored = ignored;
        prepared.owner = getpid();
        prepared.is_held = false;
        handle_as(on_signal);
        get_set(&set);
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void set_note(size_t index, size_t i, const InterruptNote *note) {
        g_free(prepared.notes[index][i].text);
        g_free(prepared.notes[index][i].name);
        g_free(prepared.notes[index][i].link);

        prepared.notes[index][i].fd = note->fd;
        prepared.notes[index][i].is_replaced = note->is_replaced;
        prepared.notes[index][i].dir_fd = note->dir_fd;
        prepared.notes[index][i].name = g_strdup(note->name);
        prepared.notes[index][i].link = g_strdup_printf("/proc/self/fd/%d", note->fd);
        prepared.notes[index][i].size = note->text ? strlen(note->text) : 0;
        prepared.notes[index][i].text = g_strdup(note->text);
}

void interrupt_prepare(const InterruptNote notes[INTERRUPT_SIGNALS][INTERRUPT_NOTES]) {
        sigset_t set, before;

        get_set(&set);
        (void)sigprocmask(SIG_BLOCK, &set, &before);
        prepared.owner = getpid();
        for (size_t index = 0; index < G_N_ELEMENTS(signals); index++)
                for (size_t i = 0; i < INTERRUPT_NOTES; i++)
                        set_note(index, i, &notes[index][i]);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

void interrupt_forget(void) {
        static const InterruptNote nothing[INTERRUPT_SIGNALS][INTERRUPT_NOTES];

        interrupt_prepare(nothing);
}

void interrupt_end(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        (void)signal(SIGINT, SIG_DFL);
        (void)raise(SIGINT);
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}
