/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looking at a private manager from outside, by the kernel's word alone: locks, peers, cgroups, /proc. */

#include "traces.h"

#include <fcntl.h>
#include <ftw.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <tap.h>

/* Who has the `alive` lock: 0 when nobody. */
pid_t keeper_of(const char *dir) {
        g_autofree char *path = g_build_filename(dir, "alive", NULL);
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int fd = open(path, O_RDWR | O_CLOEXEC);

        if (fd < 0)
                return 0;
        if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
                lock.l_pid = 0;
        (void)close(fd);
        return lock.l_pid;
}

int connect_to(const char *dir, const char *name, int type) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

        (void)g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", dir, name);
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) >= 0)
                return fd;
        (void)close(fd);
        return -1;
}

/* Who listens on the manager's socket: 0 when nobody. */
pid_t manager_of(const char *dir) {
        int fd = connect_to(dir, "systemd/private", SOCK_STREAM);
        struct ucred peer = { 0 };
        socklen_t size = sizeof(peer);

        if (fd < 0)
                return 0;
        (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
        (void)close(fd);
        return peer.pid;
}

GArray *children_of(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/task/%d/children", (int)pid, (int)pid);
        g_autofree char *text = NULL;
        g_auto(GStrv) words = NULL;
        GArray *children = g_array_new(FALSE, FALSE, sizeof(pid_t));

        (void)g_file_get_contents(path, &text, NULL, NULL);
        words = g_strsplit(text ? text : "", " ", -1);
        for (char **word = words; *word; word++) {
                pid_t child = (pid_t)g_ascii_strtoll(*word, NULL, 10);

                if (child > 0)
                        g_array_append_val(children, child);
        }
        return children;
}

pid_t undertaker_of(const char *dir) {
        g_autoptr(GArray) children = children_of(keeper_of(dir));
        pid_t manager = manager_of(dir);

        for (guint i = 0; i < children->len; i++)
                if (g_array_index(children, pid_t, i) != manager)
                        return g_array_index(children, pid_t, i);
        return 0;
}

bool process_kill(int fd) {
        return syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) >= 0;
}

bool directory_goes(const char *dir) {
        int fd = inotify_init1(IN_CLOEXEC);
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        bool gone = inotify_add_watch(fd, dir, IN_DELETE_SELF) < 0 ||
                    poll(&wait, 1, TRACES_END_MSEC) == 1;

        (void)close(fd);
        return gone;
}

int process_open(pid_t pid) {
        return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Closes the descriptor. One that was never there has ended. */
bool process_ends(int fd) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        bool ended = fd < 0 || poll(&wait, 1, TRACES_END_MSEC) == 1;

        if (fd >= 0)
                (void)close(fd);
        return ended;
}

bool hold_ends(int fd) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        char text[16];

        return poll(&wait, 1, TRACES_END_MSEC) == 1 && recv(fd, text, sizeof(text), 0) <= 0;
}

static GPtrArray *groups_found;
static const char *groups_wanted;

static int groups_visit(const char *path, const struct stat *st, int type, struct FTW *where) {
        if (type == FTW_D && strstr(path + where->base, groups_wanted))
                g_ptr_array_add(groups_found, g_strdup(path));
        return 0;
}

/* The cgroups whose name holds the directory's. */
static GPtrArray *groups_of(const char *dir) {
        g_autofree char *name = g_path_get_basename(dir);

        groups_found = g_ptr_array_new_with_free_func(g_free);
        groups_wanted = name;
        (void)nftw("/sys/fs/cgroup", groups_visit, 32, FTW_PHYS);
        return groups_found;
}

static unsigned processes_of(const char *dir) {
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        const char *entry;
        unsigned n = 0;

        while ((entry = g_dir_read_name(proc))) {
                g_autofree char *path = g_strdup_printf("/proc/%s/environ", entry);
                g_autofree char *command = g_strdup_printf("/proc/%s/cmdline", entry);
                char *paths[] = { path, command };

                for (size_t i = 0; g_ascii_isdigit(*entry) && i < G_N_ELEMENTS(paths); i++) {
                        g_autofree char *text = NULL;
                        gsize size;

                        if (!g_file_get_contents(paths[i], &text, &size, NULL))
                                continue;
                        for (gsize at = 0; at < size; at++)
                                text[at] = text[at] ?: ' ';
                        if (size > 0 && g_strstr_len(text, (gssize)size, dir)) {
                                n++;
                                break;
                        }
                }
        }
        return n;
}

/* On a booted machine, sessions of others come and go with mounts of theirs; ours would be below these. */
char *mounts_now(void) {
        g_autofree char *table = NULL;
        g_auto(GStrv) lines = NULL;
        GString *text = g_string_new(NULL);

        (void)g_file_get_contents("/proc/self/mountinfo", &table, NULL, NULL);
        lines = g_strsplit(table, "\n", -1);
        for (char **line = lines; *line; line++)
                if (!strstr(*line, " /run/user/") || strstr(*line, "cordon"))
                        g_string_append_printf(text, "%s\n", *line);
        return g_string_free(text, FALSE);
}

/* A scope is removed by the machine's manager, when that has seen its last process end. */
static void wait_for_scopes(const char *dir) {
        g_autoptr(GPtrArray) groups = groups_of(dir);

        for (guint i = 0; i < groups->len; i++) {
                int fd = inotify_init1(IN_CLOEXEC);
                struct pollfd wait = { .fd = fd, .events = POLLIN };

                if (g_str_has_suffix(groups->pdata[i], ".scope") &&
                    inotify_add_watch(fd, groups->pdata[i], IN_DELETE_SELF) >= 0)
                        (void)poll(&wait, 1, TRACES_END_MSEC);
                (void)close(fd);
        }
}

/* The directory under its name, or under that which it bears while it is removed. */
static unsigned directories_of(const char *dir) {
        g_autofree char *base = g_path_get_dirname(dir), *name = g_path_get_basename(dir);
        g_autoptr(GDir) entries = g_dir_open(base, 0, NULL);
        const char *entry;
        unsigned n = 0;

        while (entries && (entry = g_dir_read_name(entries)))
                n += g_str_has_prefix(entry, name);
        return n;
}

void nothing_is_left(const char *dir, const char *mounts, const char *when) {
        wait_for_scopes(dir);

        g_autoptr(GPtrArray) groups = groups_of(dir);
        g_autofree char *now = NULL;

        for (guint i = 0; i < groups->len; i++)
                diag("left: %s", (char *)groups->pdata[i]);
        cmp_ok(groups->len, "==", 0, "%s: no cgroup is left", when);
        cmp_ok(processes_of(dir), "==", 0, "%s: no process is left", when);
        cmp_ok(directories_of(dir), "==", 0, "%s: the directory is gone", when);
        now = mounts_now();
        is(now, mounts, "%s: the machine's mounts are what they were", when);
}
