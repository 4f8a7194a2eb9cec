/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The cgroup hierarchies of this machine that systemd would use, and where this process is in each. */

#include <glib.h>
#include <stdbool.h>

typedef struct {
        char *controllers; /* as mounted: "memory", "cpu,cpuacct", "name=systemd"; "" for version 2 */
        char *mount;       /* where it is mounted */
        char *own;         /* our path in it, "/" at the top */
} Hierarchy;

typedef struct {
        GPtrArray *all; /* Hierarchy */
        bool unified;   /* version 2 alone, at /sys/fs/cgroup */
} HierarchySet;

#define HIERARCHY_SET_INIT ((HierarchySet){ 0 })

bool hierarchy_set_read(HierarchySet *ret_set, GError **error);
void hierarchy_set_clear(HierarchySet *set);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HierarchySet, hierarchy_set_clear)

/* Whether the manager itself lives in it; in the others only what it limits does. */
bool hierarchy_is_tracking(const Hierarchy *hierarchy);

/* The directory of `path` in this hierarchy. */
char *hierarchy_directory(const Hierarchy *hierarchy, const char *path);
