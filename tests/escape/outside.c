/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager is who listens on its socket, in whatever mount namespace that is. */

#include "outside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager.h"
#include "stage.h"

#define TOP       "/sys/fs/cgroup"
#define DEPTH_MAX 12

static pid_t listener_of(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct ucred peer = { 0 };
        socklen_t size = sizeof peer;
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_strlcpy(address.sun_path, path, sizeof address.sun_path);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
                (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
        if (fd >= 0)
                (void)close(fd);
        return peer.pid;
}

/* "N:controllers:/path" a line; where it is mounted is known by the names of controllers. */
static void add_group(GString *groups, const char *line, char **ours) {
        g_auto(GStrv) parts = g_strsplit(line, ":", 3);
        g_autofree char *path = NULL;
        bool is_unified;

        /* where the manager has no group of its own, everybody is */
        if (g_strv_length(parts) != 3 || g_strv_contains((const char *const *)ours, line))
                return;
        is_unified = parts[1][0] == '\0';
        path = g_strconcat(TOP "/", is_unified ? "unified" : parts[1], parts[2], NULL);
        if (is_unified && !g_file_test(TOP "/unified", G_FILE_TEST_IS_DIR)) {
                g_free(path);
                path = g_strconcat(TOP, parts[2], NULL);
        }
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
                g_string_append_printf(groups, "%s%s", groups->len > 0 ? ":" : "", path);
}

static void know_groups(pid_t manager) {
        g_autofree char *path = g_strdup_printf("/proc/%d/cgroup", (int)manager);
        g_autofree char *text = NULL, *own_text = NULL;
        g_autoptr(GString) groups = g_string_new(NULL);
        g_auto(GStrv) lines = NULL, ours = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL) ||
            !g_file_get_contents("/proc/self/cgroup", &own_text, NULL, NULL))
                BAIL_OUT("the manager's groups are not to be seen");
        lines = g_strsplit(text, "\n", -1);
        ours = g_strsplit(own_text, "\n", -1);
        for (char **line = lines; *line; line++)
                add_group(groups, *line, ours);
        stage_know("manager-groups", "%s", groups->str);
}

void outside_know_manager(void) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        const char *directory = dirs->len > 0 ? g_ptr_array_index(dirs, 0) : "";
        g_autofree char *socket = g_build_filename(directory, "systemd/private", NULL);
        pid_t manager = listener_of(socket);
        g_autofree char *link = g_strdup_printf("/proc/%d/ns/mnt", (int)manager);
        g_autofree char *mounts = g_file_read_link(link, NULL);

        if (manager <= 0)
                BAIL_OUT("nobody listens on %s", socket);
        stage_know("manager", "%d", (int)manager);
        stage_know("manager-directory", "%s", directory);
        stage_know("manager-sockets", "%s", socket);
        stage_know("manager-mounts", "%s", mounts ?: "mnt:[another's]");
        stage_know("cordon-sockets", "%s/cordon:%s", directory,
                   g_str_equal(kit_manager(), "private") ? directory : "/run/cordon");
        know_groups(manager);
}

static bool is_of_suite(const char *pid) {
        g_autofree char *path = g_build_filename("/proc", pid, "comm", NULL);
        g_autofree char *name = NULL;

        return pid[0] && g_file_get_contents(path, &name, NULL, NULL) &&
               g_str_equal(name, "attempt\n");
}

bool outside_has_joined(void) {
        g_auto(GStrv) groups = g_strsplit(stage_known("manager-groups"), ":", -1);
        bool found = false;

        for (char **group = groups; *group; group++) {
                g_autofree char *path = g_build_filename(*group, "cgroup.procs", NULL);
                g_autofree char *text = NULL;
                g_auto(GStrv) pids = NULL;

                if (!g_file_get_contents(path, &text, NULL, NULL))
                        continue;
                pids = g_strsplit(text, "\n", -1);
                for (char **pid = pids; *pid; pid++)
                        found = found || is_of_suite(*pid);
        }
        return found;
}

static char *find_value(const char *directory, const char *slice, const char *file, int depth) {
        g_autoptr(GDir) dir = depth < DEPTH_MAX ? g_dir_open(directory, 0, NULL) : NULL;
        char *value = NULL;

        for (const char *name; dir && !value && (name = g_dir_read_name(dir));) {
                g_autofree char *path = g_build_filename(directory, name, NULL);
                g_autofree char *within = g_build_filename(path, file, NULL);

                if (!g_file_test(path, G_FILE_TEST_IS_DIR) ||
                    g_file_test(path, G_FILE_TEST_IS_SYMLINK))
                        continue;
                if (!g_str_equal(name, slice))
                        value = find_value(path, slice, file, depth + 1);
                else if (g_file_get_contents(within, &value, NULL, NULL))
                        g_strchomp(value);
        }
        return value;
}

char *outside_slice_value(const char *slice, const char *file) {
        return find_value(TOP, slice, file, 0);
}

bool outside_is_mounted(const char *path) {
        g_autofree char *table = g_strdup_printf("/proc/%s/mountinfo", stage_known("manager"));
        g_autofree char *point = g_strdup_printf(" %s ", path);
        g_autofree char *text = NULL;

        return g_file_get_contents(table, &text, NULL, NULL) && strstr(text, point);
}

void outside_unmount(const char *path) {
        g_autofree char *name = g_strdup_printf("/proc/%s/ns/mnt", stage_known("manager"));
        pid_t pid;

        if (!outside_is_mounted(path))
                return;
        pid = fork();
        if (pid == 0) {
                int fd = open(name, O_RDONLY | O_CLOEXEC);

                _exit(fd >= 0 && setns(fd, CLONE_NEWNS) == 0 && umount2(path, MNT_DETACH) == 0 ? 0
                                                                                               : 1);
        }
        (void)waitpid(pid, NULL, 0);
}
