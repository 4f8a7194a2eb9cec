/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The undertaker. It is a fork of the keeper, so all descriptors of the keeper are closed in it first: an open one would
 * be a launcher's connection, or a lock, that outlives the keeper. */

#include "undertaker.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "launcher/manager/fd.h"
#include "sweep.h"

/* Also what `ps` calls it. */
#define UNDERTAKER_NAME       "undertaker"
/* How long somebody else may hold the lock: a launcher that will start a keeper, and may be killed before it does. */
#define UNDERTAKER_USEC       (20 * G_USEC_PER_SEC)
#define UNDERTAKER_AGAIN_MSEC 2

static bool undertaker_close_all_but(int one, int other) {
        unsigned first = (unsigned)MIN(one, other), last = (unsigned)MAX(one, other);

        return (first == 0 || syscall(SYS_close_range, 0, first - 1, 0) >= 0) &&
               (last - first < 2 || syscall(SYS_close_range, first + 1, last - 1, 0) >= 0) &&
               syscall(SYS_close_range, last + 1, ~0U, 0) >= 0;
}

static void undertaker_bury(const RuntimeDir *dir, const Ground *ground) {
        int64_t deadline = g_get_monotonic_time() + UNDERTAKER_USEC;

        while (!sweep_one(dir, ground, deadline) && g_get_monotonic_time() < deadline)
                (void)poll(NULL, 0, UNDERTAKER_AGAIN_MSEC);
}

static void undertaker_run(const RuntimeDir *dir, const Ground *ground, int keeper_fd) {
        struct pollfd wait = { .fd = keeper_fd, .events = POLLIN };

        (void)prctl(PR_SET_NAME, UNDERTAKER_NAME);
        (void)setsid();
        ground_take_leaf(ground, UNDERTAKER_NAME);
        sweep_others(dir);

        while (poll(&wait, 1, -1) <= 0)
                continue;
        undertaker_bury(dir, ground);
}

pid_t undertaker_start(const RuntimeDir *dir, const Ground *ground) {
        AUTO_CLOSE int keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
        pid_t child = keeper < 0 ? -1 : fork();

        if (child == 0) {
                if (undertaker_close_all_but(dir->base_fd, keeper))
                        undertaker_run(dir, ground, keeper);
                _exit(0);
        }
        return child;
}

void undertaker_stop(pid_t undertaker) {
        if (undertaker <= 0)
                return;

        (void)kill(undertaker, SIGKILL);
        (void)waitpid(undertaker, NULL, 0);
}
