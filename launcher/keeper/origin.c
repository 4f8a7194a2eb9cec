/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Forgetting the starter. What cannot be set back (a hard limit without privileges) is part of the
 * private manager's key instead, so that only those who have the same share it. */

#include "origin.h"

#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/manager/fd.h"

#define ORIGIN_IOPRIO_WHO_PROCESS 1

/* All processors that the kernel lets us have; the mask may be wider than the machine. */
static void origin_forget_affinity(void) {
        cpu_set_t all[16];

        (void)memset(all, 0xff, sizeof(all));
        (void)sched_setaffinity(0, sizeof(all), all);
}

/* The machine's (or container's) own default is what its first process has, unless that one is
 * protected. */
static void origin_forget_oom_score(void) {
        g_autofree char *text = NULL;
        g_autofree char *line = NULL;
        AUTO_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        gint64 score = 0;

        if (g_file_get_contents("/proc/1/oom_score_adj", &text, NULL, NULL))
                score = g_ascii_strtoll(text, NULL, 10);
        line = g_strdup_printf("%d", (int)MAX(score, 0));
        if (fd >= 0)
                (void)!write(fd, line, strlen(line));
}

/* Soft limits up to the hard ones; the hard ones as those of the first process, where we may. The
 * manager sets what it wants from there, and the gate sets the caller's. */
static void origin_forget_limits(void) {
        for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++) {
                struct rlimit own, first;

                if (prlimit(1, resource, NULL, &first) >= 0 && setrlimit(resource, &first) >= 0)
                        continue;
                if (getrlimit(resource, &own) >= 0) {
                        own.rlim_cur = own.rlim_max;
                        (void)setrlimit(resource, &own);
                }
        }
}

void origin_forget(void) {
        struct sched_param param = { 0 };

        (void)sched_setscheduler(0, SCHED_OTHER, &param);
        (void)setpriority(PRIO_PROCESS, 0, 0);
        (void)syscall(SYS_ioprio_set, ORIGIN_IOPRIO_WHO_PROCESS, 0, 0);
        (void)prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0);
        (void)personality(PER_LINUX);
        origin_forget_affinity();
        origin_forget_limits();
        origin_forget_oom_score();
}
