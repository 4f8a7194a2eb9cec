/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A place in the machine's own cgroup tree for a process that makes cgroups itself: a scope with
 * Delegate=yes, taken from the manager that owns the tree. */

#include <glib.h>
#include <stdbool.h>

/* Moves us into a new scope `unit` of the manager at `socket_path`, and returns when that has been done. The scope
 * ends with its last process. */
bool delegate_scope(const char *socket_path, const char *unit, const char *description,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
