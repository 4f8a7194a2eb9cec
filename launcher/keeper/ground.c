/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the private manager's cgroups go. Always below what the caller is limited by: below its own
 * group in every hierarchy, or in a scope that the machine's manager delegates. The hard thing in
 * version 1 is that systemd uses one path for all hierarchies while the caller may be elsewhere in
 * each; in version 2, that a group with processes in it can have no children with controllers
 * (shelter.c). */

#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "dbus/delegate.h"
#include "hierarchy.h"
#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "launcher/manager/identity.h"
#include "shelter.h"

/* Processes that were killed may take a moment to end; one that cannot end must not hold us forever. */
#define GROUND_CLEAR_USEC   (10 * G_USEC_PER_SEC)
/* The machine's manager hears at once that a scope is empty. */
#define GROUND_SCOPE_USEC   (1 * G_USEC_PER_SEC)
#define GROUND_ATTEMPTS_MAX 64

struct Ground {
        GPtrArray *trees;    /* ours, one in every hierarchy */
        GPtrArray *parents;  /* made on the way to them, outside in */
        GPtrArray *views;    /* mount points of the hierarchies, as "DEVICE:INODE PATH" */
        GPtrArray *entrance; /* cgroup.procs files that the manager writes itself into */
        char *inner;         /* version 2: the group above ours */
        char *record;        /* all that, as text */
        bool is_scope;       /* `inner` is one of the machine's manager, and not the caller's */
        bool is_legacy;
};

void ground_free(Ground *ground) {
        if (!ground)
                return;

        g_ptr_array_unref(ground->trees);
        g_ptr_array_unref(ground->parents);
        g_ptr_array_unref(ground->views);
        g_ptr_array_unref(ground->entrance);
        g_free(ground->inner);
        g_free(ground->record);
        g_free(ground);
}

bool ground_is_legacy(const Ground *ground) {
        return ground->is_legacy;
}

bool ground_is_scope(const Ground *ground) {
        return ground->is_scope;
}

static Ground *ground_new(void) {
        Ground *ground = g_new0(Ground, 1);

        ground->trees = g_ptr_array_new_with_free_func(g_free);
        ground->parents = g_ptr_array_new_with_free_func(g_free);
        ground->views = g_ptr_array_new_with_free_func(g_free);
        ground->entrance = g_ptr_array_new_with_free_func(g_free);
        return ground;
}

/* Two name spaces, of mounts or of cgroups, can have different groups under one name. */
static char *ground_view(const char *mount) {
        struct stat st;

        if (stat(mount, &st) < 0)
                return NULL;
        return g_strdup_printf("%ju:%ju %s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, mount);
}

static void ground_add_view(Ground *ground, const Hierarchy *hierarchy) {
        char *view = ground_view(hierarchy->mount);

        if (view)
                g_ptr_array_add(ground->views, view);
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
                ground_add_view(ground, h);
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

        ground_add_view(ground, h);
        ground->inner = g_steal_pointer(&own);
        ground_add_tree(ground, g_build_filename(ground->inner, name, NULL), true);
}

static bool ground_write_record(Ground *ground, const char *record_path, GError **error) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < ground->views->len; i++)
                g_string_append_printf(text, "view %s\n", (char *)ground->views->pdata[i]);
        for (guint i = 0; i < ground->trees->len; i++)
                g_string_append_printf(text, "tree %s\n", (char *)ground->trees->pdata[i]);
        for (guint i = 0; i < ground->parents->len; i++)
                g_string_append_printf(text, "parent %s\n", (char *)ground->parents->pdata[i]);
        if (ground->inner)
                g_string_append_printf(text, "%s %s\n", ground->is_scope ? "scope" : "inner",
                                       ground->inner);

        ground->record = g_string_free(text, FALSE);
        return g_file_set_contents_full(record_path, ground->record, -1,
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

/* ENOENT: another manager that ended has just removed a common parent. */
static const char *ground_make_groups(const Ground *ground) {
        for (guint i = 0; i < ground->parents->len; i++)
                if (!cgroup_make_marked(ground->parents->pdata[i]))
                        return ground->parents->pdata[i];

        for (guint i = 0; i < ground->trees->len; i++)
                if (!ground_make_tree(ground->trees->pdata[i]))
                        return ground->trees->pdata[i];
        return NULL;
}

static bool ground_make_all(const Ground *ground, GError **error) {
        const char *failed = NULL;

        for (int i = 0; i < GROUND_ATTEMPTS_MAX; i++) {
                failed = ground_make_groups(ground);
                if (!failed || errno != ENOENT)
                        break;
        }
        if (failed)
                ground_set_error(error, failed, errno);
        return !failed;
}

/* Root's is the machine's, a user's is beside the runtime directory. */
static bool ground_take_scope(const char *name, const char *runtime_dir, GError **error) {
        g_autofree char *base = g_path_get_dirname(runtime_dir);
        g_autofree char *session = g_path_get_dirname(base);
        g_autofree char *socket_path = geteuid() == 0
                                               ? g_strdup("/run/systemd/private")
                                               : g_build_filename(session, "systemd/private", NULL);
        g_autofree char *unit = g_strdup_printf("%s-%d.scope", name, (int)getpid());
        g_autoptr(GError) reason = NULL;

        if (delegate_scope(socket_path, unit, "cordon private manager", &reason))
                return true;

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                    "no cgroup for the private manager: %s: %s", reason->message,
                    geteuid() == 0 ? "is systemd still running here?"
                                   : "a user manager has to give it one: log in, or loginctl "
                                     "enable-linger, and set XDG_RUNTIME_DIR");
        return false;
}

static bool ground_plan(Ground *ground, const char *name, GError **error) {
        g_auto(HierarchySet) set = HIERARCHY_SET_INIT;

        if (!hierarchy_set_read(&set, error))
                return false;
        if (!set.unified)
                return ground_plan_legacy(ground, &set, name, error);

        ground_plan_unified(ground, &set, name);
        return true;
}

bool ground_make(const char *name, const char *runtime_dir, const char *record_path,
                 Ground **ret_ground, GError **error) {
        g_autoptr(Ground) ground = ground_new();
        AUTO_CLOSE int lock = -1;

        ground->is_scope = identity_is_booted();
        if ((ground->is_scope && !ground_take_scope(name, runtime_dir, error)) ||
            !ground_plan(ground, name, error) || !ground_write_record(ground, record_path, error))
                return false;

        if (ground->inner && !(ground->is_scope ? shelter_take_scope(ground->inner, error)
                                                : shelter_take(ground->inner, &lock, error)))
                return false;

        if (!ground_make_all(ground, error))
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

void ground_take_leaf(const Ground *ground, const char *leaf) {
        for (guint i = 0; i < ground->trees->len; i++) {
                g_autofree char *path = g_build_filename(ground->trees->pdata[i], leaf, NULL);

                (void)mkdir(path, 0755);
                (void)cgroup_attach(path, 0);
        }
}

/* The nearest group above ours that nobody is about to remove. Version 2 has a leaf for processes there. */
static char *ground_outside(const Ground *ground, const char *tree) {
        g_autofree char *outside = g_path_get_dirname(tree);
        g_autofree char *leaf = NULL;

        while (g_ptr_array_find_with_equal_func(ground->parents, outside, g_str_equal, NULL)) {
                g_autofree char *inside = g_steal_pointer(&outside);

                outside = g_path_get_dirname(inside);
        }

        leaf = shelter_leaf(outside, ground->is_scope);
        return ground->inner && access(leaf, F_OK) >= 0 ? g_steal_pointer(&leaf)
                                                        : g_steal_pointer(&outside);
}

void ground_leave(const Ground *ground) {
        for (guint i = 0; i < ground->trees->len; i++)
                cgroup_kill_others(ground->trees->pdata[i]);

        for (guint i = 0; i < ground->trees->len; i++) {
                g_autofree char *outside = ground_outside(ground, ground->trees->pdata[i]);

                (void)cgroup_attach(outside, 0);
        }
}

static const char *record_value(const char *line, const char *key) {
        size_t n = strlen(key);

        return g_str_has_prefix(line, key) && line[n] == ' ' ? line + n + 1 : NULL;
}

static const char *record_find(char **lines, const char *key) {
        const char *value = NULL;

        for (char **line = lines; !value && *line; line++)
                value = record_value(*line, key);
        return value;
}

/* An empty scope is removed by the machine's manager, with all that is in it; one that meets somebody else who removes
 * something there leaves the rest for ever. So it goes first, unless we are in the scope ourselves. */
static void ground_let_scope_go(const char *scope, const char *tree, int64_t deadline_usec) {
        gint64 patience = g_get_monotonic_time() + GROUND_SCOPE_USEC;
        gint64 until = MIN(deadline_usec, patience);

        cgroup_kill_all(tree);
        while (cgroup_is_populated(tree) && g_get_monotonic_time() < until)
                (void)poll(NULL, 0, 1);
        while (access(scope, F_OK) >= 0 && !cgroup_is_populated(scope) &&
               g_get_monotonic_time() < until)
                (void)poll(NULL, 0, 1);
}

static const char *ground_clear_trees(char **lines, int64_t deadline_usec) {
        const char *scope = record_find(lines, "scope"), *inside = record_find(lines, "tree");
        const char *failed = NULL;

        if (scope && inside)
                ground_let_scope_go(scope, inside, deadline_usec);

        for (char **line = lines; *line; line++) {
                const char *tree = record_value(*line, "tree");

                if (tree && !cgroup_destroy(tree, deadline_usec))
                        failed = tree;
        }
        return failed;
}

/* Returns the group that cannot be removed, and why in errno. */
static char *ground_clear_text(const char *text, int64_t deadline_usec) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        const char *failed = ground_clear_trees(lines, deadline_usec);

        if (failed)
                return g_strdup(failed);

        /* Inside out. */
        for (guint i = g_strv_length(lines); i > 0; i--) {
                const char *parent = record_value(lines[i - 1], "parent");
                const char *inner = record_value(lines[i - 1], "inner");

                if (parent)
                        cgroup_remove_marked(parent);
                if (inner)
                        shelter_return(inner);
        }
        return NULL;
}

void ground_remove(const Ground *ground) {
        g_free(ground_clear_text(ground->record, g_get_monotonic_time() + GROUND_CLEAR_USEC));
}

static bool ground_read_record(const char *record_path, char **ret_text, GError **error) {
        g_autoptr(GError) reason = NULL;

        if (g_file_get_contents(record_path, ret_text, NULL, &reason))
                return true;
        if (g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                *ret_text = g_strdup("");
        else
                g_propagate_error(error, g_steal_pointer(&reason));
        return *ret_text != NULL;
}

bool ground_clear(const char *record_path, GError **error) {
        g_autofree char *text = NULL, *failed = NULL;

        if (!ground_read_record(record_path, &text, error))
                return false;

        failed = ground_clear_text(text, g_get_monotonic_time() + GROUND_CLEAR_USEC);
        if (!failed) {
                (void)unlink(record_path);
                return true;
        }

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                    "cannot clear the cgroup %s of an earlier private manager: %s: see who is in it",
                    failed, g_strerror(errno));
        return false;
}

static bool ground_is_seen(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                const char *view = record_value(*line, "view");
                const char *mount = view ? strchr(view, ' ') : NULL;
                g_autofree char *now = mount ? ground_view(mount + 1) : NULL;

                if (view && g_strcmp0(view, now) != 0)
                        return false;
        }
        return true;
}

bool ground_sweep(const char *record_path, int64_t deadline_usec) {
        g_autofree char *text = NULL, *failed = NULL;

        if (!ground_read_record(record_path, &text, NULL) || !ground_is_seen(text))
                return false;

        failed = ground_clear_text(text, deadline_usec);
        if (!failed)
                (void)unlink(record_path);
        return !failed;
}
