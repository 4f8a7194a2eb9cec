/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The ground on which a private manager stands: its cgroups. What is made is written down in a record
 * before it is made, so that whoever comes after a kill knows what to remove. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Ground Ground;

/* Makes it below the cgroup of the calling process, or in a scope of the machine's manager. `name` is
 * that of the manager's group, `runtime_dir` tells a normal user's session. */
bool ground_make(const char *name, const char *runtime_dir, const char *record_path,
                 Ground **ret_ground, GError **error);

/* Moves the calling process in. Safe between fork and exec. */
bool ground_enter(const Ground *ground);

/* The calling process moves into a leaf beside the manager's own groups, so that whoever ends all that is
 * where the keeper was started does not end it; and, having killed what else is there, back out. */
void ground_take_leaf(const Ground *ground, const char *leaf);
void ground_leave(const Ground *ground);

/* Whether version 1 is part of it, which systemd 258 and later do not know. */
bool ground_is_legacy(const Ground *ground);

/* Whether it is in a scope of its own, whose name no other manager uses. */
bool ground_is_scope(const Ground *ground);

void ground_free(Ground *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ground, ground_free)

/* Ends and removes everything that the record names, then the record. */
bool ground_clear(const char *record_path, GError **error);

/* The same for the record of somebody else, who may have seen other cgroups under the same names than we
 * do: then nothing is touched. */
bool ground_sweep(const char *record_path, int64_t deadline_usec);

/* The same for one whose record was removed by somebody else. */
void ground_remove(const Ground *ground);
