/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files outside the workspace: to be read, to be written, and to be left behind. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#define UP "../../../../../../../../../../../../.."

static const char *link_target;

static void read_file(char **arguments) {
        try_read(arguments[0], arguments[1]);
        held();
}

static void read_through_link(char **arguments) {
        (void)unlink("link");
        if (symlink(arguments[0], "link") < 0)
                held();
        try_read("link", arguments[1]);
        held();
}

static void read_upwards(char **arguments) {
        char path[4200];

        (void)snprintf(path, sizeof path, UP "%s", arguments[0]);
        try_read(path, arguments[1]);
        held();
}

static void hard_link(char **arguments) {
        (void)unlink("hard");
        if (link(arguments[0], "hard") < 0)
                held();
        try_read("hard", arguments[1]);
        held();
}

static void through_own_root(char **arguments) {
        char path[4200];

        for (int pid = 0; pid < 3; pid++) {
                if (pid == 0)
                        (void)snprintf(path, sizeof path, "/proc/self/root%s", arguments[0]);
                else
                        (void)snprintf(path, sizeof path, "/proc/%d/root%s", pid, arguments[0]);
                try_read(path, arguments[1]);
        }
        held();
}

static void write_to(const char *path) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

        if (fd < 0 || write(fd, "forged", 6) < 0)
                held();
        perhaps(path);
}

static void write_file(char **arguments) {
        write_to(arguments[0]);
}

static void write_through_link(char **arguments) {
        (void)unlink("through");
        if (symlink(arguments[0], "through") < 0)
                held();
        write_to("through");
}

static void write_system(char **arguments) {
        static const char *const places[] = { "/usr", "/etc", "/var", "/", "/opt", "/srv" };
        char path[64];

        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
                (void)snprintf(path, sizeof path, "%s/.escape-XXXXXX", places[i]);

                int fd = mkstemp(path);

                if (fd < 0)
                        continue;
                (void)unlink(path);
                escaped("%s", places[i]);
        }
        held();
}

/* Files that are there when the program is not. */
static void leave_in(const char *directory, const char *name) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%s/%s", directory, name);
        write_to(path);
}

static void leave_in_tmp(char **arguments) {
        leave_in("/tmp", arguments[0]);
}

static void leave_in_shm(char **arguments) {
        leave_in("/dev/shm", arguments[0]);
}

static void leave_segment(char **arguments) {
        int id = shmget((key_t)strtol(arguments[0], NULL, 10), 4096, IPC_CREAT | 0666);

        if (id < 0)
                held();
        perhaps("a segment");
}

static void leave_queue(char **arguments) {
        struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
        mqd_t queue = mq_open(arguments[0], O_CREAT | O_RDWR, 0600, &attributes);

        if (queue < 0)
                held();
        perhaps("a queue");
}

static int leave_link(const char *directory) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%s/astray", directory);
        (void)mkdir(path, 0777);
        (void)snprintf(path, sizeof path, "%s/astray/link", directory);
        return symlink(link_target, path);
}

/* Who removes what is left in these directories should not follow. */
static void lead_astray(char **arguments) {
        char *rest = NULL;

        link_target = arguments[1];
        for (char *place = strtok_r(arguments[0], ":", &rest); place;
             place = strtok_r(NULL, ":", &rest))
                if (leave_link(place) < 0)
                        untried("a link cannot be made");
        perhaps(arguments[1]);
}

/* Whoever executes it becomes its owner. */
static void leave_set_user_id(char **arguments) {
        int fd = open("set-user-id", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

        if (fd < 0 || fchmod(fd, 04755) < 0)
                held();
        escaped("for user %u", (unsigned)geteuid());
}

const Attempt file_attempts[] = {
        { "read-file", 2, read_file },
        { "read-through-link", 2, read_through_link },
        { "read-upwards", 2, read_upwards },
        { "hard-link", 2, hard_link },
        { "through-own-root", 2, through_own_root },
        { "write-file", 1, write_file },
        { "write-through-link", 1, write_through_link },
        { "write-system", 0, write_system },
        { "leave-in-tmp", 1, leave_in_tmp },
        { "leave-in-shm", 1, leave_in_shm },
        { "leave-segment", 1, leave_segment },
        { "leave-queue", 1, leave_queue },
        { "lead-astray", 2, lead_astray },
        { "leave-set-user-id", 0, leave_set_user_id },
        { 0 },
};
