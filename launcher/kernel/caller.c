/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Plain reading of our own process. The list of variables that are not passed on is the one place that knows what
 * describes the caller's own unit. */

#include "caller.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "launcher/gate/namespace.h"
#include "launcher/gate/schedule.h"

#define CLASSIC_SIGNALS UINT64_C(0x7fffffff) /* 1 to 31 */

static const char *const unit_variables[] = {
        "NOTIFY_SOCKET",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "LISTEN_PID",
        "LISTEN_FDS",
        "LISTEN_FDNAMES",
        "LISTEN_PIDFDID",
        "WATCHDOG_PID",
        "WATCHDOG_USEC",
        "MAINPID",
        "MAINPIDFDID",
        "MANAGERPID",
        "MANAGERPIDFDID",
        "SYSTEMD_EXEC_PID",
        "CREDENTIALS_DIRECTORY",
        "FDSTORE",
        "MEMORY_PRESSURE_WATCH",
        "MEMORY_PRESSURE_WRITE",
};

static bool variable_is_of_unit(const char *variable) {
        for (size_t i = 0; i < G_N_ELEMENTS(unit_variables); i++) {
                size_t length = strlen(unit_variables[i]);

                if (strncmp(variable, unit_variables[i], length) == 0 && variable[length] == '=')
                        return true;
        }
        return false;
}

bool caller_is_privileged(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

        return syscall(SYS_capget, &header, data) == 0 &&
               (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN));
}

char **caller_environment(char *const *environment) {
        GPtrArray *kept = g_ptr_array_new();

        for (; *environment; environment++)
                if (!variable_is_of_unit(*environment))
                        g_ptr_array_add(kept, g_strdup(*environment));
        g_ptr_array_add(kept, NULL);
        return (char **)g_ptr_array_free(kept, FALSE);
}

/* Not GLib's: that one says "/" where there is none. */
static char *current_directory(void) {
        char path[PATH_MAX];

        return getcwd(path, sizeof path) && path[0] == '/' ? g_strdup(path) : NULL;
}

bool caller_read_directory(Caller *caller, const char *directory, GError **error) {
        g_autofree char *current = current_directory();
        struct stat st;

        if (!current && !(directory && g_path_is_absolute(directory))) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_DIRECTORY,
                            "the working directory is not there any more; -C names another");
                return false;
        }
        g_free(caller->directory);
        caller->directory = directory ? g_canonicalize_filename(directory, current)
                                      : g_steal_pointer(&current);
        if (stat(caller->directory, &st) < 0 || (!S_ISDIR(st.st_mode) && (errno = ENOTDIR))) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_DIRECTORY,
                            "%scannot use the directory \"%s\": %s", directory ? "-C: " : "",
                            caller->directory, g_strerror(errno));
                return false;
        }
        caller->directory_dev = st.st_dev;
        caller->directory_ino = st.st_ino;
        return true;
}

static void read_groups(Caller *caller) {
        int count = getgroups(0, NULL);

        caller->gid = getegid();
        caller->groups = g_new0(gid_t, MAX(count, 1));
        count = getgroups(count, caller->groups);
        caller->group_count = count > 0 ? (uint32_t)count : 0;
}

const char *caller_find_status(const char *status, const char *key) {
        const char *found = status ? strstr(status, key) : NULL;

        return found ? found + strlen(key) : NULL;
}

/* One line of /proc says it, else each signal has to be asked for. */
static uint64_t read_ignored(const char *status) {
        const char *line = caller_find_status(status, "\nSigIgn:\t");
        struct sigaction action;
        uint64_t ignored = 0;

        if (line)
                return g_ascii_strtoull(line, NULL, 16) & CLASSIC_SIGNALS;
        for (int i = 1; i < 32; i++)
                if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
                        ignored |= UINT64_C(1) << (i - 1);
        return ignored;
}

static void read_signals(Caller *caller) {
        sigset_t mask;

        if (sigprocmask(SIG_SETMASK, NULL, &mask) < 0)
                sigemptyset(&mask);
        for (int i = 1; i < NSIG; i++)
                if (sigismember(&mask, i) > 0)
                        caller->signal_mask |= UINT64_C(1) << (i - 1);
        caller->signal_ignored = read_ignored(caller->status);
}

/* Ours is the number that a process has where /proc was mounted. */
static bool proc_is_ours(void) {
        g_autofree char *number = g_file_read_link("/proc/self", NULL);

        return !number || g_ascii_strtoll(number, NULL, 10) == getpid();
}

/* In a pid namespace that we are not in ourselves our first child may be the first of all, and with that one ends whatever
 * we start there. With another's /proc everybody, the manager too, takes processes for others. */
bool caller_read_namespaces(Caller *caller, GError **error) {
        GateWorld own;
        const char *message = NULL;

        namespace_read(&own);
        caller->world = own;
        namespace_read_for_child(&caller->world);
        if (caller->world.namespaces[GATE_NS_PID] != own.namespaces[GATE_NS_PID])
                message = "the caller's children would be in another pid namespace than the "
                          "caller: start cordon as one of them (unshare --fork)";
        else if (!proc_is_ours())
                message = "the caller's /proc is that of another pid namespace: mount one of its "
                          "own (unshare --mount-proc)";
        if (message)
                g_set_error_literal(error, LAUNCHER_ERROR, LAUNCHER_ERROR_NAMESPACE, message);
        return !message;
}

bool caller_read_place(Caller *caller, const char *directory, GError **error) {
        return caller_read_directory(caller, directory, error) &&
               caller_read_namespaces(caller, error);
}

void caller_read(Caller *caller) {
        *caller = (Caller){ .status = file_read_record(AT_FDCWD, "/proc/self/status") };
        caller->umask = umask(0);
        (void)umask(caller->umask);
        caller->nice = schedule_read_nice();
        read_groups(caller);
        read_signals(caller);
        for (int i = 0; i < GATE_RLIMITS; i++)
                if (getrlimit((__rlimit_resource_t)i, &caller->rlimits[i]) < 0)
                        caller->rlimits[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
        schedule_read(&caller->schedule);
}

void caller_copy(const Caller *from, Caller *to) {
        *to = *from;
        to->status = g_strdup(from->status);
        to->directory = g_strdup(from->directory);
        to->groups = g_memdup2(from->groups, MAX(from->group_count, 1) * sizeof *from->groups);
}

void caller_clear(Caller *caller) {
        g_clear_pointer(&caller->status, g_free);
        g_clear_pointer(&caller->directory, g_free);
        g_clear_pointer(&caller->groups, g_free);
}

char *caller_process_identity(pid_t pid) {
        g_autofree char *directory = g_strdup_printf("/proc/%d", (int)pid);
        g_autofree char *path = g_build_filename(directory, "stat", NULL);
        g_autofree char *stat_line = NULL;
        struct stat st;

        if (stat(directory, &st) < 0 || !(stat_line = file_read_record(AT_FDCWD, path)))
                return NULL;

        /* Fields are counted from behind the name, which may hold anything. */
        const char *behind = strrchr(stat_line, ')');
        g_auto(GStrv) fields = behind ? g_strsplit(behind + 2, " ", -1) : NULL;

        if (!fields || g_strv_length(fields) < 20 || fields[0][0] == 'Z')
                return NULL;
        return g_strdup_printf("%u:%d:%s", (unsigned)st.st_uid, (int)pid, fields[19]);
}

bool caller_parse_identity(const char *identity, uid_t *ret_uid, pid_t *ret_pid) {
        unsigned uid = 0;
        int pid = 0;

        if (!identity || sscanf(identity, "%u:%d:", &uid, &pid) != 2 || pid <= 0)
                return false;
        *ret_uid = uid;
        *ret_pid = pid;
        return true;
}
