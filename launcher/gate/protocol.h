/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What launcher and gate say to each other, over one end each of a SOCK_SEQPACKET pair:
 *
 *   launcher → gate   GATE_REQUEST, with descriptors: a memfd that holds the GateRequest and its strings, then the
 *                     stdio that the program is to have (those in stdio_mask, in order)
 *   gate → launcher   GateHello with a pidfd of the gate (which becomes the program) and one end of a fresh pair, when
 *                     everything but the exec is done; or GateFailure
 *   launcher → gate   GATE_GO over the fresh pair, after the limits were read back
 *   gate → launcher   end of file by the exec itself (close-on-exec), or GateFailure
 *
 * In a pid namespace of its own the gate stays as process 1, and hello has one end of another pair: over that it says
 * how the program ended (GateEnd) and waits for the end of file.
 *
 * The fresh pair is needed because the manager keeps the descriptor that it gave the unit as standard input: the end of
 * file on the first pair comes when the unit ends, not with the exec.
 *
 * Both sides are of one build: the version is checked, not negotiated. End of file instead of "go" means that the
 * launcher is gone: the gate ends without running anything. */

#include <stdint.h>

#include "units/step.h"

#define GATE_VERSION   5U
#define GATE_REQUEST   'R'
#define GATE_GO        'G'
#define GATE_RLIMITS   16
/* The kernel's own limit is 8192 CPUs. */
#define GATE_CPU_WORDS 128

/* In place of an inode: whatever has the path is meant. */
#define GATE_DIRECTORY_ANY UINT64_MAX

/* In place of the caller's: what the manager set stays. */
#define GATE_GROUPS_KEPT UINT32_MAX
#define GATE_UMASK_KEPT  UINT32_MAX
#define GATE_USER_KEPT   UINT32_MAX
#define GATE_NICE_KEPT   INT32_MIN

/* What the gate could not have as the caller has it. Not fatal: the launcher tells. */
#define GATE_UNAPPLIED_NICE   (1U << 0)
#define GATE_UNAPPLIED_RLIMIT (1U << 1)
#define GATE_UNAPPLIED_GROUPS (1U << 2)
#define GATE_UNAPPLIED_CPUS   (1U << 3) /* may run where the caller may not */
#define GATE_UNAPPLIED_POLICY (1U << 4)
#define GATE_UNAPPLIED_IO     (1U << 5)
#define GATE_SCHEDULE_PARTS   (GATE_UNAPPLIED_CPUS | GATE_UNAPPLIED_POLICY | GATE_UNAPPLIED_IO)

typedef struct {
        uint64_t soft, hard;
} GateRlimit;

typedef struct {
        int32_t policy, priority; /* sched_setscheduler(2) */
        int32_t io_priority;      /* ioprio_set(2) */
        uint32_t has_cpus;
        uint64_t cpus[GATE_CPU_WORDS]; /* bit n: CPU n */
} GateSchedule;

/* Addresses that no packet may reach from there: the filter of --net allow= shows itself by denying them. */
#define GATE_PROBES 2

typedef struct {
        uint32_t family; /* AF_INET, AF_INET6; 0: none to try */
        uint8_t address[16];
} GateProbe;

typedef enum {
        GATE_PROBE_NONE,
        GATE_PROBE_DENIED,
        GATE_PROBE_NO_WAY, /* no such family or no route: nothing is shown */
        GATE_PROBE_PASSED,
} GateProbeResult;

typedef struct {
        uint32_t version;
        uint32_t argc;
        uint32_t envc;
        uint32_t stdio_mask; /* bit n: descriptor n was sent */
        uint32_t umask;
        int32_t nice;
        uint32_t rlimit_mask; /* bit n: rlimits[n] is the caller's and nobody asked for another */
        uint32_t strings_size;
        uint32_t gid;
        uint32_t group_count; /* supplementary groups; GATE_GROUPS_KEPT: as the manager set them */
        uint32_t is_scoped;   /* signals shall stay inside */
        uint32_t schedule_parts; /* GATE_UNAPPLIED_…: those of the schedule that are the caller's */
        uint64_t signal_mask;
        uint64_t signal_ignored; /* bit n−1: signal n */
        uint64_t directory_dev, directory_ino;
        GateRlimit rlimits[GATE_RLIMITS];
        GateSchedule schedule;
        GateProbe probes[GATE_PROBES];
        uint32_t with_probes;   /* these, and what other families of sockets it can have */
        uint32_t uid;           /* to be, with gid and the groups; GATE_USER_KEPT */
        uint32_t with_terminal; /* descriptor 0 is one, and becomes that of the program's session */
        uint32_t step_count;    /* of its isolation, where no manager makes it */
        uint32_t permit_count;
        uint32_t has_permits; /* they will do where no namespace is to be had, even if there are none */
        uint32_t texts_size;
        uint32_t is_login; /* it gets its name as login(1) gives it to a shell: "-bash" */
        /* step_count Step and permit_count Step follow; then group_count gid_t; then strings_size bytes: directory,
         * argc arguments, envc variables, each with its NUL; then texts_size bytes, of the steps */
} GateRequest;

typedef enum {
        GATE_NS_MNT,
        GATE_NS_NET,
        GATE_NS_PID,
        GATE_NS_USER,
        GATE_NS_IPC,
        GATE_NS_UTS,
        GATE_NS_CGROUP,
        GATE_NS_TIME,
        _GATE_NS_MAX,
} GateNamespace;

/* Where a process is; 0: cannot be seen. */
typedef struct {
        uint64_t namespaces[_GATE_NS_MAX]; /* inodes of /proc/self/ns/… */
        uint64_t root_dev,
                root_ino; /* of "/", of which there can be several in one mount namespace */
} GateWorld;

#define GATE_HELLO   'H'
#define GATE_FAILURE 'F'
#define GATE_END     'E'

/* What keeps the program apart that the gate made itself. */
typedef enum {
        GATE_ENCLOSURE_NONE,
        GATE_ENCLOSURE_NAMESPACES,
        GATE_ENCLOSURE_LANDLOCK,
} GateEnclosure;

typedef struct {
        uint32_t type; /* GATE_HELLO */
        uint32_t unapplied;
        uint32_t is_scoped; /* signals do stay inside */
        uint32_t is_filtered; /* a call is forbidden that nobody else forbids; when is_scoped was asked */
        uint32_t probes[GATE_PROBES]; /* GateProbeResult */
        uint32_t has_packets; /* sockets of other families, or what makes them, are not forbidden */
        uint32_t enclosure;   /* GateEnclosure */
        GateRlimit rlimits[GATE_RLIMITS]; /* as the program will have them */
        GateWorld world;
} GateHello;

typedef enum {
        GATE_AT_REQUEST, /* the request could not be read */
        GATE_AT_DIRECTORY,
        GATE_AT_STDIO,
        GATE_AT_EXEC,
        GATE_AT_INIT,
        GATE_AT_USER,
        GATE_AT_ENCLOSURE,
        GATE_AT_TERMINAL,
} GateStage;

typedef struct {
        uint32_t type; /* GATE_FAILURE */
        uint32_t stage;
        int32_t error_number;
        uint32_t step; /* GATE_AT_ENCLOSURE: which, permits counted on */
        int32_t landlock_error; /* … where it could not stand in for namespaces that are not to be had; 0: not tried */
        uint32_t unused;
        GateWorld world; /* which may be why */
} GateFailure;

typedef struct {
        uint32_t type;  /* GATE_END */
        int32_t status; /* as waitpid(2) has it */
} GateEnd;

/* Descriptors in a hello: the pidfd, an end of the fresh pair, and one of the other, if any. */
#define GATE_HELLO_FDS 3

/* Ends of the gate that are not the program's. Nobody reads them but a person in `systemctl status`. */
#define GATE_EXIT_FAILED 125
