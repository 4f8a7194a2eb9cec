/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mounts and namespaces. Where the mounts are the machine's, nothing is tried that would change them, but for one
 * directory that is there for it. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#define MOUNTS_MAX 256

static void user_namespace(char **arguments) {
        if (unshare(CLONE_NEWUSER) < 0)
                held();
        escaped("unshare");
}

/* A filter of system calls cannot look into its argument. */
static void user_namespace_clone3(char **arguments) {
        struct {
                uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
        } order = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
        long pid = syscall(SYS_clone3, &order, sizeof order);

        if (pid == 0)
                stay();
        if (pid < 0)
                held();
        escaped("clone3");
}

/* Each kind without a user namespace. */
static void other_namespaces(char **arguments) {
        static const struct {
                const char *name;
                int flag;
        } kinds[] = {
                { "mount", CLONE_NEWNS }, { "network", CLONE_NEWNET },   { "pid", CLONE_NEWPID },
                { "uts", CLONE_NEWUTS },  { "cgroup", CLONE_NEWCGROUP }, { "ipc", CLONE_NEWIPC },
        };

        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
                if (unshare(kinds[i].flag) == 0)
                        escaped("%s", kinds[i].name);
        held();
}

static void join_namespace(char **arguments) {
        static const char *const kinds[] = { "mnt", "net", "pid", "cgroup", "user" };
        char path[64];
        int fd;

        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
                (void)snprintf(path, sizeof path, "/proc/%s/ns/%s", arguments[0], kinds[i]);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd >= 0 && setns(fd, 0) == 0)
                        escaped("%s", path);
        }
        held();
}

static void mount_something(char **arguments) {
        if (mount("escape", arguments[0], "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") < 0)
                held();
        escaped("%s", arguments[0]);
}

static bool is_own_mounts(const char *not_these) {
        char name[64] = "";

        return readlink("/proc/self/ns/mnt", name, sizeof name - 1) > 0 &&
               strcmp(name, not_these) != 0;
}

static bool has_admin(void) {
        char line[256];
        unsigned long long set = 0;
        FILE *file = fopen("/proc/self/status", "re");

        while (file && fgets(line, sizeof line, file))
                if (strncmp(line, "CapEff:", 7) == 0)
                        set = strtoull(line + 7, NULL, 16);
        if (file)
                (void)fclose(file);
        return set >> 21 & 1;
}

/* Points of all mounts, the last first: what lies on top goes first. */
static size_t mount_points(char *points[MOUNTS_MAX]) {
        FILE *file = fopen("/proc/self/mountinfo", "re");
        size_t n = 0;
        char *point;

        while (file && n < MOUNTS_MAX && fscanf(file, "%*d %*d %*s %*s %ms%*[^\n]", &point) == 1)
                points[n++] = point;
        if (file)
                (void)fclose(file);
        return n;
}

static void undo_mounts(char **arguments, int (*undo)(const char *point)) {
        char *points[MOUNTS_MAX];
        size_t n = mount_points(points);

        if (!is_own_mounts(arguments[0])) {
                if (has_admin())
                        escaped("the mounts are the machine's, and it may");
                errno = EPERM;
                held();
        }
        while (n-- > 0)
                if (undo(points[n]) == 0)
                        escaped("%s", points[n]);
        held();
}

static int make_writable(const char *point) {
        return mount(NULL, point, NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int take_away(const char *point) {
        return umount2(point, MNT_DETACH);
}

static void remount(char **arguments) {
        undo_mounts(arguments, make_writable);
}

static void unmount(char **arguments) {
        undo_mounts(arguments, take_away);
}

/* The same with the newer calls. */
static void open_mount_tree(char **arguments) {
        long fd = syscall(SYS_open_tree, AT_FDCWD, arguments[0], 1 /* OPEN_TREE_CLONE */);

        if (fd < 0)
                held();
        escaped("open_tree");
}

static void change_root(char **arguments) {
        if (chroot(arguments[0]) < 0)
                held();
        escaped("%s", arguments[0]);
}

const Attempt namespace_attempts[] = {
        { "user-namespace", 0, user_namespace },
        { "user-namespace-clone3", 0, user_namespace_clone3 },
        { "other-namespaces", 0, other_namespaces },
        { "join-namespace", 1, join_namespace },
        { "mount", 1, mount_something },
        { "remount", 1, remount },
        { "unmount", 1, unmount },
        { "open-mount-tree", 1, open_mount_tree },
        { "chroot", 1, change_root },
        { 0 },
};
