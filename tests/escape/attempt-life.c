/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Living longer than allowed, and telling lies about one's end. */

#include "attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS 1024
#define GENERATIONS 3
#define FORGED                                                                                \
        "{\"schema\":1,\"id\":\"forged\",\"outcome\":\"exited\",\"ok\":true,\"exit_code\":0," \
        "\"resource_exhausted\":false,\"cancelled\":false,\"command\":[],\"labels\":{},"      \
        "\"limits\":{},\"evidence\":[],\"message\":\"forged\"}\n"

static void ignore_all(void) {
        for (int number = 1; number < NSIG; number++)
                (void)signal(number, SIG_IGN);
}

static void stop_self(char **arguments) {
        ignore_all();
        for (;;)
                (void)raise(SIGSTOP);
}

static void ignore_signals(char **arguments) {
        ignore_all();
        stay();
}

/* Who waits for the child of a vfork does not take most signals. */
static void hide_in_vfork(char **arguments) {
        ignore_all();
        if (vfork() == 0)
                for (;;)
                        (void)pause();
        stay();
}

/* Stopped for a tracer that never goes on. */
static void hide_in_trace(char **arguments) {
        pid_t pid;

        ignore_all();
        pid = fork();
        if (pid == 0) {
                (void)setsid();
                (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
                for (;;)
                        (void)raise(SIGSTOP);
        }
        stay();
}

static void stopped_children(char **arguments) {
        ignore_all();
        for (int i = 0; i < 8; i++)
                if (fork() == 0) {
                        (void)setsid();
                        for (;;)
                                (void)raise(SIGSTOP);
                }
        stay();
}

static void close_all(void) {
        for (int fd = 0; fd < DESCRIPTORS; fd++)
                (void)close(fd);
}

/* As a daemon of old: two forks, a session, nothing that ties it to anybody. */
static void daemonise(char **arguments) {
        int ends[2];
        char nothing;

        if (pipe(ends) < 0)
                held();
        if (fork() == 0) {
                (void)setsid();
                ignore_all();
                if (fork() != 0)
                        _exit(0);
                (void)!chdir("/");
                (void)umask(0);
                (void)prctl(PR_SET_NAME, "[kworker/0:0]");
                (void)clearenv();
                close_all();
                stay();
        }
        (void)close(ends[1]);
        (void)!read(ends[0], &nothing, 1); /* until it has closed its own */
        _exit(3);
}

/* Each generation twice as many, each in a session of its own. */
static void orphans(char **arguments) {
        ignore_all();
        if (fork() != 0)
                _exit(3);
        for (int generation = 0; generation < GENERATIONS; generation++) {
                (void)setsid();
                (void)fork();
        }
        stay();
}

/* What a launcher would like to read, into whatever is open. */
static void forge_record(char **arguments) {
        for (int fd = 0; fd < DESCRIPTORS; fd++)
                (void)!write(fd, FORGED, sizeof FORGED - 1);
        _exit(3);
}

static pid_t launcher(void) {
        char number[32] = "";

        if (read(STDIN_FILENO, number, sizeof number - 1) <= 0)
                untried("nobody has told its number");
        return (pid_t)strtol(number, NULL, 10);
}

static void signal_launcher(char **arguments) {
        if (kill(launcher(), SIGTERM) < 0)
                held();
        stay(); /* until it has ended us */
}

/* Who is stopped keeps no deadline. */
static void stop_launcher(char **arguments) {
        ignore_all();
        (void)kill(launcher(), SIGSTOP);
        stay();
}

static void trace_launcher(char **arguments) {
        char path[64];
        pid_t pid = launcher();

        if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
                escaped("PTRACE_SEIZE");
        (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
        if (open(path, O_RDWR | O_CLOEXEC) >= 0)
                escaped("%s", path);
        held();
}

/* The launcher's own end of everything, by its number, which comes on standard input. */
static void forge_at_launcher(char **arguments) {
        char path[64];
        struct stat info;
        pid_t pid = launcher();
        int done = 0, fd;

        for (int i = 3; i < 64; i++) {
                (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
                if (stat(path, &info) < 0 || !S_ISFIFO(info.st_mode))
                        continue;
                fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
                if (fd >= 0 && write(fd, FORGED, sizeof FORGED - 1) > 0)
                        done++;
        }
        errno = ESRCH;
        if (done == 0)
                held();
        escaped("%d descriptors", done);
}

/* The place of the record leads to another file when it is written. */
static void divert_record(char **arguments) {
        (void)unlink(arguments[0]);
        if (symlink(arguments[1], arguments[0]) < 0)
                held();
        perhaps(arguments[0]);
}

/* Asks the library that it was to be loaded with. */
static void preload(char **arguments) {
        if (!getenv("ESCAPE_PRELOADED"))
                untried("it was not preloaded");
        perhaps("and who else?");
}

const Attempt life_attempts[] = {
        { "stop-self", 0, stop_self },
        { "ignore-signals", 0, ignore_signals },
        { "hide-in-vfork", 0, hide_in_vfork },
        { "hide-in-trace", 0, hide_in_trace },
        { "stopped-children", 0, stopped_children },
        { "daemonise", 0, daemonise },
        { "orphans", 0, orphans },
        { "forge-record", 0, forge_record },
        { "signal-launcher", 0, signal_launcher },
        { "stop-launcher", 0, stop_launcher },
        { "trace-launcher", 0, trace_launcher },
        { "forge-at-launcher", 0, forge_at_launcher },
        { "divert-record", 2, divert_record },
        { "preload", 0, preload },
        { 0 },
};
