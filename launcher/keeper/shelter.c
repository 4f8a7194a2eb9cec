/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Moving the processes of a version 2 group aside. They are moved only where that can harm nobody:
 * when every one of them is visible to us and runs as our user. Several private managers can stand
 * below one group; the lock on its directory orders their coming and going. */

#include "shelter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "launcher/manager/identity.h"

/* In a scope, which has nobody else to shelter. */
#define SHELTER_KEEPER_GROUP "keeper"

/* Forks between two readings of the group; each round moves all that were there. */
#define SHELTER_ROUNDS_MAX 1000

#define SHELTER_LOCK_USEC (5 * G_USEC_PER_SEC)

char *shelter_leaf(const char *inner, bool is_scope) {
        return g_build_filename(inner, is_scope ? SHELTER_KEEPER_GROUP : IDENTITY_CALLER_GROUP,
                                NULL);
}

/* Held for moments only. −1 where somebody who was stopped has it. */
static int shelter_lock(const char *inner) {
        AUTO_CLOSE int fd = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        gint64 deadline = g_get_monotonic_time() + SHELTER_LOCK_USEC;

        while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if ((errno != EWOULDBLOCK && errno != EINTR) || g_get_monotonic_time() >= deadline)
                        return -1;
                (void)poll(NULL, 0, 1);
        }
        return fd_steal(&fd);
}

/* The top of the tree has no type: there processes and controllers may be together. */
static bool shelter_is_top(const char *inner) {
        g_autofree char *type = g_build_filename(inner, "cgroup.type", NULL);

        return access(type, F_OK) < 0;
}

/* −1 where it is gone meanwhile. */
static gint64 shelter_process_owner(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
        g_autofree char *text = NULL;
        const char *line;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return -1;
        line = strstr(text, "\nUid:\t");
        return line ? g_ascii_strtoll(line + strlen("\nUid:\t"), NULL, 10) : -1;
}

static bool shelter_may_move(const char *inner, GError **error) {
        g_autoptr(GArray) pids = cgroup_processes(inner);

        for (guint i = 0; pids && i < pids->len; i++) {
                pid_t pid = g_array_index(pids, pid_t, i);
                gint64 owner = pid > 0 ? shelter_process_owner(pid) : -2;

                if (owner == -1 || owner == (gint64)getuid())
                        continue;
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                            pid > 0 ? "the cgroup %s also holds process %d of another user, which "
                                      "is not ours to move: start cordon in a cgroup of its own"
                                    : "the cgroup %s also holds processes outside of this container "
                                      "(%d): give it a cgroup of its own",
                            inner, (int)pid);
                return false;
        }
        return true;
}

static bool shelter_move_all(const char *from, const char *to) {
        g_autoptr(GArray) pids = cgroup_processes(from);

        for (guint i = 0; pids && i < pids->len; i++) {
                pid_t pid = g_array_index(pids, pid_t, i);

                if (pid > 0 && !cgroup_attach(to, pid) && errno != ESRCH)
                        return false;
        }
        return true;
}

/* "+cpu +memory" or "-cpu -memory" for everything that the file names. */
static char *shelter_controllers(const char *inner, const char *file, char sign) {
        g_autofree char *text = cgroup_read(inner, file);
        g_auto(GStrv) words = NULL;
        GString *line = g_string_new(NULL);

        words = g_strsplit_set(text ? text : "", " \n", -1);
        for (char **word = words; *word; word++)
                if (**word)
                        g_string_append_printf(line, "%s%c%s", line->len ? " " : "", sign, *word);
        return g_string_free(line, FALSE);
}

static void shelter_set_error(GError **error, const char *inner, int code) {
        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                    "cannot use the cgroup %s: %s: %s", inner, g_strerror(code),
                    geteuid() == 0
                            ? "it must be writable (a container: with a cgroup namespace of "
                              "its own, mounted read-write)"
                            : "it must be delegated to this user (Delegate=yes of its unit)");
}

/* EBUSY as long as somebody is in the group: forks, or others who just arrived. */
static bool shelter_enable(const char *inner, const char *leaf, GError **error) {
        g_autofree char *controllers = shelter_controllers(inner, "cgroup.controllers", '+');
        int code = 0;

        for (int round = 0; round < SHELTER_ROUNDS_MAX; round++) {
                if (leaf && !shelter_may_move(inner, error))
                        return false;
                if (leaf && !shelter_move_all(inner, leaf)) {
                        shelter_set_error(error, leaf, errno);
                        return false;
                }

                code = *controllers ? cgroup_write(inner, "cgroup.subtree_control", controllers)
                                    : 0;
                if (code == 0)
                        return true;
                if (code != EBUSY || !leaf)
                        break;
        }

        shelter_set_error(error, inner, code);
        return false;
}

bool shelter_take(const char *inner, int *ret_lock, GError **error) {
        AUTO_CLOSE int lock = shelter_lock(inner);
        g_autofree char *leaf = shelter_leaf(inner, false);

        if (lock < 0) {
                shelter_set_error(error, inner, errno);
                return false;
        }
        if (shelter_is_top(inner)) {
                if (!shelter_enable(inner, NULL, error))
                        return false;
                *ret_lock = fd_steal(&lock);
                return true;
        }

        /* Asked first, so that a refusal leaves everything as it was. */
        if (!shelter_may_move(inner, error))
                return false;

        if (mkdir(leaf, 0755) < 0 && errno != EEXIST) {
                shelter_set_error(error, inner, errno);
                return false;
        }
        if (!shelter_enable(inner, leaf, error))
                return false;

        *ret_lock = fd_steal(&lock);
        return true;
}

bool shelter_take_scope(const char *scope, GError **error) {
        g_autofree char *leaf = shelter_leaf(scope, true);

        if (mkdir(leaf, 0755) < 0 && errno != EEXIST) {
                shelter_set_error(error, scope, errno);
                return false;
        }
        return shelter_enable(scope, leaf, error);
}

static bool shelter_is_needed(const char *inner) {
        DIR *stream = opendir(inner);
        bool needed = false;
        struct dirent *entry;

        if (!stream)
                return false;

        while (!needed && (entry = readdir(stream)))
                needed = g_str_has_prefix(entry->d_name, "cordon-private-");
        closedir(stream);
        return needed;
}

void shelter_return(const char *inner) {
        AUTO_CLOSE int lock = shelter_lock(inner);
        g_autofree char *leaf = shelter_leaf(inner, false);
        g_autofree char *controllers = NULL;

        if (lock < 0 || access(leaf, F_OK) < 0 || shelter_is_needed(inner))
                return;

        controllers = shelter_controllers(inner, "cgroup.subtree_control", '-');
        if (*controllers)
                (void)cgroup_write(inner, "cgroup.subtree_control", controllers);

        for (int round = 0; round < SHELTER_ROUNDS_MAX && rmdir(leaf) < 0; round++)
                if (errno != EBUSY || !shelter_move_all(leaf, inner))
                        break;
}
