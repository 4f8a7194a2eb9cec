/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* attempt NAME [ARGUMENT…] NAME…: tries them one after another, says a line about each, then "tried", and stays until
 * end of file on its standard input. A verdict travels through a pipe of its own, so that nothing that an attempt does
 * to its descriptors mixes with it. attempt alone NAME…: in this very process, for what ends with it. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_ESCAPED 10
#define STATUS_UNTRIED 77
#define STATUS_MISUSE  70
#define PATIENCE_MSEC  20000
#define VERDICT_SIZE   512

static const Attempt *const themes[] = {
        cgroup_attempts,  namespace_attempts, process_attempts, self_attempts,
        manager_attempts, socket_attempts,    network_attempts, kernel_attempts,
        file_attempts,    resource_attempts,  life_attempts,
};

static int verdict_fd = STDOUT_FILENO;

void stay(void) {
        for (;;)
                (void)pause();
}

static void say(const char *kind, const char *text) {
        char line[VERDICT_SIZE];
        int length = snprintf(line, sizeof line - 1, "%s: %s", kind, text);

        if (length >= (int)sizeof line - 1)
                length = (int)sizeof line - 2;
        for (int i = 0; i < length; i++)
                if (line[i] == '\n')
                        line[i] = ' ';
        line[length++] = '\n';
        (void)!write(verdict_fd, line, (size_t)length);
}

void escaped(const char *format, ...) {
        char text[VERDICT_SIZE];
        va_list arguments;

        va_start(arguments, format);
        (void)vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        say("escaped", text);
        if (verdict_fd == STDOUT_FILENO)
                _exit(STATUS_ESCAPED);
        stay();
}

void perhaps(const char *what) {
        say("perhaps", what);
        if (verdict_fd == STDOUT_FILENO)
                _exit(0);
        stay();
}

void held_by(const char *what) {
        say("held", what);
        _exit(0);
}

void held(void) {
        held_by(strerrorname_np(errno) ?: "no error");
}

void untried(const char *why) {
        say("untried", why);
        _exit(STATUS_UNTRIED);
}

void try_each(char *places, Try attempt) {
        char *rest = NULL;

        errno = ENOENT;
        for (char *place = strtok_r(places, ":", &rest); place; place = strtok_r(NULL, ":", &rest))
                if (attempt(place) >= 0)
                        escaped("%s", place);
        held();
}

int write_text(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC), error;
        ssize_t n;

        if (fd < 0)
                return -1;
        n = write(fd, text, strlen(text));
        error = errno;
        (void)close(fd);
        errno = error;
        return n == (ssize_t)strlen(text) ? 0 : -1;
}

void try_read(const char *path, const char *wanted) {
        char text[65536];
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

        if (n < 0)
                return;
        (void)close(fd);
        errno = ENODATA;
        if (memmem(text, (size_t)n, wanted, strlen(wanted)))
                escaped("%s in %s", wanted, path);
}

static const Attempt *find(const char *name) {
        for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++)
                for (const Attempt *attempt = themes[i]; attempt->name; attempt++)
                        if (strcmp(attempt->name, name) == 0)
                                return attempt;
        fprintf(stderr, "attempt: no \"%s\"; known:\n", name);
        for (size_t i = 0; i < sizeof themes / sizeof themes[0]; i++)
                for (const Attempt *attempt = themes[i]; attempt->name; attempt++)
                        fprintf(stderr, "  %s\n", attempt->name);
        exit(STATUS_MISUSE);
}

/* The line that it says, or how it ended without one. */
static void listen_to(pid_t pid, int fd, char *ret_line, size_t size) {
        struct pollfd wait_for = { .fd = fd, .events = POLLIN };
        ssize_t n = poll(&wait_for, 1, PATIENCE_MSEC) > 0 ? read(fd, ret_line, size - 1) : 0;
        int status;

        if (n > 0) {
                ret_line[n] = '\0';
                return;
        }
        (void)kill(pid, SIGKILL);
        if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
                (void)snprintf(ret_line, size, "held: ended by SIG%s\n",
                               sigabbrev_np(WTERMSIG(status)));
        else
                (void)snprintf(ret_line, size, "held: without a word\n");
}

static void try_one(const Attempt *attempt, char **arguments) {
        char line[VERDICT_SIZE] = "";
        int ends[2];
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0) {
                printf("%s untried: no pipe\n", attempt->name);
                return;
        }
        pid = fork();
        if (pid == 0) {
                /* also where it has left the control group */
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void)close(ends[0]);
                verdict_fd = ends[1];
                attempt->run(arguments);
                held_by("it came back");
        }
        (void)close(ends[1]);
        listen_to(pid, ends[0], line, sizeof line);
        (void)close(ends[0]);
        printf("%s %s", attempt->name, line);
        (void)fflush(stdout);
}

static void wait_for_end(void) {
        char nothing;

        printf("tried\n");
        (void)fflush(stdout);
        while (read(STDIN_FILENO, &nothing, 1) > 0)
                ;
}

int main(int argc, char *argv[]) {
        bool is_alone = argc > 1 && strcmp(argv[1], "alone") == 0;

        (void)signal(SIGPIPE, SIG_IGN);
        for (char **word = argv + 1 + is_alone; word < argv + argc;) {
                const Attempt *attempt = find(*word++);

                if (argv + argc - word < attempt->n_arguments) {
                        fprintf(stderr, "attempt: %s wants %d arguments\n", attempt->name,
                                attempt->n_arguments);
                        return STATUS_MISUSE;
                }
                if (is_alone)
                        attempt->run(word);
                else
                        try_one(attempt, word);
                word += attempt->n_arguments;
        }
        if (!is_alone)
                wait_for_end();
        return 0;
}
