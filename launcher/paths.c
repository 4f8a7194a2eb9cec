/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A mount point that is not there would be made by the manager, on the machine: so all of them have to be there, but
 * for those in a directory that begins empty. */

#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/kernel/error.h"
#include "units/text.h"

#define PATH_SHOWN 80

static bool fail(GError **error, const char *option, const char *path, const char *why) {
        g_autofree char *shown = text_printable(path, PATH_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE, "--%s: \"%s\": %s", option,
                    shown, why);
        return false;
}

static bool resolve(const char *option, char **path, bool *ret_is_directory, GError **error) {
        char *resolved = realpath(*path, NULL);
        struct stat st;

        if (!resolved || stat(resolved, &st) < 0) {
                free(resolved);
                return fail(error, option, *path, g_strerror(errno));
        }
        text_replace(path, resolved);
        free(resolved);
        *ret_is_directory = S_ISDIR(st.st_mode);
        return true;
}

/* In a directory that begins empty the manager makes what is missing. */
static bool begins_empty(const IsolationSet *set, const char *path) {
        g_autofree char *parent = g_path_get_dirname(path);

        return isolation_hides(set, parent);
}

static bool settle_rule(const IsolationSet *set, PathRule *rule, GError **error) {
        const char *option = isolation_info(rule->kind)->key;
        bool is_directory = true;
        struct stat st;

        if (rule->kind == ISOLATION_SCRATCH && stat(rule->path, &st) < 0 && errno == ENOENT &&
            begins_empty(set, rule->path))
                return true;
        if (!resolve(option, &rule->path, &is_directory, error))
                return false;
        if (rule->kind == ISOLATION_SCRATCH && !is_directory)
                return fail(error, option, rule->path, g_strerror(ENOTDIR));
        if (strcmp(rule->path, "/") == 0)
                return fail(error, option, rule->path, "not all of it: a path below / is needed");
        rule->is_file = !is_directory;
        return isolation_check_path(rule->kind, option, rule->path, error);
}

static bool is_taken(const IsolationSet *set, guint before, const char *path) {
        bool has_tmp = set->has_private_tmp || set->has_strict_fs;

        if (has_tmp && (strcmp(path, "/tmp") == 0 || strcmp(path, "/var/tmp") == 0))
                return true;
        if (set->has_strict_fs && strcmp(path, set->workspace) == 0)
                return true;
        for (guint i = 0; i < before; i++) {
                const PathRule *other = g_ptr_array_index(set->rules, i);

                if (strcmp(path, other->path) == 0)
                        return true;
        }
        return false;
}

static bool settle_rules(const IsolationSet *set, GError **error) {
        for (guint i = 0; set->rules && i < set->rules->len; i++) {
                PathRule *rule = g_ptr_array_index(set->rules, i);

                if (!settle_rule(set, rule, error))
                        return false;
                if (is_taken(set, i, rule->path))
                        return fail(error, isolation_info(rule->kind)->key, rule->path,
                                    "given twice: only one thing can be at a path");
        }
        return true;
}

static bool has_home(const char *path) {
        char *home = realpath(g_get_home_dir(), NULL);
        bool is_inside = home && isolation_is_within(home, path);

        free(home);
        return is_inside;
}

/* Control groups, sockets of managers: what is there is no file that anybody could be given. */
static bool is_kernels_or_managers(const char *path) {
        static const char *const others[] = { "/proc",     "/sys",      "/run/systemd",
                                              "/run/user", "/run/dbus", "/run/cordon" };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (isolation_is_within(path, others[i]) || isolation_is_within(others[i], path))
                        return true;
        return false;
}

/* What the program writes must be what is looked at. */
static bool check_measured(const IsolationSet *set, GError **error) {
        const char *hidden_by = isolation_hides(set, set->workspace);
        g_autofree char *why = NULL;

        if (!hidden_by)
                return true;
        why = g_strdup_printf("it is not there inside: --%s leaves it out", hidden_by);
        return fail(error, "disk", set->workspace, why);
}

static bool check_strict(const IsolationSet *set, bool is_named, const char *option,
                         GError **error) {
        if (!isolation_check_path(ISOLATION_RW, option, set->workspace, error))
                return false;
        if (!is_named && has_home(set->workspace))
                return fail(error, option, set->workspace,
                            "the working directory is, or holds, the home directory with all that "
                            "is in it; "
                            "--workspace names what the program is to write");
        if ((!is_named && isolation_is_system(set->workspace)) ||
            isolation_is_own_place(set->workspace) || is_kernels_or_managers(set->workspace))
                return fail(error, option, set->workspace,
                            "not a workspace: --workspace (or -C) names another directory");
        return true;
}

static bool settle_workspace(IsolationSet *set, bool is_measured, const char *directory,
                             GError **error) {
        bool is_named = set->workspace, is_directory;
        const char *option = is_named              ? "workspace"
                             : !set->has_strict_fs ? "disk"
                             : set->is_fs_said     ? "fs strict"
                                                   : "untrusted";

        if (!set->has_strict_fs && !is_measured)
                return !is_named || fail(error, option, set->workspace,
                                         "there is none without --fs strict or --disk");
        if (!is_named)
                set->workspace = g_strdup(directory);
        if (!resolve(option, &set->workspace, &is_directory, error))
                return false;
        if (!is_directory)
                return fail(error, option, set->workspace, g_strerror(ENOTDIR));
        return !set->has_strict_fs || check_strict(set, is_named, option, error);
}

/* With the limit lifted, a workspace that was named for it is of no use, but no mistake either. */
bool paths_settle(IsolationSet *set, const LimitSet *limits, char **directory, GError **error) {
        bool is_measured = limit_set_is_limited(limits, LIMIT_DISK), is_directory;

        if (!set->has_strict_fs && limits->is_set[LIMIT_DISK] && !is_measured)
                g_clear_pointer(&set->workspace, g_free);
        if (isolation_any_mount(set) && !resolve("directory", directory, &is_directory, error))
                return false;
        return settle_workspace(set, is_measured, *directory, error) && settle_rules(set, error) &&
               (!is_measured || check_measured(set, error));
}
