/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "prospect.h"

#include <string.h>

#define HELD    PROSPECT_HELD
#define ESCAPES PROSPECT_ESCAPES
#define DEPENDS PROSPECT_DEPENDS

/* clang-format off */
const Prospect prospects[] = {
        { "cgroup-join",            "cgroup",  "move to another control group",                     ESCAPES, ESCAPES },
        { "cgroup-limits",          "cgroup",  "write the limits of its own slice",                 ESCAPES, ESCAPES },
        { "cgroup-agent",           "cgroup",  "be the release agent of control groups (v1)",       DEPENDS, HELD },
        { "cgroup-mount",           "cgroup",  "mount control groups in a new user namespace",      HELD,    HELD },
        { "user-namespace",         "cgroup",  "a new user namespace",                              ESCAPES, DEPENDS },
        { "user-namespace-clone3",  "cgroup",  "likewise, by clone3()",                             ESCAPES, DEPENDS },
        { "other-namespaces",       "cgroup",  "a new namespace of another kind",                   ESCAPES, HELD },
        { "join-namespace",         "cgroup",  "enter a namespace of another process",              ESCAPES, HELD },
        { "mount",                  "cgroup",  "mount a file system",                               ESCAPES, HELD },
        { "remount",                "cgroup",  "make read-only mounts writable",                    ESCAPES, HELD },
        { "unmount",                "cgroup",  "take away what hides something",                    ESCAPES, HELD },
        { "open-mount-tree",        "cgroup",  "copy a mount, by open_tree()",                      ESCAPES, HELD },
        { "chroot",                 "cgroup",  "change its root directory",                         ESCAPES, HELD },

        { "ask-manager",            "manager", "start a unit over the manager's own socket",        ESCAPES, ESCAPES },
        { "ask-bus",                "manager", "start a unit over the bus",                         ESCAPES, ESCAPES },
        { "bus-activation",         "manager", "have the bus start a service",                      ESCAPES, ESCAPES },
        { "systemd-run",            "manager", "start a unit with systemd-run",                     ESCAPES, ESCAPES },
        { "cron-spool",             "manager", "leave a job for cron or at",                        ESCAPES, HELD },
        { "unit-file",              "manager", "leave a unit file for the manager",                 ESCAPES, ESCAPES },
        { "login-file",             "manager", "leave a file in the home directory",                ESCAPES, ESCAPES },
        { "engine",                 "manager", "ask a container engine for a container",            ESCAPES, ESCAPES },
        { "type-for-caller",        "manager", "type at the caller's terminal, by TIOCSTI",          DEPENDS, HELD },
        { "sockets-in-run",         "manager", "connect to any socket below /run",                  ESCAPES, ESCAPES },
        { "sockets-of-cordon",      "manager", "connect to cordon's own sockets",                   ESCAPES, ESCAPES },

        { "signal",                 "process", "kill another process of the caller",                ESCAPES, ESCAPES },
        { "signal-pidfd",           "process", "likewise, by a pidfd",                              ESCAPES, ESCAPES },
        { "signal-manager",         "process", "send the manager a signal",                         ESCAPES, ESCAPES },
        { "ptrace",                 "process", "trace another process",                             ESCAPES, ESCAPES },
        { "read-memory",            "process", "read another's memory",                             ESCAPES, ESCAPES },
        { "write-memory",           "process", "write another's memory",                            ESCAPES, ESCAPES },
        { "read-environment",       "process", "read another's environment",                        ESCAPES, ESCAPES },
        { "list-processes",         "process", "read what others run, with which arguments",        ESCAPES, ESCAPES },
        { "borrow-file",            "process", "take an open file from another",                    ESCAPES, ESCAPES },
        { "borrow-from-parent",     "process", "take a file or the memory of who started it",       ESCAPES, DEPENDS },
        { "through-root",           "process", "read a file through another's root directory",      ESCAPES, ESCAPES },
        { "limit-another",          "process", "change another's resource limits",                  ESCAPES, ESCAPES },
        { "renice-another",         "process", "change another's priority",                         ESCAPES, ESCAPES },
        { "doom-another",           "process", "make another the first to be killed for memory",    ESCAPES, ESCAPES },

        { "raise-limits",           "self",    "raise its own resource limits",                     DEPENDS, HELD },
        { "raise-priority",         "self",    "raise its own priority",                            ESCAPES, HELD },
        { "oom-score",              "self",    "never be killed for memory",                        DEPENDS, HELD },
        { "new-privileges",         "self",    "gain privileges by a set-user-ID program",          ESCAPES, ESCAPES },
        { "capabilities",           "self",    "have a capability in any of its sets",              ESCAPES, ESCAPES },
        { "become-root",            "self",    "be root",                                           ESCAPES, HELD },
        { "become-another",         "self",    "be another user",                                   ESCAPES, HELD },
        { "inherited-files",        "self",    "find more than the standard streams open",          HELD,    HELD },
        { "caller-environment",     "self",    "read the caller's environment",                     ESCAPES, ESCAPES },
        { "keyring",                "self",    "read a key of the caller's",                        ESCAPES, DEPENDS },
        { "leave-key",              "self",    "leave a key in the caller's keyring",               ESCAPES, ESCAPES },

        { "kernel-log",             "kernel",  "read the kernel's log",                             ESCAPES, DEPENDS },
        { "kernel-settings",        "kernel",  "open the kernel's settings for writing",            ESCAPES, HELD },
        { "sys-files",              "kernel",  "open files of /sys for writing",                    ESCAPES, HELD },
        { "kernel-secrets",         "kernel",  "read the kernel's memory or what tells of it",      ESCAPES, HELD },
        { "devices",                "kernel",  "open a disk or another device",                     ESCAPES, DEPENDS },
        { "make-device",            "kernel",  "make a node for the disk, and open it",             DEPENDS, HELD },
        { "load-module",            "kernel",  "load code into the kernel",                         DEPENDS, HELD },
        { "end-machine",            "kernel",  "reboot the machine",                                ESCAPES, HELD },
        { "swap-space",             "kernel",  "take away its swap",                                ESCAPES, HELD },
        { "clock-tricks",           "kernel",  "set the clock",                                     ESCAPES, HELD },
        { "host-name",              "kernel",  "set the name of the machine",                       ESCAPES, HELD },
        { "open-by-handle",         "kernel",  "open any file of a file system by its number",      ESCAPES, HELD },
        { "risky-calls",            "kernel",  "bpf, io_uring, userfaultfd, perf_event_open",       ESCAPES, DEPENDS },

        { "tcp",                    "network", "connect to a service on 127.0.0.1",                 ESCAPES, ESCAPES, HELD },
        { "udp",                    "network", "likewise, by UDP",                                  ESCAPES, ESCAPES, HELD },
        { "tcp6",                   "network", "connect to a service on ::1",                       ESCAPES, ESCAPES, HELD },
        { "abstract-socket",        "network", "connect to an abstract socket",                     ESCAPES, ESCAPES, HELD },
        { "interfaces",             "network", "see an interface that is not the loopback",         ESCAPES, ESCAPES, HELD },
        { "device-events",          "network", "listen to the kernel's events of devices",          DEPENDS, DEPENDS, DEPENDS },
        { "packet",                 "network", "open a packet socket",                              ESCAPES, HELD,    DEPENDS },
        { "raw-ip",                 "network", "open a raw socket",                                 ESCAPES, HELD,    DEPENDS },
        { "vsock",                  "network", "open a socket between virtual machines",            DEPENDS, DEPENDS, DEPENDS },
        { "odd-families",           "network", "open a socket of a family that is seldom used",     DEPENDS, DEPENDS, DEPENDS },

        { "read-file",              "files",   "read a file outside",                               ESCAPES, ESCAPES },
        { "read-through-link",      "files",   "likewise, through a symbolic link of its own",      ESCAPES, ESCAPES },
        { "read-upwards",           "files",   "likewise, by many ..",                              ESCAPES, ESCAPES },
        { "hard-link",              "files",   "likewise, through a hard link of its own",          ESCAPES, ESCAPES },
        { "through-own-root",       "files",   "likewise, through /proc/self/root",                 ESCAPES, ESCAPES },
        { "write-file",             "files",   "write a file outside",                              ESCAPES, ESCAPES },
        { "write-through-link",     "files",   "likewise, through a symbolic link of its own",      ESCAPES, ESCAPES },
        { "write-system",           "files",   "write where the system is",                         ESCAPES, HELD },
        { "leave-in-tmp",           "files",   "leave a file in /tmp",                              ESCAPES, ESCAPES },
        { "leave-in-shm",           "files",   "leave a file in /dev/shm",                          ESCAPES, ESCAPES },
        { "leave-segment",          "files",   "leave a segment of shared memory",                  ESCAPES, ESCAPES },
        { "leave-queue",            "files",   "leave a message queue",                             ESCAPES, ESCAPES },
        { "lead-astray",            "files",   "have files outside removed, through links in /tmp",  HELD,    HELD },
        { "leave-set-user-id",      "files",   "leave a set-user-ID program in the workspace",      ESCAPES, ESCAPES },

        { "fork-bomb",              "bomb",    "more processes than --tasks",                       HELD,    HELD },
        { "fork-bomb-unlimited",    "bomb",    "hundreds of processes without --tasks",             ESCAPES, ESCAPES },
        { "thread-bomb",            "bomb",    "more threads than --tasks",                         HELD,    HELD },
        { "cpu-children",           "bomb",    "more CPU time than --cpu-time, in short lives",     HELD,    HELD },
        { "sparse-file",            "bomb",    "a file larger than --fsize, with holes",            HELD,    HELD },
        { "many-files",             "bomb",    "more than --disk, in many files",                   HELD,    HELD },
        { "deleted-files",          "bomb",    "likewise, in deleted files that are open",          HELD,    HELD },
        { "open-files",             "bomb",    "more open files than --nofile",                     HELD,    HELD },
        { "files-in-flight",        "bomb",    "many more, on their way through sockets",           ESCAPES, HELD },
        { "output-flood",           "bomb",    "more output than --output keeps",                   HELD,    HELD },

        { "memory-anonymous",       "memory",  "more memory than --memory",                         HELD,    HELD },
        { "memory-shared",          "memory",  "likewise, shared",                                  HELD,    HELD },
        { "memory-locked",          "memory",  "likewise, locked",                                  HELD,    HELD },
        { "memory-memfd",           "memory",  "likewise, in a memfd",                              HELD,    HELD },
        { "memory-tmpfs",           "memory",  "likewise, in a deleted file of a tmpfs",            HELD,    HELD },
        { "memory-cache",           "memory",  "likewise, in the page cache",                       HELD,    HELD },
        { "memory-pipes",           "memory",  "likewise, in pipes",                                HELD,    HELD },
        { "memory-sockets",         "memory",  "likewise, in sockets",                              HELD,    HELD },
        { "memory-segments",        "memory",  "likewise, in segments of System V",                 HELD,    HELD },
        { "memory-children",        "memory",  "likewise, in many small processes",                 HELD,    HELD },
        { "memory-tables",          "memory",  "likewise, in page tables",                          HELD,    HELD },

        { "stop-self",              "life",    "outlive --timeout stopped",                         HELD,    HELD },
        { "ignore-signals",         "life",    "likewise, ignoring all signals",                    HELD,    HELD },
        { "hide-in-vfork",          "life",    "likewise, waiting for a vfork",                     HELD,    HELD },
        { "hide-in-trace",          "life",    "likewise, with a child that is traced",             HELD,    HELD },
        { "stopped-children",       "life",    "likewise, with stopped children",                   HELD,    HELD },
        { "notify",                 "life",    "likewise, by telling the manager so",               HELD,    HELD },
        { "daemonise",              "life",    "outlive the main process as a daemon",              HELD,    HELD },
        { "orphans",                "life",    "likewise, as orphans in sessions of their own",     HELD,    HELD },
        { "forge-record",           "life",    "write a record into all that it has open",          HELD,    HELD },
        { "divert-record",          "life",    "have the record written to another file",           HELD,    HELD },
        { "preload",                "life",    "run in cordon's programs by LD_PRELOAD",            HELD,    HELD },
        { "signal-launcher",        "life",    "end the launcher",                                  ESCAPES, ESCAPES },
        { "stop-launcher",          "life",    "outlive it by a minute, the launcher being stopped", HELD,    HELD },
        { "trace-launcher",         "life",    "trace the launcher, or open its memory",            ESCAPES, ESCAPES },
        { "forge-at-launcher",      "life",    "write a record into the launcher's files",          ESCAPES, ESCAPES },
        { 0 },
};

const Residual residuals[] = {
        { "list-processes",  "processes", "user private" },
        { "doom-another",    "processes", "user private" },
        { "signal",          "signals", "user private" },
        { "signal-pidfd",    "signals", "user private" },
        { "signal-manager",  "signals", "user private" },
        { "signal-launcher", "signals", "user private" },
        { 0 },
};
/* clang-format on */

const Prospect *prospect_find(const char *name) {
        for (const Prospect *prospect = prospects; prospect->name; prospect++)
                if (strcmp(prospect->name, name) == 0)
                        return prospect;
        return NULL;
}

static bool has_word(const char *words, const char *word) {
        size_t length = strlen(word);

        for (const char *at = words; (at = strstr(at, word)); at += length)
                if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
                        return true;
        return false;
}

const Residual *residual_find(const char *name) {
        for (const Residual *residual = residuals; residual->name; residual++)
                if (strcmp(residual->name, name) == 0)
                        return residual;
        return NULL;
}

bool residual_may_be(const Residual *residual, const char *manager) {
        return has_word(residual->managers, manager);
}
