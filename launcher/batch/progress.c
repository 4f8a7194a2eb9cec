/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A terminal that was stopped (Ctrl-S) takes nothing, and nothing is written there then: poll(2) tells, for a line is
 * shorter than what a terminal takes at once. */

#include "progress.h"

#include <glib.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher/deadline.h"

#define DRAWN_USEC   (200 * 1000)
#define TOLD_USEC    (5 * G_USEC_PER_SEC)
#define WIPE         "\r\033[K"
#define WIDTH_NORMAL 80

struct Progress {
        sd_event *event;
        int fd;
        bool is_terminal, is_drawn;
        sd_event_source *timer;
        ProgressText text;
        void *userdata;
};

static bool is_taken(const Progress *progress) {
        struct pollfd room = { .fd = progress->fd, .events = POLLOUT };

        return poll(&room, 1, 0) > 0 && !(room.revents & (POLLERR | POLLHUP));
}

static void put(Progress *progress, const char *before, const char *text, const char *behind) {
        g_autofree char *line = g_strconcat(before, text, behind, NULL);

        if (is_taken(progress))
                (void)!write(progress->fd, line, strlen(line));
}

static size_t width_of(int fd) {
        struct winsize size;

        return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : WIDTH_NORMAL;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Progress *progress = userdata;
        size_t width = progress->is_terminal ? width_of(progress->fd) - 1 : SIZE_MAX;
        g_autofree char *text = progress->text(progress->userdata, width);

        if (progress->is_terminal)
                put(progress, WIPE, text, "");
        else
                put(progress, "cordon: ", text, "\n");
        progress->is_drawn = progress->is_terminal;
        deadline_arm(progress->event, &progress->timer,
                     progress->is_terminal ? DRAWN_USEC : TOLD_USEC, on_time, progress);
        return 0;
}

Progress *progress_new(sd_event *event, int fd, ProgressText text, void *userdata) {
        Progress *progress = g_new0(Progress, 1);

        progress->event = sd_event_ref(event);
        progress->fd = fd;
        progress->is_terminal = isatty(fd);
        progress->text = text;
        progress->userdata = userdata;
        deadline_arm(event, &progress->timer, progress->is_terminal ? DRAWN_USEC : TOLD_USEC,
                     on_time, progress);
        return progress;
}

void progress_wipe(Progress *progress) {
        if (!progress->is_drawn)
                return;
        progress->is_drawn = false;
        put(progress, WIPE, "", "");
}

void progress_free(Progress *progress) {
        if (!progress)
                return;
        progress_wipe(progress);
        deadline_disarm(&progress->timer);
        sd_event_unref(progress->event);
        g_free(progress);
}
