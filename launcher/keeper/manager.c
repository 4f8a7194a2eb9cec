/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starting `systemd --user` and following it. It gets units of ours alone, so that none of the machine's
 * start, and the directory of transient units in its path, without which a daemon-reload would forget
 * the limits of everything that runs. */

#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../manager/error.h"
#include "../manager/fd.h"

#define MANAGER_READY_USEC    (90 * G_USEC_PER_SEC)
#define MANAGER_COMPLAINT_MAX 4096
/* systemd 258 knows cgroup version 2 only. */
#define MANAGER_LEGACY_LAST   257

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
        { "default.target",
          "[Unit]\nDescription=Private Manager of cordon\nRequires=basic.target\n"
          "After=basic.target\nAllowIsolate=yes\n" },
        { "shutdown.target",
          "[Unit]\nDescription=Shutdown\nDefaultDependencies=no\nRefuseManualStart=yes\n" },
        { "exit.target",
          "[Unit]\nDescription=Exit\nDefaultDependencies=no\nRequires=systemd-exit.service\n"
          "After=systemd-exit.service\nAllowIsolate=yes\n" },
        { "systemd-exit.service",
          "[Unit]\nDescription=Exit\nDefaultDependencies=no\nRequires=shutdown.target\n"
          "After=shutdown.target\nSuccessAction=exit-force\n"
          "[Service]\nType=oneshot\nExecStart=:true\n" },
};

void manager_clear(Manager *manager) {
        fd_close_pointer(&manager->process_fd);
        fd_close_pointer(&manager->notify_fd);
        fd_close_pointer(&manager->complain_fd);
        if (manager->complaint)
                g_string_free(manager->complaint, TRUE);
        manager->complaint = NULL;
}

static const char *manager_program(GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(manager_programs); i++)
                if (access(manager_programs[i], X_OK) >= 0)
                        return manager_programs[i];

        g_set_error_literal(error,
                            MANAGER_ERROR,
                            MANAGER_ERROR_NO_SYSTEMD,
                            "no systemd on this machine for a private manager: install the package "
                            "'systemd' (it need not be booted)");
        return NULL;
}

static bool manager_write_units(const char *runtime_dir, GError **error) {
        g_autofree char *directory = g_build_filename(runtime_dir, "units", NULL);

        (void)mkdir(directory, 0700);
        for (size_t i = 0; i < G_N_ELEMENTS(manager_units); i++) {
                g_autofree char *path =
                        g_build_filename(directory, manager_units[i].name, NULL);

                if (!g_file_set_contents_full(path,
                                              manager_units[i].text,
                                              -1,
                                              G_FILE_SET_CONTENTS_NONE,
                                              0600,
                                              error))
                        return false;
        }
        return true;
}

static int manager_open_notify(const char *runtime_dir, GError **error) {
        AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        (void)g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", runtime_dir);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
                g_set_error(error,
                            MANAGER_ERROR,
                            MANAGER_ERROR_RUNTIME_DIR,
                            "no socket %s: %s",
                            address.sun_path,
                            g_strerror(errno));
                return -1;
        }
        return fd_steal(&fd);
}

/* All that it, and what it starts, gets to know. No generators: there is nothing to generate. */
static GStrv manager_environment(const char *runtime_dir) {
        GStrv environment = g_new0(char *, 9);
        char **at = environment;

        *at++ = g_strdup("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        *at++ = g_strdup("HOME=/");
        *at++ = g_strdup_printf("XDG_RUNTIME_DIR=%s", runtime_dir);
        *at++ = g_strdup_printf("NOTIFY_SOCKET=%s/notify", runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_UNIT_PATH=%s/systemd/transient:%s/units",
                                runtime_dir,
                                runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_GENERATOR_PATH=%s/none", runtime_dir);
        *at++ = g_strdup_printf("SYSTEMD_ENVIRONMENT_GENERATOR_PATH=%s/none", runtime_dir);
        return environment;
}

static void manager_exec(const char *program,
                         char **environment,
                         const Ground *ground,
                         int complain_fd,
                         pid_t keeper) {
        char *arguments[] = { (char *)program, (char *)"--user", (char *)"--log-target=console",
                              (char *)"--log-level=err", NULL };
        sigset_t none;

        /* When the keeper is killed, the manager stops its services and ends. */
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != keeper)
                _exit(1);

        (void)setsid();
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (dup2(complain_fd, STDERR_FILENO) < 0)
                _exit(1);
        if (!ground_enter(ground))
                dprintf(STDERR_FILENO, "cannot enter its cgroup: %s\n", strerror(errno));
        else
                (void)execve(program, arguments, environment);
        _exit(1);
}

static bool manager_fork(const char *program,
                         const char *runtime_dir,
                         const Ground *ground,
                         Manager *manager,
                         GError **error) {
        g_auto(GStrv) environment = manager_environment(runtime_dir);
        AUTO_CLOSE int complain_end = -1;
        pid_t keeper = getpid();
        int pair[2];

        /* Not blocking: a keeper that does not read must not hold up the manager. */
        if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) >= 0) {
                manager->complain_fd = pair[0];
                complain_end = pair[1];
                manager->pid = fork();
        }
        if (manager->pid == 0)
                manager_exec(program, environment, ground, complain_end, keeper);
        if (manager->pid > 0)
                manager->process_fd = (int)syscall(SYS_pidfd_open, manager->pid, 0);
        if (manager->process_fd >= 0)
                return true;

        g_set_error(error,
                    MANAGER_ERROR,
                    MANAGER_ERROR_START,
                    "cannot start %s: %s",
                    program,
                    g_strerror(errno));
        return false;
}

/* "systemd 252 (252.39-1~deb12u2)". 0 where it does not say. */
static unsigned manager_version(const char *program) {
        const char *arguments[] = { program, "--version", NULL };
        g_autofree char *text = NULL;

        if (!g_spawn_sync(NULL,
                          (char **)arguments,
                          NULL,
                          G_SPAWN_STDERR_TO_DEV_NULL,
                          NULL,
                          NULL,
                          &text,
                          NULL,
                          NULL,
                          NULL) ||
            !g_str_has_prefix(text, "systemd "))
                return 0;
        return (unsigned)g_ascii_strtoull(text + strlen("systemd "), NULL, 10);
}

/* It would not fail in a way that could be told: it takes plain directories for cgroups. */
static bool manager_knows_ground(const char *program, const Ground *ground, GError **error) {
        unsigned version = ground_is_legacy(ground) ? manager_version(program) : 0;

        if (version <= MANAGER_LEGACY_LAST)
                return true;

        g_set_error(error,
                    MANAGER_ERROR,
                    MANAGER_ERROR_NO_CGROUP,
                    "systemd %u needs cgroup version 2 alone and this machine has version 1: boot it "
                    "with systemd.unified_cgroup_hierarchy=1, or use systemd %u or older",
                    version,
                    MANAGER_LEGACY_LAST);
        return false;
}

bool manager_start(const char *runtime_dir, const Ground *ground, Manager *ret_manager, GError **error) {
        g_auto(Manager) manager = MANAGER_INIT;
        const char *program = manager_program(error);

        if (!program || !manager_knows_ground(program, ground, error) ||
            !manager_write_units(runtime_dir, error))
                return false;

        manager.complaint = g_string_new(NULL);
        manager.notify_fd = manager_open_notify(runtime_dir, error);
        if (manager.notify_fd < 0 ||
            !manager_fork(program, runtime_dir, ground, &manager, error))
                return false;

        *ret_manager = manager;
        manager = MANAGER_INIT;
        return true;
}

void manager_read_complaint(Manager *manager) {
        char text[MANAGER_COMPLAINT_MAX];
        ssize_t n = read(manager->complain_fd, text, sizeof(text));

        if (n > 0)
                g_string_append_len(manager->complaint, text, n);
        else if (n == 0 || errno != EAGAIN)
                fd_close_pointer(&manager->complain_fd);

        if (manager->complaint->len > MANAGER_COMPLAINT_MAX)
                g_string_erase(manager->complaint,
                               0,
                               (gssize)(manager->complaint->len - MANAGER_COMPLAINT_MAX));
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


/* The last whole line of what it said. */
static char *manager_last_complaint(Manager *manager) {
        char *newline;

        while (manager->complain_fd >= 0) {
                gsize before = manager->complaint->len;

                manager_read_complaint(manager);
                if (manager->complaint->len == before)
                        break;
        }
        g_strchomp(manager->complaint->str);
        newline = strrchr(manager->complaint->str, '\n');
        return g_strdup(newline ? newline + 1 : manager->complaint->str);
}

static void manager_set_ended(Manager *manager, GError **error) {
        g_autofree char *complaint = manager_last_complaint(manager);
        siginfo_t end = { 0 };

        (void)waitid(P_PID, (id_t)manager->pid, &end, WEXITED | WNOWAIT | WNOHANG);
        if (end.si_code == CLD_EXITED)
                g_set_error(error,
                            MANAGER_ERROR,
                            MANAGER_ERROR_START,
                            "the private manager ended with status %d while starting: %s",
                            end.si_status,
                            *complaint ? complaint : "it did not say why");
        else
                g_set_error(error,
                            MANAGER_ERROR,
                            MANAGER_ERROR_UNREACHABLE,
                            "the private manager was killed by signal %d while starting",
                            end.si_status);
}

bool manager_wait_ready(Manager *manager, int interrupt_fd, GError **error) {
        gint64 deadline = g_get_monotonic_time() + MANAGER_READY_USEC;

        for (;;) {
                struct pollfd wait[] = {
                        { .fd = manager->notify_fd, .events = POLLIN },
                        { .fd = manager->process_fd, .events = POLLIN },
                        { .fd = manager->complain_fd, .events = POLLIN },
                        { .fd = interrupt_fd, .events = POLLIN },
                };
                gint64 left_usec = deadline - g_get_monotonic_time();
                int r = poll(wait, G_N_ELEMENTS(wait), left_usec > 0 ? (int)(left_usec / 1000) : 0);

                if (r == 0 || wait[3].revents) {
                        g_set_error(error,
                                    MANAGER_ERROR,
                                    r ? MANAGER_ERROR_UNREACHABLE : MANAGER_ERROR_START,
                                    "the private manager %s",
                                    r ? "was told to end while it was starting"
                                      : "did not become ready in time");
                        return false;
                }
                if (wait[2].revents)
                        manager_read_complaint(manager);
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
