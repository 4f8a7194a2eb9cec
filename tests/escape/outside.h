/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lies outside a run: its manager, the groups that the manager is in, sockets and directories of the machine. */

#include <glib.h>
#include <stdbool.h>

/* "manager": its number; "manager-mounts": its mount namespace; "manager-groups": its control groups, as directories;
 * "manager-sockets", "manager-directory", "cordon-sockets". */
void outside_know_manager(void);

/* A process of the suite's that has moved into one of the manager's groups. */
bool outside_has_joined(void);
/* The value of a file in any of the slice's groups; NULL: in none. */
char *outside_slice_value(const char *slice, const char *file);
/* Something is mounted there, where the manager is. */
bool outside_is_mounted(const char *path);
void outside_unmount(const char *path);
