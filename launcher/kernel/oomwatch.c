/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A group that runs out notifies itself and everybody below it, victim or not, before the kill; and a group that is
 * removed notifies its own listeners once more. So a notification proves no kill, and one that is read after the group
 * is gone proves nothing. Notified here and not one level above: it was our limit. */

#include "oomwatch.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counter.h"

#define CONTROL "memory.oom_control"

typedef struct {
        int dir, event;
        uint64_t notified;
} Listener;

struct OomWatch {
        Listener own, above; /* the slice's, and its parent's */
        uint64_t kills; /* counted at or below the slice; groups that were removed since included */
        bool is_direct; /* the slice has had no group below it: all is counted in its own, which stays */
        bool is_complete; /* looked into the program's group after the main process died */
};

static int listen_at(int dir) {
        int oom = openat(dir, CONTROL, O_RDONLY | O_CLOEXEC);
        int control = openat(dir, "cgroup.event_control", O_WRONLY | O_CLOEXEC);
        int event = oom < 0 || control < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        char line[64];

        if (event >= 0) {
                int n = snprintf(line, sizeof line, "%d %d", event, oom);

                if (write(control, line, (size_t)n) != n) {
                        (void)close(event);
                        event = -1;
                }
        }
        if (oom >= 0)
                (void)close(oom);
        if (control >= 0)
                (void)close(control);
        return event;
}

static bool is_there(int dir) {
        return faccessat(dir, CONTROL, F_OK, 0) == 0;
}

static void take_notifications(Listener *listener) {
        uint64_t news = 0;

        if (listener->event < 0 || read(listener->event, &news, sizeof news) != sizeof news)
                return;
        if (is_there(listener->dir))
                listener->notified += news;
}

/* The kernel counts the directories in one of cgroups as links to it, beside its two own. */
static bool has_no_group(int dir) {
        struct stat st;

        return fstat(dir, &st) == 0 && st.st_nlink == 2;
}

OomWatch *oom_watch_new(int dir) {
        int event = dir < 0 ? -1 : listen_at(dir);
        OomWatch *watch;

        if (event < 0)
                return NULL;
        watch = g_new0(OomWatch, 1);
        watch->is_direct = has_no_group(dir);
        watch->own = (Listener){ .dir = dir, .event = event };
        watch->above.dir = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        watch->above.event = watch->above.dir < 0 ? -1 : listen_at(watch->above.dir);
        return watch;
}

void oom_watch_free(OomWatch *watch) {
        if (!watch)
                return;
        (void)close(watch->own.event);
        if (watch->above.event >= 0)
                (void)close(watch->above.event);
        if (watch->above.dir >= 0)
                (void)close(watch->above.dir);
        g_free(watch);
}

int oom_watch_fd(const OomWatch *watch) {
        return watch->own.event;
}

static uint64_t kills_in(int dir) {
        static const CounterSource source = { HIERARCHY_MEMORY, CONTROL, .key = "oom_kill" };
        int fd = openat(dir, source.file, O_RDONLY | O_CLOEXEC);
        char text[256];
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        uint64_t kills = 0;

        if (fd >= 0)
                (void)close(fd);
        if (n < 0)
                return 0;
        text[n] = '\0';
        return counter_parse(&source, text, &kills) ? kills : 0;
}

/* At and below; how many groups there are below is added up. */
static uint64_t kills_below(int dir, unsigned *groups) {
        int fd = has_no_group(dir) ? -1 : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = fd < 0 ? NULL : fdopendir(fd);
        uint64_t kills = kills_in(dir);

        if (!stream) {
                if (fd >= 0)
                        (void)close(fd);
                return kills;
        }
        for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream)) {
                int child;

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                child = openat(fd, entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (child < 0)
                        continue;
                ++*groups;
                kills += kills_below(child, groups);
                (void)close(child);
        }
        (void)closedir(stream);
        return kills;
}

/* Whether the group that the program was put into is still there, its counter with it. */
static bool count_kills(OomWatch *watch) {
        unsigned groups = 0;
        uint64_t kills = kills_below(watch->own.dir, &groups);

        watch->kills = MAX(watch->kills, kills);
        watch->is_direct = watch->is_direct && groups == 0;
        return groups > 0 || (watch->is_direct && is_there(watch->own.dir));
}

/* Counted after what was notified: whoever was is counted by then, or about to be. */
static bool take_in(OomWatch *watch) {
        take_notifications(&watch->own);
        take_notifications(&watch->above);
        return count_kills(watch);
}

bool oom_watch_look(OomWatch *watch) {
        bool is_counted = take_in(watch);

        return !is_counted || watch->kills >= watch->own.notified;
}

void oom_watch_note_death(OomWatch *watch) {
        watch->is_complete = take_in(watch);
}

/* An ancestor's notification is sent from above to below: where both are read between the two, it is not yet ours. */
static uint64_t own_notifications(const OomWatch *watch) {
        const Listener *own = &watch->own, *above = &watch->above;

        if (above->event < 0)
                return FACTS_UNKNOWN;
        return own->notified > above->notified ? own->notified - above->notified : 0;
}

bool oom_watch_was_notified(const OomWatch *watch) {
        return watch->own.notified > 0;
}

/* A group of the unit's own (an administrator can give it one) may go before we have looked into it. Then it is a proof that a limit ran out, our own or one above,
 * while the main process was killed with SIGKILL; nothing else is one. */
void oom_watch_fill(OomWatch *watch, Facts *facts) {
        bool is_counted = take_in(watch);
        uint64_t own = own_notifications(watch);

        facts->oom_kills_local_limit = own;
        facts->local_limit_source = "memory.oom_control (v1) notifications";
        if (watch->kills > 0 || watch->is_complete || is_counted) {
                facts->oom_kills = watch->kills;
                facts->counter_source = "memory.oom_control (v1) oom_kill";
        } else if (watch->own.notified > 0 && facts_signal(facts) == SIGKILL) {
                facts->oom_kills = watch->own.notified;
                facts->counter_source = facts->local_limit_source;
        } else {
                facts->oom_kills = FACTS_UNKNOWN;
        }
}
