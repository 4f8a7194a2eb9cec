/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Somebody else is asked to run something, outside: a manager over its own socket or a bus, a program that does the
 * asking, files that somebody executes later. What would be run makes a file; that is what the tests look for. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define SERVICE "org.freedesktop.systemd1"
#define PATH    "/org/freedesktop/systemd1"
#define MANAGER SERVICE ".Manager"

static const char *file, *unit;

static int append_command(sd_bus_message *call) {
        return sd_bus_message_append(call, "(sv)", "ExecStart", "a(sasb)", 1, "/bin/touch", 2,
                                     "/bin/touch", file, false);
}

static int start_unit(sd_bus *bus) {
        sd_bus_message *call = NULL, *reply = NULL;
        int r = sd_bus_message_new_method_call(bus, &call, SERVICE, PATH, MANAGER,
                                               "StartTransientUnit");

        if (r >= 0)
                r = sd_bus_message_append(call, "ss", unit, "replace");
        if (r >= 0)
                r = sd_bus_message_open_container(call, 'a', "(sv)");
        if (r >= 0)
                r = sd_bus_message_append(call, "(sv)", "CollectMode", "s", "inactive-or-failed");
        if (r >= 0)
                r = append_command(call);
        if (r >= 0)
                r = sd_bus_message_close_container(call);
        if (r >= 0)
                r = sd_bus_message_append(call, "a(sa(sv))", 0);
        return r < 0 ? r : sd_bus_call(bus, call, 0, NULL, &reply);
}

static int with_bus(const char *path, bool is_daemon, int (*ask)(sd_bus *bus)) {
        char address[4200];
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        (void)snprintf(address, sizeof address, "unix:path=%s", path);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0 && is_daemon)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = ask(bus);
        sd_bus_unref(bus);
        errno = -r;
        return r < 0 ? -1 : 0;
}

static int ask_directly(const char *path) {
        return with_bus(path, false, start_unit);
}

static int ask_on_bus(const char *path) {
        return with_bus(path, true, start_unit);
}

/* Sockets of managers; the name of the unit; the file that it makes. */
static void ask_manager(char **arguments) {
        unit = arguments[1];
        file = arguments[2];
        try_each(arguments[0], ask_directly);
}

static void ask_bus(char **arguments) {
        if (!arguments[0][0])
                untried("n/a: there is no bus");
        unit = arguments[1];
        file = arguments[2];
        try_each(arguments[0], ask_on_bus);
}

static int activate(sd_bus *bus) {
        return sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                  "org.freedesktop.DBus", "StartServiceByName", NULL, NULL, "su",
                                  "org.freedesktop.systemd1", 0);
}

static int activate_on_bus(const char *path) {
        return with_bus(path, true, activate);
}

static void bus_activation(char **arguments) {
        if (!arguments[0][0])
                untried("n/a: there is no bus");
        try_each(arguments[0], activate_on_bus);
}

static void run_program(char *const *words) {
        pid_t pid = fork();
        int null, status;

        if (pid == 0) {
                null = open("/dev/null", O_RDWR);
                (void)dup2(null, STDOUT_FILENO);
                (void)dup2(null, STDERR_FILENO);
                (void)execvp(words[0], words);
                _exit(127);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                held();
        if (status == 0)
                escaped("%s", words[0]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                untried("n/a: the program is not there");
        held_by("it failed");
}

/* Where the manager's directory is; the file. */
static void systemd_run(char **arguments) {
        char *const system[] = { "systemd-run", "--collect", "/bin/touch", arguments[1], NULL };
        char *const user[] = { "systemd-run", "--user",     "--collect",
                               "/bin/touch",  arguments[1], NULL };
        bool is_system = strcmp(arguments[0], "/run") == 0;

        if (!is_system)
                (void)setenv("XDG_RUNTIME_DIR", arguments[0], 1);
        run_program(is_system ? system : user);
}

/* A directory whose files somebody executes, or a manager reads. The name says what it is. */
static int drop_file(const char *directory) {
        char path[4096];
        int fd;

        (void)snprintf(path, sizeof path, "%s/%s", directory, file);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -1;
        (void)!write(fd, "# left by a test\n", 17);
        (void)close(fd);
        return 0;
}

/* What can be written may be the program's own, in memory: whether it comes off is seen from outside. */
static void drop(char **arguments) {
        char *rest = NULL;
        int n_written = 0;

        if (!arguments[0][0])
                untried("n/a: there is no such directory here");
        file = arguments[1];
        for (char *place = strtok_r(arguments[0], ":", &rest); place;
             place = strtok_r(NULL, ":", &rest))
                n_written += drop_file(place) >= 0;
        if (n_written > 0)
                perhaps("a file is written");
        held();
}

/* What is typed at a terminal its owner's shell will run. */
static void type_for_caller(char **arguments) {
        if (!isatty(STDIN_FILENO))
                untried("there is no terminal");
        if (ioctl(STDIN_FILENO, TIOCSTI, "x") == 0)
                escaped("TIOCSTI");
        (void)setsid();
        if (ioctl(STDIN_FILENO, TIOCSCTTY, 1) == 0 && ioctl(STDIN_FILENO, TIOCSTI, "x") == 0)
                escaped("TIOCSCTTY and TIOCSTI");
        held();
}

static int send_note(const char *path, const char *text) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        int r;

        (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        r = fd < 0 ? -1
                   : (int)sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                                 (const struct sockaddr *)&address, sizeof address);
        if (fd >= 0)
                (void)close(fd);
        return r;
}

static int notify_at(const char *path) {
        return send_note(path, "MAINPID=1\nSTOPPING=1\nEXTEND_TIMEOUT_USEC=3600000000\n"
                               "RELOADING=1\nWATCHDOG=trigger\nERRNO=0\nSTATUS=forged\n");
}

/* Tells the manager about us what only a service is meant to tell. Whether it is believed shows in how the run ends. */
static void notify(char **arguments) {
        char *rest = NULL;

        for (char *path = strtok_r(arguments[0], ":", &rest); path;
             path = strtok_r(NULL, ":", &rest))
                (void)notify_at(path);
        stay();
}

const Attempt manager_attempts[] = {
        { "ask-manager", 3, ask_manager },
        { "ask-bus", 3, ask_bus },
        { "bus-activation", 1, bus_activation },
        { "systemd-run", 2, systemd_run },
        { "cron-spool", 2, drop },
        { "unit-file", 2, drop },
        { "login-file", 2, drop },
        { "type-for-caller", 0, type_for_caller },
        { "notify", 1, notify },
        { 0 },
};
