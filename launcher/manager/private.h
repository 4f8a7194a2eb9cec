/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The private manager as a launcher sees it: a runtime directory with the manager's socket in it, and a
 * connection that says "somebody is using it". It does not talk to the manager, and does not know how
 * it is made: that is cordon-keeper's. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/kernel/caller.h"

#define PRIVATE_IDLE_DEFAULT_USEC (60 * UINT64_C(1000000))

typedef struct {
        const char *keeper_path; /* the cordon-keeper program; borrowed; NULL: ours */
        const Caller *caller;   /* whose it is, with its namespaces; borrowed; NULL: not read yet */
        uint64_t idle_usec;     /* how long it stays when nobody uses it */
        uint64_t patience_usec; /* for somebody else who is starting it; 0: a minute */
} PrivateSettings;

/* $CORDON_PRIVATE_IDLE (a duration, "500ms") has the last word about idle_usec: that is for tests. */
#define PRIVATE_SETTINGS_DEFAULT ((PrivateSettings){ .idle_usec = PRIVATE_IDLE_DEFAULT_USEC })

/* The socket of one that runs for this caller. NULL: there is none, and none is started. */
char *private_manager_socket(void);

/* Makes sure that the private manager of this caller (user, namespaces, cgroup) runs; starts it where
 * it does not. Its socket is `systemd/private` below the directory returned. It does not leave for
 * idleness while *ret_hold_fd (close-on-exec) is open anywhere; end of file on it means that the keeper
 * ended, and with it the manager. Errors are of MANAGER_ERROR, one line with what would help. */
bool private_manager_ensure(const PrivateSettings *settings, char **ret_runtime_dir,
                            int *ret_hold_fd, GError **error) G_GNUC_WARN_UNUSED_RESULT;
