/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel, its settings, its logs and its devices. What is opened for writing is not written to. */

#include "attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <unistd.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#define KLOG_READ_ALL   3
#define SECTOR          512
#define URING_PARAMS    120
#define BPF_MAP_CREATE_ 0

static void open_any(const char *const *paths, int flags) {
        for (; *paths; paths++)
                if (open(*paths, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) >= 0)
                        escaped("%s", *paths);
        held();
}

static void kernel_log(char **arguments) {
        static const char *const device[] = { "/dev/kmsg", "/proc/kmsg", NULL };
        char text[4096];

        if (klogctl(KLOG_READ_ALL, text, sizeof text) > 0)
                escaped("syslog");
        open_any(device, O_RDONLY);
}

static void kernel_settings(char **arguments) {
        static const char *const settings[] = {
                "/proc/sys/kernel/core_pattern",  "/proc/sys/kernel/modprobe",
                "/proc/sys/kernel/hostname",      "/proc/sys/vm/overcommit_memory",
                "/proc/sys/fs/file-max",          "/proc/sysrq-trigger",
                "/proc/irq/default_smp_affinity", NULL,
        };

        open_any(settings, O_WRONLY);
}

static void sys_files(char **arguments) {
        static const char *const files[] = {
                "/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled",
                "/sys/power/state",          "/sys/module/printk/parameters/time",
                "/sys/class/net/lo/mtu",     "/sys/kernel/profiling",
                "/sys/bus/pci/rescan",       NULL,
        };

        open_any(files, O_WRONLY);
}

static void kernel_secrets(char **arguments) {
        static const char *const files[] = {
                "/proc/kcore",
                "/dev/mem",
                "/dev/port",
                "/sys/kernel/debug/sched/debug",
                "/sys/kernel/tracing/trace",
                "/proc/slabinfo",
                NULL,
        };

        open_any(files, O_RDONLY);
}

/* Disks and what reaches behind the file system. */
static void devices(char **arguments) {
        DIR *directory = opendir("/dev");
        const struct dirent *entry;
        struct stat info;
        int fd;

        while (directory && (entry = readdir(directory))) {
                if (fstatat(dirfd(directory), entry->d_name, &info, 0) < 0 ||
                    !S_ISBLK(info.st_mode))
                        continue;
                fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
                if (fd >= 0)
                        escaped("%s", entry->d_name);
        }
        {
                static const char *const others[] = { "/dev/loop-control", "/dev/kvm",  "/dev/fuse",
                                                      "/dev/vsock",        "/dev/tty0", NULL };

                open_any(others, O_RDWR);
        }
}

/* A node of its own making for the disk that its files are on. */
static void make_device(char **arguments) {
        struct stat info;
        int fd;

        if (stat(arguments[0], &info) < 0)
                held();
        (void)unlink("node");
        if (mknod("node", S_IFBLK | 0600, info.st_dev) < 0)
                held();
        fd = open("node", O_RDONLY | O_CLOEXEC);
        (void)unlink("node");
        if (fd < 0)
                held();
        escaped("a disk of its own making");
}

/* Where it were allowed, the kernel would complain of what it was given instead. */
static void load_module(char **arguments) {
        (void)syscall(SYS_finit_module, -1, "", 0);
        if (errno == EPERM || errno == ENOSYS)
                held();
        escaped("finit_module says %s", strerrorname_np(errno));
}

static void end_machine(char **arguments) {
        (void)syscall(SYS_reboot, 0, 0, 0, NULL);
        if (errno == EPERM || errno == ENOSYS)
                held();
        escaped("reboot says %s", strerrorname_np(errno));
}

static void swap_space(char **arguments) {
        (void)syscall(SYS_swapoff, "/nowhere");
        if (errno == EPERM || errno == ENOSYS)
                held();
        escaped("swapoff says %s", strerrorname_np(errno));
}

/* Sets what is set already. */
static void clock_tricks(char **arguments) {
        struct timex now = { .modes = 0 };

        if (adjtimex(&now) < 0)
                held();
        now.modes = ADJ_TICK;
        if (adjtimex(&now) < 0)
                held();
        escaped("adjtimex");
}

static void host_name(char **arguments) {
        char name[256] = "";

        if (gethostname(name, sizeof name - 1) < 0 || sethostname(name, strlen(name)) < 0)
                held();
        escaped("sethostname");
}

static void open_by_handle(char **arguments) {
        struct {
                struct file_handle head;
                unsigned char space[128];
        } handle = { .head.handle_bytes = sizeof handle.space };
        int mount = 0, root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (name_to_handle_at(AT_FDCWD, ".", &handle.head, &mount, 0) < 0)
                held();
        if (open_by_handle_at(root, &handle.head, O_RDONLY) < 0)
                held();
        escaped("any file of the file system");
}

/* Calls with a history of giving more than they should. */
static void risky_calls(char **arguments) {
        struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE, .size = sizeof event };
        unsigned char space[URING_PARAMS] = { 0 };
        uint32_t map[16] = { 2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1 };

        if (syscall(SYS_bpf, BPF_MAP_CREATE_, map, sizeof map) >= 0)
                escaped("bpf");
        if (syscall(SYS_io_uring_setup, 4, space) >= 0)
                escaped("io_uring");
        if (syscall(SYS_userfaultfd, 0) >= 0)
                escaped("userfaultfd");
        if (syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0)
                escaped("perf_event_open");
        held();
}

const Attempt kernel_attempts[] = {
        { "kernel-log", 0, kernel_log },   { "kernel-settings", 0, kernel_settings },
        { "sys-files", 0, sys_files },     { "kernel-secrets", 0, kernel_secrets },
        { "devices", 0, devices },         { "make-device", 1, make_device },
        { "load-module", 0, load_module }, { "end-machine", 0, end_machine },
        { "swap-space", 0, swap_space },   { "clock-tricks", 0, clock_tricks },
        { "host-name", 0, host_name },     { "open-by-handle", 0, open_by_handle },
        { "risky-calls", 0, risky_calls }, { 0 },
};
