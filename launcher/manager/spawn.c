/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starting cordon-keeper. Between fork and exec only what is safe there; an exec that fails is told on
 * the connection itself, in the keeper's own words. */

#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "error.h"
#include "fd.h"
#include "headroom.h"
#include "hold.h"

static void spawn_reset_signals(void) {
        struct sigaction standard = { .sa_handler = SIG_DFL };
        sigset_t none;

        for (int number = 1; number < _NSIG; number++)
                (void)sigaction(number, &standard, NULL);
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0 to 2 are /dev/null, then the two given, nothing else. */
static bool spawn_arrange_fds(int hold_fd, int dir_fd) {
        int hold = fcntl(hold_fd, F_DUPFD_CLOEXEC, SPAWN_DIR_FD + 1);
        int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, SPAWN_DIR_FD + 1);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (int fd = 0; fd <= 2; fd++)
                if (null < 0 || (null == fd ? fcntl(fd, F_SETFD, 0) : dup2(null, fd)) < 0)
                        return false;

        return hold >= 0 && dir >= 0 && dup2(hold, SPAWN_HOLD_FD) >= 0 &&
               dup2(dir, SPAWN_DIR_FD) >= 0 &&
               syscall(SYS_close_range, SPAWN_DIR_FD + 1, ~0U, 0) >= 0;
}

/* The hard limits of somebody who may not raise them. */
static void spawn_refuse_without_headroom(int hold_fd) {
        uint64_t hard = 0;
        const Headroom *lack = headroom_lack(&hard);
        char text[512];

        if (!lack)
                return;

        (void)snprintf(text, sizeof(text),
                       HOLD_ERROR
                       "%d the private manager cannot live under the caller's hard limit "
                       "of %s (ulimit %s %" PRIu64 "): it needs at least %" PRIu64,
                       MANAGER_ERROR_START, lack->what, lack->option, hard / lack->unit,
                       lack->least / lack->unit);
        (void)send(hold_fd, text, strlen(text), MSG_NOSIGNAL);
        _exit(125);
}

static void spawn_exec(char *const *arguments, int hold_fd, int dir_fd) {
        char *environment[] = { NULL };
        char text[512];
        int code;

        headroom_make();
        spawn_refuse_without_headroom(hold_fd);
        spawn_reset_signals();
        (void)umask(0022);
        if (chdir("/") < 0 || !spawn_arrange_fds(hold_fd, dir_fd))
                _exit(125);

        (void)execve(arguments[0], arguments, environment);
        code = errno;
        (void)snprintf(text, sizeof(text),
                       HOLD_ERROR "%d cannot run %.256s: %s: is cordon installed completely?",
                       MANAGER_ERROR_KEEPER, arguments[0], strerror(code));
        (void)send(SPAWN_HOLD_FD, text, strlen(text), MSG_NOSIGNAL);
        _exit(125);
}

/* The first child only leaves the session and the family. */
static bool spawn_twice(char *const *arguments, int hold_fd, int dir_fd, GError **error) {
        pid_t child = fork();

        if (child == 0) {
                (void)setsid();
                if (fork() == 0)
                        spawn_exec(arguments, hold_fd, dir_fd);
                _exit(0);
        }
        if (child < 0) {
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_KEEPER,
                            "cannot start a process for the private manager: %s",
                            g_strerror(errno));
                return false;
        }

        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
                continue;
        return true;
}

bool spawn_keeper(const char *keeper_path, const char *runtime_dir, int dir_fd, uint64_t idle_usec,
                  int *ret_hold_fd, GError **error) {
        g_autofree char *idle = g_strdup_printf("%" PRIu64, idle_usec);
        char *arguments[] = { (char *)keeper_path, (char *)runtime_dir, idle, NULL };
        AUTO_CLOSE int ours = -1, theirs = -1;
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_KEEPER,
                            "no socket for the private manager: %s", g_strerror(errno));
                return false;
        }
        ours = pair[0];
        theirs = pair[1];

        if (!spawn_twice(arguments, theirs, dir_fd, error))
                return false;

        *ret_hold_fd = fd_steal(&ours);
        return true;
}
