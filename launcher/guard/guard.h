/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The guard: one small service a manager and user, that holds a connection to every launcher and ends the sandbox of
 * one that vanished. It keeps nothing on disk: what it must know after it was killed itself, it reads from the manager. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

typedef struct Guard Guard;

typedef struct {
        const char *manager_socket; /* of the manager that runs us */
        const char *socket_path;    /* where launchers find us; removed when we go */
        uid_t uid;                  /* whose launchers */
        int listen_fd;
        int first_fd; /* a launcher's connection that came with the start; −1 */
} GuardSettings;

Guard *guard_new(sd_event *event, const GuardSettings *settings,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
void guard_free(Guard *guard);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Guard, guard_free)
