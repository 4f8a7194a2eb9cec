/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the private manager's cgroups go. Always below what the caller is limited by: below its own
 * group in every hierarchy, or in a scope that the machine's manager delegates. The hard thing in
 * version 1 is that systemd uses one path for all hierarchies while the caller may be elsewhere in
 * each; in version 2, that a group with processes in it can have no children with controllers
 * (shelter.c). */

#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../manager/error.h"
#include "../manager/fd.h"
#include "../manager/identity.h"
#include "cgroup.h"
#include "hierarchy.h"
#include "shelter.h"

/* Processes that were killed may take a moment to end; one that cannot end must not hold us forever. */
#define GROUND_CLEAR_USEC (10 * G_USEC_PER_SEC)

struct Ground {
        GPtrArray *trees;    /* ours, one in every hierarchy */
        GPtrArray *parents;  /* made on the way to them, outside in */
        GPtrArray *entrance; /* cgroup.procs files that the manager writes itself into */
        char *inner;         /* version 2: the group above ours */
        bool is_legacy;
};

void ground_free(Ground *ground) {
        if (!ground)
                return;

        g_ptr_array_unref(ground->trees);
        g_ptr_array_unref(ground->parents);
        g_ptr_array_unref(ground->entrance);
        g_free(ground->inner);
        g_free(ground);
}

bool ground_is_legacy(const Ground *ground) {
        return ground->is_legacy;
}

static Ground *ground_new(void) {
        Ground *ground = g_new0(Ground, 1);

        ground->trees = g_ptr_array_new_with_free_func(g_free);
        ground->parents = g_ptr_array_new_with_free_func(g_free);
        ground->entrance = g_ptr_array_new_with_free_func(g_free);
        return ground;
}

static void ground_add_tree(Ground *ground, char *directory, bool is_tracking) {
        g_ptr_array_add(ground->trees, directory);
        if (is_tracking)
                g_ptr_array_add(ground->entrance,
                                g_build_filename(directory, "cgroup.procs", NULL));
}

static bool path_is_below(const char *path, const char *above) {
        size_t n = strlen(above);

        return g_str_equal(above, "/") ||
               (g_str_has_prefix(path, above) && (path[n] == '/' || path[n] == '\0'));
}

/* As a normal user only the two that follow processes can be ours; nothing is limited in the others. */
static bool ground_counts(const Hierarchy *hierarchy) {
        return geteuid() == 0 || hierarchy_is_tracking(hierarchy);
}

/* The longest of our paths, when all others lie on the way to it. */
static const char *ground_common_path(const HierarchySet *set, GError **error) {
        const Hierarchy *deepest = NULL;

        for (guint i = 0; i < set->all->len; i++) {
                const Hierarchy *h = set->all->pdata[i];

                if (ground_counts(h) && (!deepest || strlen(h->own) > strlen(deepest->own)))
                        deepest = h;
        }

        for (guint i = 0; i < set->all->len; i++) {
                const Hierarchy *h = set->all->pdata[i];

                if (!ground_counts(h) || path_is_below(deepest->own, h->own))
                        continue;
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                            "this process is in %s of %s but in %s of %s: no cgroup is below both; "
                            "start from one group in all hierarchies",
                            h->own, h->mount, deepest->own, deepest->mount);
                return NULL;
        }
        return deepest->own;
}

/* The groups between where we are in this hierarchy and where the common path ends. */
static void ground_add_parents(Ground *ground, const Hierarchy *hierarchy, const char *path) {
        const char *rest = path + (g_str_equal(hierarchy->own, "/") ? 0 : strlen(hierarchy->own));
        g_auto(GStrv) names = g_strsplit(rest, "/", -1);
        g_autofree char *at = hierarchy_directory(hierarchy, hierarchy->own);

        for (char **name = names; *name; name++)
                if (**name) {
                        g_autofree char *above = g_steal_pointer(&at);

                        at = g_build_filename(above, *name, NULL);
                        g_ptr_array_add(ground->parents, g_strdup(at));
                }
}

static bool ground_plan_legacy(Ground *ground, const HierarchySet *set, const char *name,
                               GError **error) {
        const char *path = ground_common_path(set, error);
        g_autofree char *own = NULL;

        if (!path)
                return false;

        own = g_build_filename(path, name, NULL);
        for (guint i = 0; i < set->all->len; i++) {
                const Hierarchy *h = set->all->pdata[i];

                if (!ground_counts(h))
                        continue;
                ground_add_parents(ground, h, path);
                ground_add_tree(ground, hierarchy_directory(h, own), hierarchy_is_tracking(h));
        }
        ground->is_legacy = true;
        return true;
}

static void ground_plan_unified(Ground *ground, const HierarchySet *set, const char *name) {
        const Hierarchy *h = set->all->pdata[0];
        g_autofree char *own = hierarchy_directory(h, h->own);

        if (g_str_has_suffix(own, "/" IDENTITY_CALLER_GROUP))
                own[strlen(own) - strlen("/" IDENTITY_CALLER_GROUP)] = '\0';

        ground->inner = g_steal_pointer(&own);
        ground_add_tree(ground, g_build_filename(ground->inner, name, NULL), true);
}

static bool ground_write_record(const Ground *ground, const char *record_path, GError **error) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < ground->trees->len; i++)
                g_string_append_printf(text, "tree %s\n", (char *)ground->trees->pdata[i]);
        for (guint i = 0; i < ground->parents->len; i++)
                g_string_append_printf(text, "parent %s\n", (char *)ground->parents->pdata[i]);
        if (ground->inner)
                g_string_append_printf(text, "inner %s\n", ground->inner);

        return g_file_set_contents_full(record_path, text->str, (gssize)text->len,
                                        G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
}

static void ground_set_error(GError **error, const char *path, int code) {
        const char *remedy = geteuid() == 0
                                     ? "mount it writable (a container: run it with its own "
                                       "writable cgroup namespace)"
                                     : "a normal user needs a delegated cgroup (Delegate=yes "
                                       "of its unit, or chown of an empty group)";

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                    "no cgroup for the private manager: cannot make %s: %s: %s", path,
                    g_strerror(code),
                    code == EROFS || code == EACCES || code == EPERM ? remedy
                                                                     : "see its parent's limits");
}

/* The same name can only be left over from a manager of ours whose directory was removed. */
static bool ground_make_tree(const char *path) {
        if (mkdir(path, 0755) >= 0)
                return true;
        if (errno != EEXIST)
                return false;
        return cgroup_destroy(path, g_get_monotonic_time() + GROUND_CLEAR_USEC) &&
               mkdir(path, 0755) >= 0;
}

static bool ground_make_groups(const Ground *ground, GError **error) {
        for (guint i = 0; i < ground->parents->len; i++)
                if (!cgroup_make_marked(ground->parents->pdata[i])) {
                        ground_set_error(error, ground->parents->pdata[i], errno);
                        return false;
                }

        for (guint i = 0; i < ground->trees->len; i++)
                if (!ground_make_tree(ground->trees->pdata[i])) {
                        ground_set_error(error, ground->trees->pdata[i], errno);
                        return false;
                }
        return true;
}

bool ground_make(const char *name, const char *record_path, Ground **ret_ground, GError **error) {
        g_autoptr(Ground) ground = ground_new();
        g_auto(HierarchySet) set = HIERARCHY_SET_INIT;
        AUTO_CLOSE int lock = -1;

        if (!hierarchy_set_read(&set, error))
                return false;

        if (set.unified)
                ground_plan_unified(ground, &set, name);
        else if (!ground_plan_legacy(ground, &set, name, error))
                return false;

        if (!ground_write_record(ground, record_path, error))
                return false;
        if (ground->inner && !shelter_take(ground->inner, &lock, error))
                return false;
        if (!ground_make_groups(ground, error))
                return false;

        *ret_ground = g_steal_pointer(&ground);
        return true;
}

bool ground_enter(const Ground *ground) {
        for (guint i = 0; i < ground->entrance->len; i++) {
                int fd = open(ground->entrance->pdata[i], O_WRONLY | O_CLOEXEC);

                if (fd < 0 || write(fd, "0", 1) < 0)
                        return false;
                (void)close(fd);
        }
        return true;
}

static const char *record_value(const char *line, const char *key) {
        size_t n = strlen(key);

        return g_str_has_prefix(line, key) && line[n] == ' ' ? line + n + 1 : NULL;
}

bool ground_clear(const char *record_path, GError **error) {
        gint64 deadline = g_get_monotonic_time() + GROUND_CLEAR_USEC;
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(record_path, &text, NULL, NULL))
                return true;

        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                const char *tree = record_value(*line, "tree");

                if (tree && !cgroup_destroy(tree, deadline)) {
                        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                                    "cannot clear the cgroup %s of an earlier private manager: %s: "
                                    "see who is in it",
                                    tree, g_strerror(errno));
                        return false;
                }
        }

        /* Inside out. */
        for (guint i = g_strv_length(lines); i > 0; i--) {
                const char *parent = record_value(lines[i - 1], "parent");
                const char *inner = record_value(lines[i - 1], "inner");

                if (parent)
                        cgroup_remove_marked(parent);
                if (inner)
                        shelter_return(inner);
        }

        (void)unlink(record_path);
        return true;
}
