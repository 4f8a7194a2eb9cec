/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* cgroup version 2 wants a group whose children have controllers to be without processes. So the
 * processes that are in it, all of them ours, move into a leaf of their own (`cordon-caller`), and back
 * when the last private manager below that group has gone. */

#include <glib.h>
#include <stdbool.h>

/* Where the processes are that were in the group: the keeper's leaf in a scope, else that of the callers. */
char *shelter_leaf(const char *inner, bool is_scope);

/* The same for a scope that is ours alone: nobody but the keeper is in it. */
bool shelter_take_scope(const char *scope, GError **error);

/* The lock returned keeps others from undoing it before a group of ours stands below. */
bool shelter_take(const char *inner, int *ret_lock, GError **error);
void shelter_return(const char *inner);
