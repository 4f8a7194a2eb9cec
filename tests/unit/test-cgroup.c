/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is in a tree of cgroups, against directories that look like one. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <tap.h>

#include "launcher/kernel/cgroup.h"

static char *root;

static void need(bool is_well, const char *what) {
        if (!is_well)
                BAIL_OUT("%s: %s", what, strerror(errno));
}

static void make_group(const char *name, const char *processes) {
        g_autofree char *path = g_build_filename(root, name, NULL);
        g_autofree char *file = g_build_filename(path, "cgroup.procs", NULL);

        need(g_mkdir_with_parents(path, 0700) == 0, path);
        need(g_file_set_contents(file, processes, -1, NULL), file);
}

static void remove_all(void) {
        const char *argv[] = { "rm", "-rf", root, NULL };

        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
        g_free(root);
}

/* "1 2 3" */
static char *processes_in(const char *name) {
        g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        g_autofree char *path = g_build_filename(root, name, NULL);
        GString *text = g_string_new(NULL);

        cgroup_list_processes(path, pids);
        for (guint i = 0; i < pids->len; i++)
                g_string_append_printf(text, "%s%d", i > 0 ? " " : "",
                                       (int)g_array_index(pids, pid_t, i));
        return g_string_free(text, FALSE);
}

static void finds(const char *name, const char *expected, const char *what) {
        g_autofree char *found = processes_in(name);

        is(found, expected, "%s", what);
}

int main(void) {
        root = g_dir_make_tmp("cordon-cgroup-XXXXXX", NULL);
        need(root != NULL, "a temporary directory");
        make_group("empty", "");
        make_group("alone", "11\n12\n");
        make_group("above", "21\n");
        make_group("above/below", "22\n");
        make_group("above/below/deeper", "23\n");
        make_group("without/some", "31\n");
        make_group("without", "");

        finds("empty", "", "nobody is in a group without processes");
        finds("alone", "11 12", "the group's own processes are found");
        finds("above", "21 22 23", "those in groups below it, too");
        finds("without", "31", "also where only a group below has any");
        finds("missing", "", "nobody is in a group that is gone");
        remove_all();
        done_testing();
}
