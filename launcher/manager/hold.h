/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The launcher's end of the connection to cordon-keeper. The keeper says one thing on it, once:
 * "ready", or "error CODE MESSAGE"; being open is all that it means afterwards. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define HOLD_SOCKET      "keeper"
#define HOLD_READY       "ready"
#define HOLD_ERROR       "error "
#define HOLD_MESSAGE_MAX 4096

typedef enum {
        HOLD_READY_SAID, /* the manager is there, and stays while we hold the connection */
        HOLD_NOBODY,     /* nobody listens, or they left before they answered */
        HOLD_SILENT,     /* connected, no answer in time */
        HOLD_FAILED,     /* the keeper said why not: error is set */
} HoldAnswer;

/* −1 where nobody listens below the directory. */
int hold_connect(int dir_fd);

HoldAnswer hold_wait(int fd, uint64_t timeout_usec, GError **error);
