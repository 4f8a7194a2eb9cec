/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starting `systemd --user` and following it. It gets units of ours alone, so that none of the machine's
 * start, and the directory of transient units in its path, without which a daemon-reload would forget
 * the limits of everything that runs. */

#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"

#define MANAGER_READY_USEC  (90 * G_USEC_PER_SEC)
#define MANAGER_LOG_MAX     65536
/* Between fork and exec. */
#define MANAGER_NOT_STARTED 121
/* systemd 258 knows cgroup version 2 only. */
#define MANAGER_LEGACY_LAST 257

static const char *const manager_programs[] = {
        "/usr/lib/systemd/systemd",
        "/lib/systemd/systemd",
};

/* The least that a user manager starts and ends with. SIGTERM asks it to start exit.target. */
static const struct {
        const char *name, *text;
} manager_units[] = {
        { "sysinit.target", "[Unit]\nDescription=System Initialization\n" },
        { "basic.target",
          "[Unit]\nDescription=Basic System\nRequires=sysinit.target\nAfter=sysinit.target\n" },
        { "default.target", "[Unit]\nDescription=Private Manager of cordon\nRequires=basic.target\n"
                            "After=basic.target\nAllowIsolate=yes\n" },
        { "shutdown.target",
          "[Unit]\nDescription=Shutdown\nDefaultDependencies=no\nRefuseManualStart=yes\n" },
        { "exit.target",
          "[Unit]\nDescription=Exit\nDefaultDependencies=no\nRequires=systemd-exit.service\n"
          "After=systemd-exit.service\nAllowIsolate=yes\n" },
        { "systemd-exit.service",
          "[Unit]\nDescription=Exit\nDefaultDependencies=no\nRequires=shutdown.target\n"
          "After=shutdown.target\nSuccessAction=exit-force\n"
          "[Service]\nSlice=-.slice\n" },
};

void manager_clear(Manager *manager) {
        fd_close_pointer(&manager->process_fd);
        fd_close_pointer(&manager->notify_fd);
        fd_close_pointer(&manager->log_fd);
        g_clear_pointer(&manager->complaint, g_free);
}

static const char *manager_program(GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(manager_programs); i++)
                if (access(manager_programs[i], X_OK) >= 0)
                        return manager_programs[i];

        g_set_error_literal(error, MANAGER_ERROR, MANAGER_ERROR_NO_SYSTEMD,
                            "no systemd on this machine for a private manager: install the package "
                            "'systemd' (it need not be booted)");
        return NULL;
}

static bool manager_write_units(const char *runtime_dir, GError **error) {
        g_autofree char *directory = g_build_filename(runtime_dir, "units", NULL);

        (void)mkdir(directory, 0700);
        for (size_t i = 0; i < G_N_ELEMENTS(manager_units); i++) {
                g_autofree char *path = g_build_filename(directory, manager_units[i].name, NULL);

                if (!g_file_set_contents_full(path, manager_units[i].text, -1,
                                              G_FILE_SET_CONTENTS_NONE, 0600, error))
                        return false;
        }
        return true;
}

static int manager_open_notify(const char *runtime_dir, GError **error) {
        AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void)g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", runtime_dir);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_RUNTIME_DIR, "no socket %s: %s",
                            address.sun_path, g_strerror(errno));
                return -1;
        }
        return fd_steal(&fd);
}

/* Not the starter's, who may have set it to anything: below it are the directories of StateDirectory= and its like. */
static const char *manager_home(void) {
        const struct passwd *account = getpwuid(geteuid());

        return account && g_path_is_absolute(account->pw_dir) ? account->pw_dir : "/";
}

/* All that it, and what it starts, gets to know. No generators: there is nothing to generate. */
static GStrv manager_environment(const char *runtime_dir) {
        GStrv environment = g_new0(char *, 9);
        char **at = environment;

        *at++ = g_strdup("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        *at++ = g_strdup_printf("HOME=%s", manager_home());
        *at++ = g_strdup_printf("XDG_RUNTIME_DIR=%s", runtime_dir);
        *at++ = g_strdup_printf("NOTIFY_SOCKET=%s/notify", runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_UNIT_PATH=%s/systemd/transient:%s/units", runtime_dir,
                                runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_GENERATOR_PATH=%s/none", runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_ENVIRONMENT_GENERATOR_PATH=%s/none", runtime_dir);
        return environment;
}

static void manager_exec(const char *program, char **environment, const Ground *ground,
                         pid_t keeper) {
        char *arguments[] = { (char *)program, (char *)"--user", (char *)"--log-target=journal",
                              (char *)"--log-level=err", NULL };
        sigset_t none;

        /* When the keeper is killed, the manager stops its services and ends. */
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != keeper)
                _exit(1);

        (void)setsid();
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (ground_enter(ground))
                (void)execve(program, arguments, environment);
        _exit(MANAGER_NOT_STARTED);
}

static bool manager_fork(const char *program, const char *runtime_dir, const Ground *ground,
                         Manager *manager, GError **error) {
        g_auto(GStrv) environment = manager_environment(runtime_dir);
        pid_t keeper = getpid();

        manager->pid = fork();
        if (manager->pid == 0)
                manager_exec(program, environment, ground, keeper);
        if (manager->pid > 0)
                manager->process_fd = (int)syscall(SYS_pidfd_open, manager->pid, 0);
        if (manager->process_fd >= 0)
                return true;

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_START, "cannot start %s: %s", program,
                    g_strerror(errno));
        return false;
}

/* "systemd 252 (252.39-1~deb12u2)". 0 where it does not say. */
static unsigned manager_version(const char *program) {
        const char *arguments[] = { program, "--version", NULL };
        g_autofree char *text = NULL;

        if (!g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                          &text, NULL, NULL, NULL) ||
            !g_str_has_prefix(text, "systemd "))
                return 0;
        return (unsigned)g_ascii_strtoull(text + strlen("systemd "), NULL, 10);
}

/* It would not fail in a way that could be told: it takes plain directories for cgroups. */
static bool manager_knows_ground(const char *program, const Ground *ground, GError **error) {
        unsigned version = ground_is_legacy(ground) ? manager_version(program) : 0;

        if (version <= MANAGER_LEGACY_LAST)
                return true;

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_CGROUP,
                    "systemd %u needs cgroup version 2 alone and this machine has version 1: boot it "
                    "with systemd.unified_cgroup_hierarchy=1, or use systemd %u or older",
                    version, MANAGER_LEGACY_LAST);
        return false;
}

bool manager_start(const char *runtime_dir, const Ground *ground, int log_fd, Manager *ret_manager,
                   GError **error) {
        g_auto(Manager)
                manager = { .pid = -1, .process_fd = -1, .notify_fd = -1, .log_fd = log_fd };
        const char *program = manager_program(error);

        if (!program || !manager_knows_ground(program, ground, error) ||
            !manager_write_units(runtime_dir, error))
                return false;

        manager.notify_fd = manager_open_notify(runtime_dir, error);
        if (manager.notify_fd < 0 || !manager_fork(program, runtime_dir, ground, &manager, error))
                return false;

        *ret_manager = manager;
        manager = MANAGER_INIT;
        return true;
}

/* The journal's own protocol: "NAME=value" lines; a value with newlines has its length before it, and
 * is not worth the trouble. */
void manager_read_log(Manager *manager) {
        char text[MANAGER_LOG_MAX + 1];
        ssize_t n = recv(manager->log_fd, text, MANAGER_LOG_MAX, MSG_DONTWAIT);
        g_auto(GStrv) lines = NULL;

        if (n <= 0) {
                manager->log_is_dry = true;
                return;
        }

        text[n] = '\0';
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "MESSAGE=")) {
                        g_free(manager->complaint);
                        manager->complaint = g_strdup(*line + strlen("MESSAGE="));
                }
}

static bool manager_said_ready(Manager *manager) {
        char text[4096];
        ssize_t n = recv(manager->notify_fd, text, sizeof(text) - 1, 0);
        g_auto(GStrv) lines = NULL;

        if (n <= 0)
                return false;
        text[n] = '\0';
        lines = g_strsplit(text, "\n", -1);
        return g_strv_contains((const char *const *)lines, "READY=1");
}

static void manager_set_ended(Manager *manager, GError **error) {
        siginfo_t end = { 0 };

        for (manager->log_is_dry = manager->log_fd < 0; !manager->log_is_dry;)
                manager_read_log(manager);

        (void)waitid(P_PID, (id_t)manager->pid, &end, WEXITED | WNOWAIT | WNOHANG);
        if (end.si_code == CLD_EXITED)
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_START,
                            "the private manager ended with status %d while starting: %s",
                            end.si_status,
                            manager->complaint ? manager->complaint
                            : end.si_status == MANAGER_NOT_STARTED
                                    ? "it could not enter its cgroup, or be executed"
                                    : "it did not say why");
        else
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                            "the private manager was killed by signal %d while starting",
                            end.si_status);
}

bool manager_wait_ready(Manager *manager, int interrupt_fd, GError **error) {
        gint64 deadline = g_get_monotonic_time() + MANAGER_READY_USEC;

        for (;;) {
                struct pollfd wait[] = {
                        { .fd = manager->notify_fd, .events = POLLIN },
                        { .fd = manager->process_fd, .events = POLLIN },
                        { .fd = manager->log_fd, .events = POLLIN },
                        { .fd = interrupt_fd, .events = POLLIN },
                };
                gint64 left_usec = deadline - g_get_monotonic_time();
                int r = poll(wait, G_N_ELEMENTS(wait), left_usec > 0 ? (int)(left_usec / 1000) : 0);

                if (r == 0 || wait[3].revents) {
                        g_set_error(error, MANAGER_ERROR,
                                    r ? MANAGER_ERROR_UNREACHABLE : MANAGER_ERROR_START,
                                    "the private manager %s",
                                    r ? "was told to end while it was starting"
                                      : "did not become ready in time");
                        return false;
                }
                if (wait[2].revents)
                        manager_read_log(manager);
                if (wait[0].revents && manager_said_ready(manager))
                        return true;
                if (wait[1].revents) {
                        manager_set_ended(manager, error);
                        return false;
                }
        }
}

static bool manager_wait_ended(const Manager *manager, int64_t timeout_usec) {
        struct pollfd wait = { .fd = manager->process_fd, .events = POLLIN };

        return poll(&wait, 1, (int)(timeout_usec / 1000)) > 0;
}

void manager_stop(Manager *manager, int64_t grace_usec) {
        if (manager->process_fd < 0)
                return;

        (void)syscall(SYS_pidfd_send_signal, manager->process_fd, SIGTERM, NULL, 0);
        if (!manager_wait_ended(manager, grace_usec)) {
                (void)syscall(SYS_pidfd_send_signal, manager->process_fd, SIGKILL, NULL, 0);
                (void)manager_wait_ended(manager, grace_usec);
        }
        (void)waitpid(manager->pid, NULL, WNOHANG);
}
