/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The caller's world: what a child of ours would inherit and a child of the manager does not. Read before anything of
 * it is changed by ourselves (we block signals, for one). */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "launcher/gate/protocol.h"

typedef struct {
        char *status; /* the text of /proc/self/status, first of all; NULL: it is not to be had */
        char *directory; /* absolute */
        dev_t directory_dev;
        ino_t directory_ino;
        gid_t gid;
        gid_t *groups; /* supplementary, as the kernel orders them */
        uint32_t group_count;
        mode_t umask;
        int nice;
        uint64_t signal_mask, signal_ignored; /* bit n−1: signal n */
        struct rlimit rlimits[GATE_RLIMITS];
        GateSchedule schedule;
        GateWorld world; /* of a child */
} Caller;

/* All but directory and namespaces, which take their time and may not be to be had. */
void caller_read(Caller *caller);
/* directory NULL: the working directory. It is read once, the namespaces too, or both together. */
bool caller_read_directory(Caller *caller, const char *directory,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool caller_read_namespaces(Caller *caller, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool caller_read_place(Caller *caller, const char *directory,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* As it was read so far; nothing is shared. */
void caller_copy(const Caller *from, Caller *to);
void caller_clear(Caller *caller);

/* Behind KEY ("\nCapEff:\t") in the text of a status file. NULL: it has none. */
const char *caller_find_status(const char *status, const char *key);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Caller, caller_clear)

/* May we mount? Then isolation of a child needs no namespace of users. */
bool caller_is_privileged(void);

/* The environment for the program: the caller's, less what describes the caller's own unit. */
char **caller_environment(char *const *environment);

/* "UID:PID:STARTTIME" of a process: enough to know later whether it still is the same one, and whose. NULL: it
 * is dead, whether or not somebody has waited for it. */
char *caller_process_identity(pid_t pid);
bool caller_parse_identity(const char *identity, uid_t *ret_uid, pid_t *ret_pid);
