/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading /proc/self/mountinfo and /proc/self/cgroup together. Only what is mounted where systemd looks
 * for it counts, and only whole hierarchies: systemd puts /sys/fs/cgroup and the path from /proc
 * together, and where the mount shows just a part of the tree that is no path at all. */

#include "hierarchy.h"

#include <string.h>

#include "launcher/kernel/mount.h"
#include "launcher/manager/error.h"

#define HIERARCHY_TOP "/sys/fs/cgroup"

/* What systemd moves processes by in version 1. Others (freezer, cpuset …) it leaves alone, and so
 * do we: programs stay in their starter's group there. */
static const char *const hierarchy_used[] = {
        "name=systemd", "cpu", "cpuacct", "blkio", "memory", "devices", "pids",
};

static void hierarchy_free(void *data) {
        Hierarchy *hierarchy = data;

        g_free(hierarchy->controllers);
        g_free(hierarchy->mount);
        g_free(hierarchy->own);
        g_free(hierarchy);
}

void hierarchy_set_clear(HierarchySet *set) {
        g_clear_pointer(&set->all, g_ptr_array_unref);
}

bool hierarchy_is_tracking(const Hierarchy *hierarchy) {
        return g_str_equal(hierarchy->controllers, "") ||
               g_str_equal(hierarchy->controllers, "name=systemd");
}

char *hierarchy_directory(const Hierarchy *hierarchy, const char *path) {
        return g_strconcat(hierarchy->mount, g_str_equal(path, "/") ? "" : path, NULL);
}

/* Whether every word of `words` ("cpu,cpuacct") is among the mount's options. */
static bool hierarchy_options_match(const char *options, const char *words) {
        g_auto(GStrv) have = g_strsplit(options, ",", -1);
        g_auto(GStrv) want = g_strsplit(words, ",", -1);

        for (char **word = want; *word; word++)
                if (!g_strv_contains((const char *const *)have, *word))
                        return false;
        return true;
}

static bool hierarchy_words_used(const char *words) {
        g_auto(GStrv) have = g_strsplit(words, ",", -1);

        for (size_t i = 0; i < G_N_ELEMENTS(hierarchy_used); i++)
                if (g_strv_contains((const char *const *)have, hierarchy_used[i]))
                        return true;
        return false;
}

typedef struct {
        const char *mount, *root, *options;
        bool unified;
} HierarchyMount;

/* "36 35 98:0 ROOT MOUNT options [tags…] - cgroup2 source superoptions". Later mounts win: they cover
 * the earlier ones. */
static bool hierarchy_find_mount(char **lines, const char *words, HierarchyMount *ret_mount,
                                 GStrv *ret_fields) {
        bool found = false;

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) f = g_strsplit(*line, " ", -1);
                guint n = g_strv_length(f), dash = 6;

                while (dash < n && !g_str_equal(f[dash], "-"))
                        dash++;
                if (dash + 3 >= n || !g_str_has_prefix(f[dash + 1], "cgroup") ||
                    !g_str_has_prefix(f[4], HIERARCHY_TOP))
                        continue;

                if (*words ? !g_str_equal(f[dash + 1], "cgroup") ||
                                     !hierarchy_options_match(f[dash + 3], words)
                           : !g_str_equal(f[dash + 1], "cgroup2"))
                        continue;
                if (!mount_is_seen(f[4], f[2]))
                        continue;

                g_strfreev(*ret_fields);
                *ret_mount = (HierarchyMount){
                        .mount = f[4],
                        .root = f[3],
                        .options = f[dash + 3],
                        .unified = g_str_equal(f[4], HIERARCHY_TOP),
                };
                *ret_fields = g_steal_pointer(&f);
                found = true;
        }
        return found;
}

/* One line of /proc/self/cgroup: "4:memory:/path". */
static bool hierarchy_set_add(HierarchySet *set, char **mounts, const char *line, GError **error) {
        g_auto(GStrv) parts = g_strsplit(line, ":", 3);
        g_auto(GStrv) fields = NULL;
        HierarchyMount mount = { 0 };
        Hierarchy *hierarchy;

        if (g_strv_length(parts) != 3 || (*parts[1] && !hierarchy_words_used(parts[1])) ||
            !hierarchy_find_mount(mounts, parts[1], &mount, &fields))
                return true;

        if (!g_str_equal(mount.root, "/") || g_str_has_prefix(parts[2], "/..")) {
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                            "%s shows only a part of the cgroup tree: start the container with a "
                            "cgroup namespace of its own (--cgroupns=private)",
                            mount.mount);
                return false;
        }

        hierarchy = g_new0(Hierarchy, 1);
        hierarchy->controllers = g_strdup(parts[1]);
        hierarchy->mount = g_strdup(mount.mount);
        hierarchy->own = g_strdup(parts[2]);
        g_ptr_array_add(set->all, hierarchy);
        set->unified = set->unified || (!*parts[1] && mount.unified);
        return true;
}

static bool hierarchy_set_is_usable(const HierarchySet *set) {
        for (guint i = 0; i < set->all->len; i++) {
                const Hierarchy *hierarchy = set->all->pdata[i];

                if (set->unified || g_str_equal(hierarchy->controllers, "name=systemd"))
                        return true;
        }
        return false;
}

bool hierarchy_set_read(HierarchySet *ret_set, GError **error) {
        g_auto(HierarchySet) set = { .all = g_ptr_array_new_with_free_func(hierarchy_free) };
        g_autofree char *mounts = NULL, *cgroups = NULL;
        g_auto(GStrv) mount_lines = NULL, cgroup_lines = NULL;

        if (!g_file_get_contents("/proc/self/mountinfo", &mounts, NULL, error) ||
            !g_file_get_contents("/proc/self/cgroup", &cgroups, NULL, error))
                return false;

        mount_lines = g_strsplit(mounts, "\n", -1);
        cgroup_lines = g_strsplit(cgroups, "\n", -1);
        for (char **line = cgroup_lines; *line; line++)
                if (!hierarchy_set_add(&set, mount_lines, *line, error))
                        return false;

        if (!hierarchy_set_is_usable(&set)) {
                g_set_error_literal(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                                    "no cgroups for systemd: mount cgroup2 on " HIERARCHY_TOP
                                    " (a container needs it writable)");
                return false;
        }

        *ret_set = set;
        set = HIERARCHY_SET_INIT;
        return true;
}
