/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Other processes: a canary of the caller's, the manager, the launcher. */

#include "attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#define SECRET_SIZE 32
#define FILES_TRIED 64

/* The caller's own process, somewhere else: says where its secret is in memory, and stays. Whatever kernel.yama says, it
 * lets itself be traced. */
static void canary(char **arguments) {
        static char secret[SECRET_SIZE + 1];

        (void)snprintf(secret, sizeof secret, "%s", arguments[0]);
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        printf("%lx\n", (unsigned long)secret);
        (void)fflush(stdout);
        stay();
}

static pid_t pid_of(const char *text) {
        return (pid_t)strtol(text, NULL, 10);
}

static void signal_process(char **arguments) {
        if (kill(pid_of(arguments[0]), SIGKILL) < 0)
                held();
        escaped("SIGKILL");
}

/* Signal 0 asks for the permission alone. In another process namespace the number is somebody else's. */
static void signal_manager(char **arguments) {
        char namespace[64] = "";

        (void)!readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1);
        if (strcmp(namespace, arguments[1]) != 0)
                held_by("it is in a process namespace of its own");
        if (kill(pid_of(arguments[0]), 0) < 0)
                held();
        escaped("the manager takes signals");
}

static void signal_by_pidfd(char **arguments) {
        long fd = syscall(SYS_pidfd_open, pid_of(arguments[0]), 0);

        if (fd < 0 || syscall(SYS_pidfd_send_signal, (int)fd, SIGKILL, NULL, 0) < 0)
                held();
        escaped("SIGKILL");
}

static void trace(char **arguments) {
        if (ptrace(PTRACE_SEIZE, pid_of(arguments[0]), NULL, NULL) < 0)
                held();
        escaped("PTRACE_SEIZE");
}

static void read_memory(char **arguments) {
        char text[SECRET_SIZE + 1] = "", path[64];
        uintptr_t address = strtoull(arguments[1], NULL, 16);
        struct iovec here = { text, SECRET_SIZE }, there = { (void *)address, SECRET_SIZE };
        int fd;

        if (process_vm_readv(pid_of(arguments[0]), &here, 1, &there, 1, 0) > 0)
                escaped("%s by process_vm_readv", text);
        (void)snprintf(path, sizeof path, "/proc/%s/mem", arguments[0]);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && pread(fd, text, SECRET_SIZE, (off_t)address) > 0)
                escaped("%s in %s", text, path);
        held();
}

static void write_memory(char **arguments) {
        char text[] = "forged";
        uintptr_t address = strtoull(arguments[1], NULL, 16);
        struct iovec here = { text, sizeof text }, there = { (void *)address, sizeof text };

        if (process_vm_writev(pid_of(arguments[0]), &here, 1, &there, 1, 0) < 0)
                held();
        escaped("process_vm_writev");
}

static void read_environment(char **arguments) {
        char path[64];

        (void)snprintf(path, sizeof path, "/proc/%s/environ", arguments[0]);
        try_read(path, arguments[1]);
        held();
}

/* Who runs what, with which arguments. */
static void list_processes(char **arguments) {
        DIR *proc = opendir("/proc");
        const struct dirent *entry;
        char path[300];

        if (!proc)
                held();
        while ((entry = readdir(proc))) {
                (void)snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
                if (pid_of(entry->d_name) == pid_of(arguments[0]))
                        try_read(path, arguments[1]);
        }
        errno = ESRCH;
        held();
}

static void borrow_file(char **arguments) {
        char path[64];
        long process = syscall(SYS_pidfd_open, pid_of(arguments[0]), 0);
        int number = (int)strtol(arguments[1], NULL, 10);
        long fd;

        (void)snprintf(path, sizeof path, "/proc/%s/fd/%d", arguments[0], number);
        try_read(path, arguments[2]);
        if (process < 0)
                held();
        fd = syscall(SYS_pidfd_getfd, (int)process, number, 0);
        if (fd < 0)
                held();
        (void)snprintf(path, sizeof path, "/proc/self/fd/%ld", fd);
        try_read(path, arguments[2]);
        held();
}

static pid_t parent_of(pid_t pid) {
        char path[64], line[256];
        int parent = 0;
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
                (void)sscanf(line, "PPid: %d", &parent);
        if (file)
                (void)fclose(file);
        return parent;
}

/* Who started the program: the manager, or what is process 1 of its namespace. */
static void borrow_from_parent(char **arguments) {
        pid_t parent = parent_of(getppid());
        long process = syscall(SYS_pidfd_open, parent, 0);
        char path[64];

        for (int i = 0; process >= 0 && i < FILES_TRIED; i++)
                if (syscall(SYS_pidfd_getfd, (int)process, i, 0) >= 0)
                        escaped("file %d of process %d", i, (int)parent);
        (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)parent);
        if (open(path, O_RDWR | O_CLOEXEC) >= 0)
                escaped("%s", path);
        held();
}

static void through_root(char **arguments) {
        static const char *const doors[] = { "root", "cwd" };
        char path[4096];

        for (size_t i = 0; i < 2; i++) {
                (void)snprintf(path, sizeof path, "/proc/%s/%s%s", arguments[0], doors[i],
                               i == 0 ? arguments[1] : strrchr(arguments[1], '/'));
                try_read(path, arguments[2]);
        }
        held();
}

static void limit_another(char **arguments) {
        struct rlimit limit = { 7, 7 };

        if (prlimit(pid_of(arguments[0]), RLIMIT_NOFILE, &limit, NULL) < 0)
                held();
        escaped("prlimit");
}

static void renice_another(char **arguments) {
        if (setpriority(PRIO_PROCESS, (id_t)pid_of(arguments[0]), 7) < 0)
                held();
        escaped("setpriority");
}

/* Makes the kernel kill it first. */
static void doom_another(char **arguments) {
        char path[64];

        (void)snprintf(path, sizeof path, "/proc/%s/oom_score_adj", arguments[0]);
        if (write_text(path, "777") < 0)
                held();
        escaped("%s", path);
}

const Attempt process_attempts[] = {
        { "canary", 1, canary },
        { "signal", 1, signal_process },
        { "signal-pidfd", 1, signal_by_pidfd },
        { "signal-manager", 2, signal_manager },
        { "ptrace", 1, trace },
        { "read-memory", 2, read_memory },
        { "write-memory", 2, write_memory },
        { "read-environment", 2, read_environment },
        { "list-processes", 2, list_processes },
        { "borrow-file", 3, borrow_file },
        { "borrow-from-parent", 0, borrow_from_parent },
        { "through-root", 3, through_root },
        { "limit-another", 1, limit_another },
        { "renice-another", 1, renice_another },
        { "doom-another", 1, doom_another },
        { 0 },
};
