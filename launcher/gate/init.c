/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "init.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

bool init_is_needed(void) {
        return getpid() == 1;
}

pid_t init_fork(int ret_ends[2]) {
        pid_t program;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends) < 0)
                return -1;
        program = fork();
        if (program < 0) {
                (void)close(ret_ends[0]);
                (void)close(ret_ends[1]);
        }
        return program;
}

bool init_await(const int ends[2]) {
        char byte;
        ssize_t n;

        (void)close(ends[0]);
        do
                n = recv(ends[1], &byte, 1, 0);
        while (n < 0 && errno == EINTR);
        return n == 1;
}

static void close_others(int end) {
        if (end > 0)
                (void)syscall(SYS_close_range, 0U, (unsigned)end - 1, 0U);
        (void)syscall(SYS_close_range, (unsigned)end + 1, UINT_MAX, 0U);
}

int init_run(int end, pid_t program) {
        GateEnd word = { .type = GATE_END };
        int status = 0;
        pid_t ended;
        char byte;

        /* Who could trace us could speak for us. */
        (void)prctl(PR_SET_DUMPABLE, 0);
        close_others(end);
        (void)send(end, "", 1, MSG_NOSIGNAL);
        do
                ended = waitpid(-1, &status, 0);
        while (ended != program && (ended >= 0 || errno == EINTR));
        if (ended != program)
                return EXIT_FAILURE;

        word.status = status;
        (void)send(end, &word, sizeof word, MSG_NOSIGNAL);
        while (recv(end, &byte, 1, 0) < 0 && errno == EINTR)
                ;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
