/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The systemd user manager as a child process: its units, its environment, its start, what it
 * complains about. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ground.h"

typedef struct {
        pid_t pid;
        int process_fd;  /* readable when it has ended */
        int notify_fd;   /* it says READY=1 here */
        int log_fd;      /* what it would tell the journal; −1 where there is a real one */
        char *complaint; /* the last of that */
        bool log_is_dry;
} Manager;

#define MANAGER_INIT ((Manager){ .pid = -1, .process_fd = -1, .notify_fd = -1, .log_fd = -1 })

/* Takes `log_fd`, also when it fails. */
bool manager_start(const char *runtime_dir, const Ground *ground, int log_fd, Manager *ret_manager,
                   GError **error);

/* Until it is ready, ended (error), or `interrupt_fd` is readable (error). */
bool manager_wait_ready(Manager *manager, int interrupt_fd, GError **error);

/* Reads one of its messages; the last is kept. */
void manager_read_log(Manager *manager);

/* Asks it to end and waits; then does not ask. */
void manager_stop(Manager *manager, int64_t grace_usec);

void manager_clear(Manager *manager);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Manager, manager_clear)
