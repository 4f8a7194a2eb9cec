/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lifting limits. What is least was measured with systemd 252 on cgroup version 1, which opens the most files; a manager
 * that starts with less breaks in ways that nobody can read: killed by a signal, or by its own loader. */

#include "headroom.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fd.h"

#define KIB        UINT64_C(1024)
#define MIB        (1024 * KIB)
/* What a machine gives; an unlimited one changes the layout of the address space. */
#define STACK_SOFT (8 * MIB)

static const Headroom headrooms[] = {
        { RLIMIT_FSIZE, "-f", "file size", 64 * KIB, KIB },
        { RLIMIT_NOFILE, "-n", "open files", 64, 1 },
        { RLIMIT_AS, "-v", "address space", 64 * MIB, KIB },
        { RLIMIT_DATA, "-d", "data segment", 8 * MIB, KIB },
        { RLIMIT_STACK, "-s", "stack", 256 * KIB, KIB },
};

/* No number of open files beyond this is accepted, not even "unlimited". */
static rlim_t headroom_files(void) {
        AUTO_CLOSE int fd = open("/proc/sys/fs/nr_open", O_RDONLY | O_CLOEXEC);
        char text[32];
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

        if (n <= 0)
                return 0;
        text[n] = '\0';
        return strtoul(text, NULL, 10);
}

static rlim_t headroom_most(int resource) {
        return resource == RLIMIT_NOFILE ? headroom_files() : RLIM_INFINITY;
}

static bool headroom_set(int resource, rlim_t hard) {
        rlim_t soft = resource == RLIMIT_STACK && hard > STACK_SOFT ? STACK_SOFT : hard;
        struct rlimit limit = { .rlim_cur = soft, .rlim_max = hard };

        return setrlimit(resource, &limit) >= 0;
}

void headroom_make(void) {
        for (size_t i = 0; i < sizeof(headrooms) / sizeof(*headrooms); i++) {
                int resource = headrooms[i].resource;
                struct rlimit own;

                if (getrlimit(resource, &own) < 0)
                        continue;
                if (own.rlim_max >= headroom_most(resource) ||
                    !headroom_set(resource, headroom_most(resource)))
                        (void)headroom_set(resource, own.rlim_max);
        }
}

const Headroom *headroom_lack(uint64_t *ret_hard) {
        for (size_t i = 0; i < sizeof(headrooms) / sizeof(*headrooms); i++) {
                struct rlimit own;

                if (getrlimit(headrooms[i].resource, &own) >= 0 &&
                    own.rlim_max < headrooms[i].least) {
                        *ret_hard = own.rlim_max;
                        return &headrooms[i];
                }
        }
        return NULL;
}
