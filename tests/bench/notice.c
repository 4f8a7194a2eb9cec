/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bench-notice SOCKET COUNT COMMAND…: how long a launcher stays after the manager has said that its unit has ended. The command
 * is run so many times, one after the other, and a connection of our own hears what the manager tells to everybody;
 * nothing is traced. A line a run: microseconds from that word to the end of the command's process. */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "dbus/connect.h"
#include "dbus/snapshot.h"

#define UNITS    "/org/freedesktop/systemd1/unit/cordon_2d"
#define AT_FIRST (SD_EVENT_PRIORITY_NORMAL - 1) /* what was said before an end is heard before it */

extern char **environ;

typedef struct {
        sd_event *event;
        gint64 noticed_usec, ended_usec; /* 0: not yet */
        char *path;                      /* of the last unit that was active */
} Notice;

G_NORETURN static void give_up(const char *what, const char *why) {
        fprintf(stderr, "bench-notice: %s: %s\n", what, why);
        exit(EXIT_FAILURE);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Notice *notice = userdata;
        const char *path = sd_bus_message_get_path(message);
        g_auto(UnitSnapshot) snapshot = { 0 };
        UnitChange change;

        if (!path || !g_str_has_prefix(path, UNITS) || !g_str_has_suffix(path, "_2eservice") ||
            sd_bus_message_is_signal(message, "org.freedesktop.DBus.Properties",
                                     "PropertiesChanged") <= 0)
                return 0;
        unit_snapshot_init(&snapshot);
        if (unit_snapshot_glance(&snapshot, message, &change) < 0)
                return 0;
        if (g_strcmp0(snapshot.active_state, "active") == 0) {
                g_free(notice->path);
                notice->path = g_strdup(path);
        } else if (unit_snapshot_is_at_rest(&snapshot) && g_strcmp0(path, notice->path) == 0) {
                notice->noticed_usec = g_get_monotonic_time();
                g_clear_pointer(&notice->path, g_free);
        }
        return 0;
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Notice *notice = userdata;

        notice->ended_usec = g_get_monotonic_time();
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

static pid_t start(char **command) {
        posix_spawn_file_actions_t files;
        pid_t pid = 0;
        int r = posix_spawn_file_actions_init(&files);

        for (int fd = STDIN_FILENO; r == 0 && fd <= STDOUT_FILENO; fd++)
                r = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
        if (r == 0)
                r = posix_spawnp(&pid, command[0], &files, NULL, command, environ);
        if (r != 0)
                give_up(command[0], g_strerror(r));
        (void)posix_spawn_file_actions_destroy(&files);
        return pid;
}

/* Both of them, in whatever order they come. */
static void run(Notice *notice, char **command) {
        sd_event_source *end = NULL;
        pid_t pid = start(command);
        int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;

        notice->noticed_usec = notice->ended_usec = 0;
        if (pidfd < 0 || sd_event_add_io(notice->event, &end, pidfd, EPOLLIN, on_end, notice) < 0)
                give_up("pidfd", g_strerror(errno));
        while (notice->ended_usec == 0 || notice->noticed_usec == 0)
                if (sd_event_run(notice->event, UINT64_MAX) < 0)
                        give_up("the loop", "it failed");
        sd_event_source_disable_unref(end);
        (void)close(pidfd);
        if (waitpid(pid, &status, 0) != pid || status != 0)
                give_up(command[0], "it did not end well");
        printf("%" G_GINT64_FORMAT "\n", notice->ended_usec - notice->noticed_usec);
}

int main(int argc, char *argv[]) {
        Notice notice = { 0 };
        sd_bus *bus = NULL;
        g_autoptr(GError) error = NULL;

        if (argc < 4)
                give_up("usage", "SOCKET COUNT COMMAND…");
        if (!connect_direct(argv[1], &bus, &error))
                give_up(argv[1], error->message);
        if (sd_event_default(&notice.event) < 0 ||
            sd_bus_attach_event(bus, notice.event, AT_FIRST) < 0 ||
            sd_bus_add_filter(bus, NULL, on_message, &notice) < 0)
                give_up(argv[1], "no loop");
        for (unsigned long i = strtoul(argv[2], NULL, 10); i > 0; i--)
                run(&notice, argv + 3);
        sd_bus_flush_close_unref(bus);
        sd_event_unref(notice.event);
        g_free(notice.path);
        return EXIT_SUCCESS;
}
