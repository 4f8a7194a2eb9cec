/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keeper. The hard thing is that it may be killed between any two lines, and that a launcher may
 * come at any moment: so the `alive` lock is held from the first line to the end of the process, all
 * that is made is recorded before, and the directory goes last, in one step. */

#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "origin.h"
#include "sweep.h"
#include "undertaker.h"

/* How long services get to end when the manager is told to; nobody is connected any more. */
#define KEEPER_GRACE_USEC (5 * G_USEC_PER_SEC)

static bool keeper_fail(GError **error, const char *what) {
        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_KEEPER,
                    "the keeper of the private manager: %s: %s", what, g_strerror(errno));
        return false;
}

static bool keeper_lock_alive(Keeper *keeper, GError **error) {
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        keeper->alive_fd = openat(keeper->dir.fd, "alive",
                                  O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (keeper->alive_fd < 0 || fcntl(keeper->alive_fd, F_SETLK, &lock) < 0)
                return keeper_fail(error, "alive");
        return true;
}

static bool keeper_block_signals(Keeper *keeper, GError **error) {
        sigset_t signals;

        (void)sigemptyset(&signals);
        (void)sigaddset(&signals, SIGTERM);
        (void)sigaddset(&signals, SIGINT);
        (void)sigaddset(&signals, SIGHUP);
        (void)sigprocmask(SIG_BLOCK, &signals, NULL);
        keeper->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        return keeper->signal_fd >= 0 || keeper_fail(error, "signals");
}

/* What was left in the directory itself by one who was killed: sockets that nobody listens on, and
 * what the manager had written. */
static void keeper_empty_directory(Keeper *keeper) {
        runtime_dir_empty(&keeper->dir, "alive");
}

/* A removed directory that we have open is only a change of attributes. */
static bool keeper_watch_directory(Keeper *keeper, GError **error) {
        keeper->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (keeper->watch_fd < 0 ||
            inotify_add_watch(keeper->watch_fd, keeper->dir.path,
                              IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB) < 0)
                return keeper_fail(error, "watch");
        return true;
}

bool keeper_open(const char *runtime_dir, int dir_fd, Keeper *keeper, GError **error) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        origin_forget();

        if (!runtime_dir_adopt(runtime_dir, dir_fd, &keeper->dir, error) ||
            !keeper_lock_alive(keeper, error) || !keeper_block_signals(keeper, error))
                return false;

        keeper->is_owner = true;
        keeper->record_path = g_build_filename(runtime_dir, "ground", NULL);
        if (!ground_clear(keeper->record_path, error))
                return false;

        keeper_empty_directory(keeper);
        return keeper_watch_directory(keeper, error);
}

bool keeper_make(Keeper *keeper, GError **error) {
        g_autofree char *name = g_strdup_printf("cordon-%s", keeper->dir.name);

        if (!ground_make(name, keeper->dir.path, keeper->record_path, &keeper->ground, error) ||
            !world_make(keeper->dir.path, &keeper->world, error) ||
            !manager_start(keeper->dir.path, keeper->ground, fd_steal(&keeper->world.log_fd),
                           &keeper->manager, error) ||
            !manager_wait_ready(&keeper->manager, keeper->signal_fd, error))
                return false;

        world_uncover(&keeper->world);
        return true;
}

bool keeper_listen(Keeper *keeper, int first_fd, uint64_t idle_usec, GError **error) {
        keeper->undertaker = undertaker_start(&keeper->dir, keeper->ground);
        if (!visitors_open(keeper->dir.fd, first_fd, idle_usec, &keeper->visitors, error))
                return false;

        (void)flock(keeper->dir.fd, LOCK_UN);
        return true;
}

typedef enum {
        WATCH_MANAGER,
        WATCH_SIGNAL,
        WATCH_DIRECTORY,
        WATCH_LOG,
        WATCH_NOTIFY,
        WATCH_LISTEN,
        WATCH_IDLE,
        _WATCH_MAX,
} KeeperWatch;

static void keeper_watch(const Keeper *keeper, GArray *ret_wait) {
        const int fds[_WATCH_MAX] = {
                [WATCH_MANAGER] = keeper->manager.process_fd,
                [WATCH_SIGNAL] = keeper->signal_fd,
                [WATCH_DIRECTORY] = keeper->watch_fd,
                [WATCH_LOG] = keeper->manager.log_fd,
                [WATCH_NOTIFY] = keeper->manager.notify_fd,
                [WATCH_LISTEN] = keeper->visitors.listen_fd,
                [WATCH_IDLE] = keeper->visitors.idle_fd,
        };
        const GArray *visitors = keeper->visitors.fds;

        g_array_set_size(ret_wait, _WATCH_MAX + visitors->len);
        for (guint i = 0; i < ret_wait->len; i++)
                g_array_index(ret_wait, struct pollfd, i) = (struct pollfd){
                        .fd = i < _WATCH_MAX ? fds[i]
                                             : g_array_index(visitors, int, i - _WATCH_MAX),
                        .events = POLLIN,
                };
}

/* Nobody can find us any more when somebody has taken our directory away. */
static bool keeper_is_at_home(Keeper *keeper) {
        char events[4096];

        while (read(keeper->watch_fd, events, sizeof(events)) > 0)
                continue;
        return runtime_dir_is_current(&keeper->dir);
}

/* What it says after READY (that it is reloading, that it stops) is nobody's business. */
static void keeper_drain_notify(Keeper *keeper) {
        char text[4096];

        while (recv(keeper->manager.notify_fd, text, sizeof(text), 0) >= 0)
                continue;
}

/* Orphans of the manager come to us when it has been killed. */
static void keeper_reap(Keeper *keeper) {
        siginfo_t child = { 0 };

        while (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) >= 0 && child.si_pid > 0 &&
               child.si_pid != keeper->manager.pid) {
                (void)waitpid(child.si_pid, NULL, WNOHANG);
                if (child.si_pid == keeper->undertaker)
                        keeper->undertaker = undertaker_start(&keeper->dir, keeper->ground);
                child.si_pid = 0;
        }
}

/* One round. False when it is time to leave. */
static bool keeper_step(Keeper *keeper, GArray *wait) {
        const struct pollfd *event;

        keeper_watch(keeper, wait);
        event = (const struct pollfd *)wait->data;
        if (poll((struct pollfd *)wait->data, wait->len, -1) < 0)
                return errno == EINTR;

        if (event[WATCH_MANAGER].revents || event[WATCH_SIGNAL].revents)
                return false;
        if (event[WATCH_DIRECTORY].revents && !keeper_is_at_home(keeper))
                return false;
        if (event[WATCH_LOG].revents)
                manager_read_log(&keeper->manager);
        if (event[WATCH_NOTIFY].revents)
                keeper_drain_notify(keeper);

        /* From the last one on: leaving moves the last one into the gap. */
        for (guint i = wait->len; i > _WATCH_MAX; i--)
                if (event[i - 1].revents)
                        visitors_leave(&keeper->visitors, i - 1 - _WATCH_MAX);

        if (event[WATCH_LISTEN].revents || event[WATCH_IDLE].revents)
                visitors_accept(&keeper->visitors);
        keeper_reap(keeper);
        return !event[WATCH_IDLE].revents || keeper->visitors.fds->len > 0;
}

void keeper_run(Keeper *keeper) {
        g_autoptr(GArray) wait = g_array_new(FALSE, TRUE, sizeof(struct pollfd));

        while (keeper_step(keeper, wait))
                continue;
}

void keeper_leave(Keeper *keeper) {
        /* Whoever is still in the queue gets end of file without "ready", and starts afresh. */
        visitors_clear(&keeper->visitors);
        if (!keeper->is_owner)
                return;

        manager_stop(&keeper->manager, KEEPER_GRACE_USEC);
        undertaker_stop(keeper->undertaker);

        /* Somebody took our directory away: a scope is ours all the same, but a group that bears our
         * name below the caller's is that of whoever has made the directory anew. */
        if (runtime_dir_is_current(&keeper->dir)) {
                if (ground_clear(keeper->record_path, NULL))
                        runtime_dir_remove(&keeper->dir);
        } else if (keeper->ground &&
                   (ground_is_scope(keeper->ground) || access(keeper->dir.path, F_OK) < 0))
                ground_remove(keeper->ground);
        sweep_others(&keeper->dir);
}

void keeper_clear(Keeper *keeper) {
        runtime_dir_clear(&keeper->dir);
        g_clear_pointer(&keeper->record_path, g_free);
        g_clear_pointer(&keeper->ground, ground_free);
        world_clear(&keeper->world);
        manager_clear(&keeper->manager);
        visitors_clear(&keeper->visitors);
        fd_close_pointer(&keeper->signal_fd);
        fd_close_pointer(&keeper->watch_fd);
        fd_close_pointer(&keeper->alive_fd);
}
