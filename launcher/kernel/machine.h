/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What of this machine limits and isolation rest upon, whichever manager is asked: read from the kernel, or tried where
 * a look is no proof. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/kernel/cgroup.h"

typedef enum {
        ANSWER_UNKNOWN,
        ANSWER_NO,
        ANSWER_YES,
} Answer;

typedef struct {
        char *kernel;     /* its release; NULL: unknown, as everywhere here */
        Answer is_booted; /* with systemd */
        CgroupControllers controllers;
        int landlock_abi;           /* 0: there is none; −1: unknown */
        Answer has_user_namespaces; /* tried, as ourselves */
        char *user_namespace_remedy;
        Answer apparmor_restricts; /* user namespaces */
        char *selinux;             /* "enforcing", "permissive" */
        Answer selinux_knows;      /* user namespaces: a policy may have rules for them */
        uint64_t swap_bytes;       /* UINT64_MAX: unknown */
        Answer has_psi, has_tmpfs;
        Answer is_lingering; /* our user, where a user manager can be */
} Machine;

#define MACHINE_INIT \
        { .landlock_abi = -1, .swap_bytes = UINT64_MAX }

void machine_read(Machine *ret_machine);
void machine_clear(Machine *machine);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Machine, machine_clear)

/* "v2", "v1" or "mixed"; NULL: no control groups. */
const char *machine_cgroup_word(const Machine *machine);
