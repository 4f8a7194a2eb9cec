/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Starting cordon-keeper so that nothing of the starter stays with it: own session, no parent, empty
 * environment, no descriptor but the two it is given. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Descriptors in the keeper. */
#define SPAWN_HOLD_FD 3 /* its first connection */
#define SPAWN_DIR_FD  4 /* the runtime directory, with the lock that means "being started" */

/* Gives the lock on `dir_fd` away: the caller's own share of it is dropped when its descriptor is
 * closed, the keeper's remains. */
bool spawn_keeper(const char *keeper_path, const char *runtime_dir, int dir_fd, uint64_t idle_usec,
                  int *ret_hold_fd, GError **error) G_GNUC_WARN_UNUSED_RESULT;
