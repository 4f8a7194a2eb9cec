/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Emptying and removing cgroups. The hard thing is to end exactly those who are in the group: numbers
 * are read from a file and may mean somebody else a moment later, so each is asked for again after its
 * pidfd was opened. */

#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>

#include "launcher/manager/fd.h"

#define CGROUP_MARK "trusted.cordon"

/* A group whose last process has just died can stay busy for a moment, and says nothing when that is
 * over (version 1 has no events). */
#define CGROUP_BUSY_NSEC 1000000

char *cgroup_read(const char *path, const char *file) {
        g_autofree char *name = g_build_filename(path, file, NULL);
        char *text = NULL;

        return g_file_get_contents(name, &text, NULL, NULL) ? text : NULL;
}

int cgroup_write(const char *path, const char *file, const char *text) {
        g_autofree char *name = g_build_filename(path, file, NULL);
        AUTO_CLOSE int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                return errno;
        return 0;
}

GArray *cgroup_processes(const char *path) {
        g_autofree char *text = cgroup_read(path, "cgroup.procs");
        g_auto(GStrv) lines = NULL;
        GArray *pids;

        if (!text)
                return NULL;

        pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (**line) {
                        pid_t pid = (pid_t)g_ascii_strtoll(*line, NULL, 10);

                        g_array_append_val(pids, pid);
                }
        return pids;
}

bool cgroup_attach(const char *path, pid_t pid) {
        g_autofree char *text = g_strdup_printf("%d", (int)pid);

        errno = cgroup_write(path, "cgroup.procs", text);
        return errno == 0;
}

typedef void (*CgroupVisit)(const char *path, void *data);

/* Children first. */
static void cgroup_walk(const char *path, CgroupVisit visit, void *data) {
        DIR *stream = opendir(path);
        struct dirent *entry;

        while (stream && (entry = readdir(stream)))
                if (entry->d_type == DT_DIR && !g_str_equal(entry->d_name, ".") &&
                    !g_str_equal(entry->d_name, "..")) {
                        g_autofree char *child = g_build_filename(path, entry->d_name, NULL);

                        cgroup_walk(child, visit, data);
                }
        if (stream)
                closedir(stream);
        visit(path, data);
}

static bool cgroup_has(const char *path, pid_t pid) {
        g_autoptr(GArray) pids = cgroup_processes(path);

        for (guint i = 0; pids && i < pids->len; i++)
                if (g_array_index(pids, pid_t, i) == pid)
                        return true;
        return false;
}

/* Signals what is in one group, but for ourselves, and collects pidfds to wait for. */
static void cgroup_kill_one(const char *path, void *data) {
        g_autoptr(GArray) pids = cgroup_processes(path);
        GArray *ending = data;

        for (guint i = 0; pids && i < pids->len; i++) {
                pid_t pid = g_array_index(pids, pid_t, i);
                AUTO_CLOSE int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
                int held;

                if (fd < 0 || pid == getpid() || !cgroup_has(path, pid))
                        continue;

                (void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
                held = fd_steal(&fd);
                g_array_append_val(ending, held);
        }
}

static void cgroup_wait_ended(GArray *ending, int64_t deadline_usec) {
        for (guint i = 0; i < ending->len; i++) {
                struct pollfd wait = { .fd = g_array_index(ending, int, i), .events = POLLIN };
                int64_t left_usec = deadline_usec - g_get_monotonic_time();

                (void)poll(&wait, 1, left_usec > 0 ? (int)(left_usec / 1000) + 1 : 0);
                (void)close(wait.fd);
        }
}

static void cgroup_remove_one(const char *path, void *data) {
        int *code = data;

        if (rmdir(path) < 0 && errno != ENOENT)
                *code = errno;
}

/* Nothing that time would change. */
static bool cgroup_is_refused(int code) {
        return code == EROFS || code == EACCES || code == EPERM;
}

void cgroup_kill_all(const char *path) {
        /* In one step, where the kernel can: nobody can fork his way out of it. */
        if (cgroup_write(path, "cgroup.kill", "1") != 0)
                cgroup_kill_others(path);
}

bool cgroup_is_populated(const char *path) {
        g_autofree char *events = cgroup_read(path, "cgroup.events");

        return events && strstr(events, "populated 1");
}

void cgroup_kill_others(const char *path) {
        g_autoptr(GArray) ending = g_array_new(FALSE, FALSE, sizeof(int));

        cgroup_walk(path, cgroup_kill_one, ending);
        cgroup_wait_ended(ending, 0);
}

bool cgroup_destroy(const char *path, int64_t deadline_usec) {
        /* In one step, where the kernel can: nobody can fork his way out of it. */
        (void)cgroup_write(path, "cgroup.kill", "1");

        for (;;) {
                g_autoptr(GArray) ending = g_array_new(FALSE, FALSE, sizeof(int));
                struct timespec pause = { .tv_nsec = CGROUP_BUSY_NSEC };
                int code = 0;

                cgroup_walk(path, cgroup_kill_one, ending);
                cgroup_wait_ended(ending, deadline_usec);
                cgroup_walk(path, cgroup_remove_one, &code);
                if (code == 0)
                        return true;
                if (cgroup_is_refused(code) || g_get_monotonic_time() >= deadline_usec) {
                        errno = code;
                        return false;
                }
                if (ending->len == 0)
                        (void)nanosleep(&pause, NULL);
        }
}

bool cgroup_make_marked(const char *path) {
        if (mkdir(path, 0755) < 0)
                return errno == EEXIST;
        (void)setxattr(path, CGROUP_MARK, "1", 1, 0);
        return true;
}

void cgroup_remove_marked(const char *path) {
        if (getxattr(path, CGROUP_MARK, NULL, 0) >= 0)
                (void)rmdir(path);
}
