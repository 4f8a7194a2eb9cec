/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Leaving the cgroup, or making it wider. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOP   "/sys/fs/cgroup"
#define FILES 16

static int join(const char *directory) {
        char path[4096];

        (void)snprintf(path, sizeof path, "%s/cgroup.procs", directory);
        return write_text(path, "0");
}

static void cgroup_join(char **arguments) {
        try_each(arguments[0], join);
}

static const char *slice;

static int widen(const char *path, const struct stat *info, int kind, struct FTW *walk) {
        static const char *const limits[][2] = {
                { "pids.max", "max" },
                { "memory.max", "max" },
                { "memory.limit_in_bytes", "-1" },
        };
        char file[4096];

        if (kind != FTW_D || strcmp(path + walk->base, slice) != 0)
                return 0;
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
                (void)snprintf(file, sizeof file, "%s/%s", path, limits[i][0]);
                if (write_text(file, limits[i][1]) == 0)
                        escaped("%s", file);
        }
        return 0;
}

/* The name of the slice is no secret; where it lies in the tree need not be known. */
static void cgroup_limits(char **arguments) {
        slice = arguments[0];
        errno = ENOENT;
        (void)nftw(TOP, widen, FILES, FTW_PHYS);
        held();
}

static int try_agent(const char *path, const struct stat *info, int kind, struct FTW *walk) {
        int fd;

        if (kind != FTW_F || strcmp(path + walk->base, "release_agent") != 0)
                return 0;
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0)
                escaped("%s", path);
        return 0;
}

/* The kernel would run it for us, as root and outside; only version 1 has it. */
static void cgroup_agent(char **arguments) {
        errno = ENOENT;
        (void)nftw(TOP, try_agent, FILES, FTW_PHYS);
        held();
}

static void map_root(uid_t uid, gid_t gid) {
        char map[64];

        (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
        (void)write_text("/proc/self/uid_map", map);
        (void)write_text("/proc/self/setgroups", "deny");
        (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)gid);
        (void)write_text("/proc/self/gid_map", map);
}

/* A fresh mount of the cgroup file system, which would be writable, in a user namespace where that is allowed. Without a
 * cgroup namespace it shows the whole tree. */
static void cgroup_mount(char **arguments) {
        static const int namespaces[] = { CLONE_NEWNS, CLONE_NEWNS | CLONE_NEWCGROUP };
        uid_t uid = getuid();
        gid_t gid = getgid();

        slice = arguments[0];
        if (unshare(CLONE_NEWUSER) < 0)
                held();
        map_root(uid, gid);
        for (size_t i = 0; i < 2; i++) {
                if (unshare(namespaces[i]) < 0)
                        held();
                (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
                if (mount("cgroup2", TOP, "cgroup2", 0, NULL) < 0)
                        continue;
                (void)nftw(TOP, widen, FILES, FTW_PHYS);
        }
        held();
}

const Attempt cgroup_attempts[] = {
        { "cgroup-join", 1, cgroup_join },
        { "cgroup-limits", 1, cgroup_limits },
        { "cgroup-agent", 0, cgroup_agent },
        { "cgroup-mount", 1, cgroup_mount },
        { 0 },
};
