/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* More for itself: limits, privileges, priority, and what it was not given. */

#include "attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEYCTL_LINK_        8
#define KEYCTL_READ_        11
#define KEYCTL_SET_TIMEOUT_ 15
#define KEY_LIFE_SEC        30
#define USER_KEYRING        (-4)
#define SESSION_KEYRING     (-3)
#define IOPRIO_REALTIME     (1 << 13)
#define SCORE_LOWER         "-1000"
#define FIRST_OF_PROGRAMS   3

static void raise_limits(char **arguments) {
        static const struct {
                const char *name;
                int resource;
        } limits[] = {
                { "nofile", RLIMIT_NOFILE }, { "fsize", RLIMIT_FSIZE }, { "cpu", RLIMIT_CPU },
                { "core", RLIMIT_CORE },     { "as", RLIMIT_AS },
        };
        struct rlimit limit;

        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
                if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) < 0 ||
                    limit.rlim_max == RLIM_INFINITY)
                        continue;
                limit.rlim_cur = limit.rlim_max += 1;
                if (setrlimit((__rlimit_resource_t)limits[i].resource, &limit) == 0)
                        escaped("%s", limits[i].name);
        }
        held();
}

static void raise_priority(char **arguments) {
        struct sched_param realtime = { .sched_priority = 1 };

        if (setpriority(PRIO_PROCESS, 0, -5) == 0)
                escaped("nice");
        if (sched_setscheduler(0, SCHED_FIFO, &realtime) == 0)
                escaped("SCHED_FIFO");
        if (syscall(SYS_ioprio_set, 1, 0, IOPRIO_REALTIME) == 0)
                escaped("real-time I/O");
        held();
}

/* That the kernel kills others first when memory is short. */
static void oom_score(char **arguments) {
        if (write_text("/proc/self/oom_score_adj", SCORE_LOWER) < 0)
                held();
        escaped("%s", SCORE_LOWER);
}

static void new_privileges(char **arguments) {
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
                held_by("no new privileges");
        escaped("set-user-ID programs are what they are");
}

static void capabilities(char **arguments) {
        char line[256];
        FILE *file = fopen("/proc/self/status", "re");

        if (!file)
                held();
        while (fgets(line, sizeof line, file))
                if (strncmp(line, "Cap", 3) == 0 && strncmp(line, "CapInh", 6) != 0 &&
                    strtoull(line + 7, NULL, 16) != 0)
                        escaped("%s", line);
        held_by("no capability in any set");
}

static void become_root(char **arguments) {
        if (geteuid() == 0)
                escaped("it is");
        if (setuid(0) < 0)
                held();
        escaped("setuid");
}

static void become_another(char **arguments) {
        gid_t groups[] = { 0 };

        if (setgroups(1, groups) == 0)
                escaped("setgroups");
        if (setresuid(1, 1, 1) == 0)
                escaped("setresuid");
        held();
}

/* Whatever it was not meant to get: to write into it could forge what is said about it. */
static void inherited_files(char **arguments) {
        DIR *directory = opendir("/proc/self/fd");
        const struct dirent *entry;
        char target[256] = "", path[300];

        if (!directory)
                held();
        while ((entry = readdir(directory))) {
                int fd = (int)strtol(entry->d_name, NULL, 10);

                if (fd < FIRST_OF_PROGRAMS || fd == dirfd(directory))
                        continue;
                (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
                /* ours are the only ones that are closed by an exec */
                if ((fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0 &&
                    readlink(path, target, sizeof target - 1) > 0)
                        escaped("%s %s", entry->d_name, target);
        }
        held_by("only the standard streams");
}

static void caller_environment(char **arguments) {
        const char *value = getenv(arguments[0]);

        if (value)
                escaped("%s", value);
        held_by("not there");
}

/* The keyrings of the user, where passwords and tickets are. */
static void keyring(char **arguments) {
        char text[64] = "";
        long key = strtol(arguments[0], NULL, 10);

        if (key == 0)
                untried("n/a: the kernel has no keyrings, or the caller may not use them");
        (void)syscall(SYS_keyctl, KEYCTL_LINK_, USER_KEYRING, SESSION_KEYRING);
        if (syscall(SYS_keyctl, KEYCTL_READ_, key, text, sizeof text - 1) < 0)
                held();
        escaped("%s", text);
}

static void leave_key(char **arguments) {
        long key = syscall(SYS_add_key, "user", arguments[0], "left", 4, USER_KEYRING);

        if (key < 0)
                held();
        (void)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT_, key, KEY_LIFE_SEC);
        perhaps("in a keyring");
}

const Attempt self_attempts[] = {
        { "raise-limits", 0, raise_limits },
        { "raise-priority", 0, raise_priority },
        { "oom-score", 0, oom_score },
        { "new-privileges", 0, new_privileges },
        { "capabilities", 0, capabilities },
        { "become-root", 0, become_root },
        { "become-another", 0, become_another },
        { "inherited-files", 0, inherited_files },
        { "caller-environment", 1, caller_environment },
        { "keyring", 1, keyring },
        { "leave-key", 1, leave_key },
        { 0 },
};
