/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bench-meter COMMAND…: runs it and says on descriptor 3 what it took, as "STATUS WALL USER SYSTEM PEAK": wait status,
 * microseconds, KiB. It is small, and forks: the kernel's peak of a child that was spawned begins with that of who
 * spawned it, and a Python is larger than what is measured here. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPORT_FD 3

static long now_usec(void) {
        struct timespec now;

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static long usec(struct timeval time) {
        return time.tv_sec * 1000000L + time.tv_usec;
}

int main(int argc, char *argv[]) {
        struct rusage usage;
        long began_usec = now_usec();
        int status = 0;
        pid_t pid;

        if (argc < 2)
                return EXIT_FAILURE;
        pid = fork();
        if (pid == 0) {
                (void)close(REPORT_FD);
                (void)execv(argv[1], argv + 1);
                fprintf(stderr, "bench-meter: %s: %s\n", argv[1], strerror(errno));
                _exit(127);
        }
        if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
                return EXIT_FAILURE;
        dprintf(REPORT_FD, "%d %ld %ld %ld %ld\n", status, now_usec() - began_usec,
                usec(usage.ru_utime), usec(usage.ru_stime), usage.ru_maxrss);
        return EXIT_SUCCESS;
}
