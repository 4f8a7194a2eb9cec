/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spec → properties of the slice (limits of the tree) and of the unit inside it (the program). Pure: the same spec
 * gives the same lists on every manager; what a manager cannot carry is found by reading back, never guessed here. */

#include <stdbool.h>

#include "property.h"
#include "spec.h"

/* What is not part of the request but of this launch. */
typedef struct {
        const char *gate_path; /* the program that starts inside the unit */
        const char *owner;    /* who launched it ("PID:STARTTIME"), an argument of the gate: tells a
                            * sweep an orphan */
        bool has_stand_ins;   /* where cpuset is not to be had, affinity is better than nothing */
        bool is_unprivileged; /* the manager makes namespaces only in one of users */
        bool is_booted;       /* it is the system's or a user's */
        bool is_system;       /* it is the system manager */
        unsigned systemd_major;  /* 0: unknown */
        const char *empty_root;  /* to be / with --fs strict; NULL: a tmpfs will do */
        bool without_isolation;  /* it cannot be had: --best-effort */
        bool counts_network;     /* somebody reads its bytes */
        bool without_accounting; /* of the unit, which has its slice's: memory is of version 1 */
        int nice;     /* the caller's: a program that is not trusted cannot set it itself */
        int gate_pid; /* of a scope: the gate, as the manager numbers processes */
        int gate_fd;  /* the unit's end of the gate's socket; becomes the gate's standard input */
} ComposeContext;

void compose(const Spec *spec, const ComposeContext *context, PropertyList **ret_slice,
             PropertyList **ret_unit);

/* The counters of cgroups, for whatever stands beside or above a run, too. A manager gives all units of a family the
 * controllers that one of them needs, and takes them away with the last: without it each run would have it move its
 * neighbours between cgroups, twice. */
void compose_accounting(PropertyList *list);

/* A slice around others, that the manager takes away with the last of them. */
PropertyList *compose_around(const char *description);

/* The slice of the spec's pool: one like that, with the limits of all its runs. */
PropertyList *compose_pool(const Spec *spec);

/* May -p set it? Refuses what makes the sandbox one (Slice, Type, KillMode, …) and what has an option of its own. */
bool compose_check_extra(const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;
