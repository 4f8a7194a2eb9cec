/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Three kinds of things keep a guard alive: launchers that are connected, endings under way, and orphans: runs that it
 * found at its own start and whose launcher lives but has not come back yet. When none is left it lingers a little and
 * goes. The hard moment is going while somebody connects: the socket is renamed away first, then the backlog is looked
 * at once more. Before that it sees to it that cordon.slice will follow: a run whose start overtook the guard's own may
 * have made the manager put a slice of that name there by itself, and that one would stay. */

#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbus/connect.h"
#include "dbus/manager.h"
#include "ending.h"
#include "launcher/kernel/caller.h"
#include "launcher/rundir.h"
#include "protocol.h"
#include "slice.h"
#include "units/name.h"
#include "units/text.h"

struct Guard {
        sd_event *event;
        char *manager_socket, *socket_path, *closing_path;
        uid_t uid;
        int listen_fd;
        sd_event_source *accept, *linger;
        GHashTable *launchers; /* of Launcher* */
        GHashTable *orphans;   /* id → Orphan* */
        GHashTable *endings;   /* of Ending* */
        sd_bus *bus;           /* while a call is under way */
        ManagerCall *sweep, *adoption;
};

typedef struct {
        Guard *guard;
        int fd;
        char *id;    /* NULL: has not said */
        char *owner; /* likewise */
        sd_event_source *io;
} Launcher;

typedef struct {
        Guard *guard;
        char *id, *owner;
        int pidfd;
        sd_event_source *io;
} Orphan;

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata);

static void launcher_free(gpointer data) {
        Launcher *launcher = data;

        sd_event_source_disable_unref(launcher->io);
        (void)close(launcher->fd);
        g_free(launcher->id);
        g_free(launcher->owner);
        g_free(launcher);
}

static void orphan_free(gpointer data) {
        Orphan *orphan = data;

        sd_event_source_disable_unref(orphan->io);
        (void)close(orphan->pidfd);
        g_free(orphan->id);
        g_free(orphan->owner);
        g_free(orphan);
}

static bool is_busy(const Guard *guard) {
        return guard->sweep || guard->adoption || g_hash_table_size(guard->launchers) > 0 ||
               g_hash_table_size(guard->orphans) > 0 || g_hash_table_size(guard->endings) > 0;
}

static void linger_if_idle(Guard *guard) {
        int r;

        guard->linger = sd_event_source_disable_unref(guard->linger);
        if (is_busy(guard))
                return;
        r = sd_event_add_time_relative(guard->event, &guard->linger, CLOCK_MONOTONIC,
                                       GUARD_LINGER_USEC, 1, on_linger, guard);
        g_assert(r >= 0);
}

static void on_ended(Ending *ending, void *userdata) {
        Guard *guard = userdata;

        g_hash_table_remove(guard->endings, ending);
        linger_if_idle(guard);
}

static void end_run(Guard *guard, const char *id, const char *owner) {
        g_autofree char *directory = g_path_get_dirname(guard->socket_path);

        rundir_remove_of(directory, owner, id);
        g_hash_table_add(guard->endings, ending_new(guard->event, guard->manager_socket, id, owner,
                                                    on_ended, guard));
        linger_if_idle(guard);
}

/* A guard that root runs for a user under the system manager must not do what that user could not. */
static bool may_end(const Guard *guard, const char *owner) {
        uid_t uid = 0;
        pid_t pid = 0;

        return caller_parse_identity(owner, &uid, &pid) && (guard->uid == 0 || uid == guard->uid);
}

/* "ID OWNER" */
static bool launcher_registers(Launcher *launcher, const char *text) {
        const char *space = strchr(text, ' ');
        g_autofree char *id = space ? g_strndup(text, (gsize)(space - text)) : NULL;

        if (!id || !name_id_check(id, NULL) || !may_end(launcher->guard, space + 1))
                return false;
        text_replace(&launcher->id, id); /* the same, when it was asked again */
        text_replace(&launcher->owner, space + 1);
        g_hash_table_remove(launcher->guard->orphans, launcher->id);
        (void)send(launcher->fd, GUARD_OK, strlen(GUARD_OK), MSG_NOSIGNAL | MSG_DONTWAIT);
        return true;
}

static void launcher_leaves(Launcher *launcher, bool is_done) {
        Guard *guard = launcher->guard;

        if (launcher->id && !is_done)
                end_run(guard, launcher->id, launcher->owner);
        g_hash_table_remove(guard->launchers, launcher);
        linger_if_idle(guard);
}

static int on_launcher(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Launcher *launcher = userdata;
        char text[GUARD_MESSAGE_MAX] = "";
        ssize_t n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n <= 0 || !launcher_registers(launcher, text))
                launcher_leaves(launcher, n > 0 && strcmp(text, GUARD_DONE) == 0);
        return 0;
}

static bool peer_may(const Guard *guard, int fd) {
        struct ucred peer;
        socklen_t size = sizeof peer;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
               (peer.uid == guard->uid || peer.uid == 0);
}

static void add_launcher(Guard *guard, int fd) {
        Launcher *launcher = g_new0(Launcher, 1);
        int r;

        launcher->guard = guard;
        launcher->fd = fd;
        r = sd_event_add_io(guard->event, &launcher->io, fd, EPOLLIN, on_launcher, launcher);
        g_assert(r >= 0);
        g_hash_table_add(guard->launchers, launcher);
        guard->linger = sd_event_source_disable_unref(guard->linger);
}

static bool accept_one(Guard *guard) {
        int fd = accept4(guard->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
                return false;
        if (peer_may(guard, fd))
                add_launcher(guard, fd);
        else
                (void)close(fd);
        return true;
}

static int on_accept(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Guard *guard = userdata;

        while (accept_one(guard))
                ;
        return 0;
}

static void remove_directory(const Guard *guard) {
        g_autofree char *directory = g_path_get_dirname(guard->socket_path);

        (void)rmdir(directory); /* only when it is empty: others may live there */
}

static bool connect_to_manager(Guard *guard, GError **error) {
        return connect_direct(guard->manager_socket, &guard->bus, error) &&
               sd_bus_attach_event(guard->bus, guard->event, SD_EVENT_PRIORITY_NORMAL) >= 0;
}

static void hang_up(Guard *guard) {
        if (guard->bus)
                sd_bus_detach_event(guard->bus);
        guard->bus = sd_bus_close_unref(guard->bus);
}

static void leave(Guard *guard) {
        bool moved = rename(guard->socket_path, guard->closing_path) == 0;

        if (accept_one(guard)) {
                if (moved)
                        (void)rename(guard->closing_path, guard->socket_path);
                return;
        }

        (void)unlink(guard->closing_path);
        remove_directory(guard);
        (void)sd_event_exit(guard->event, 0);
}

/* Refused when it is as it should be. */
static void on_adopted(sd_bus_message *reply, const GError *error, void *userdata) {
        Guard *guard = userdata;

        g_clear_pointer(&guard->adoption, manager_call_free);
        hang_up(guard);
        if (!is_busy(guard))
                leave(guard);
}

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata) {
        Guard *guard = userdata;
        g_autoptr(PropertyList) properties = guard_slice_properties();
        ManagerCaller caller = { .event = guard->event, .handler = on_adopted, .userdata = guard };

        guard->linger = sd_event_source_disable_unref(guard->linger);
        if (!connect_to_manager(guard, NULL)) {
                hang_up(guard);
                leave(guard);
                return 0;
        }
        caller.bus = guard->bus;
        guard->adoption = manager_start_transient(caller, NAME_ROOT_SLICE, properties, NULL, NULL);
        return 0;
}

/* Stopped at the manager: who needs a guard starts another one. */
static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Guard *guard = userdata;

        (void)unlink(guard->socket_path);
        remove_directory(guard);
        return sd_event_exit(guard->event, 0);
}

static int watch_stop(Guard *guard) {
        sigset_t term;

        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        (void)sigprocmask(SIG_BLOCK, &term, NULL);
        return sd_event_add_signal(guard->event, NULL, SIGTERM, on_stop, guard);
}

static int on_owner_died(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Orphan *orphan = userdata;
        Guard *guard = orphan->guard;

        end_run(guard, orphan->id, orphan->owner);
        g_hash_table_remove(guard->orphans, orphan->id);
        return 0;
}

/* A pidfd of the launcher when it still is the process that started the run; −1 when it is gone. */
static int owner_pidfd(const char *owner) {
        uid_t uid = 0;
        pid_t pid = 0;
        int fd = caller_parse_identity(owner, &uid, &pid) ? pidfd_open(pid, 0) : -1;
        g_autofree char *now = fd >= 0 ? caller_process_identity(pid) : NULL;

        if (fd >= 0 && g_strcmp0(now, owner) != 0) {
                (void)close(fd);
                return -1;
        }
        return fd;
}

static bool is_registered(const Guard *guard, const char *id, const char *owner) {
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, guard->launchers);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                if (g_strcmp0(((Launcher *)key)->id, id) == 0 &&
                    g_strcmp0(((Launcher *)key)->owner, owner) == 0)
                        return true;
        return false;
}

static void sweep_unit(Guard *guard, const ManagerUnit *unit) {
        g_autofree char *id = name_id_from_unit(unit->name);
        g_autofree char *owner = name_owner_from_description(unit->description);
        Orphan *orphan;
        int fd, r;

        if (!id || !may_end(guard, owner) || is_registered(guard, id, owner) ||
            g_hash_table_contains(guard->orphans, id))
                return;
        fd = owner_pidfd(owner);
        if (fd < 0) {
                end_run(guard, id, owner);
                return;
        }

        orphan = g_new0(Orphan, 1);
        orphan->guard = guard;
        orphan->id = g_strdup(id);
        orphan->owner = g_strdup(owner);
        orphan->pidfd = fd;
        r = sd_event_add_io(guard->event, &orphan->io, fd, EPOLLIN, on_owner_died, orphan);
        g_assert(r >= 0);
        g_hash_table_insert(guard->orphans, orphan->id, orphan);
}

static void on_swept(sd_bus_message *reply, const GError *error, void *userdata) {
        Guard *guard = userdata;
        g_autoptr(GPtrArray) units = NULL;

        if (reply && manager_read_units(reply, &units, NULL))
                for (guint i = 0; i < units->len; i++)
                        sweep_unit(guard, g_ptr_array_index(units, i));
        g_clear_pointer(&guard->sweep, manager_call_free);
        hang_up(guard);
        linger_if_idle(guard);
}

/* What a power cut, or the killing of launcher and guard together, has left. */
static bool sweep(Guard *guard, GError **error) {
        static const char *const patterns[] = { NAME_PREFIX "*.slice", NULL };
        ManagerCaller caller = { .event = guard->event, .handler = on_swept, .userdata = guard };

        if (!connect_to_manager(guard, error))
                return false;
        caller.bus = guard->bus;
        guard->sweep = manager_list_units(caller, patterns);
        return true;
}

Guard *guard_new(sd_event *event, const GuardSettings *settings, GError **error) {
        g_autoptr(Guard) guard = g_new0(Guard, 1);
        int r;

        guard->event = sd_event_ref(event);
        guard->manager_socket = g_strdup(settings->manager_socket);
        guard->socket_path = g_strdup(settings->socket_path);
        guard->closing_path = g_strconcat(settings->socket_path, ".closing", NULL);
        guard->uid = settings->uid;
        guard->listen_fd = settings->listen_fd;
        guard->launchers = g_hash_table_new_full(NULL, NULL, launcher_free, NULL);
        guard->orphans = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, orphan_free);
        guard->endings = g_hash_table_new_full(NULL, NULL, (GDestroyNotify)ending_free, NULL);

        r = sd_event_add_io(event, &guard->accept, guard->listen_fd, EPOLLIN, on_accept, guard);
        if (r >= 0)
                r = watch_stop(guard);
        if (r < 0) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_BADF, "cannot listen: %s",
                            g_strerror(-r));
                return NULL;
        }
        (void)unlink(guard->closing_path); /* of one that was killed while it went */
        if (settings->first_fd >= 0) {
                add_launcher(guard, settings->first_fd);
                (void)send(settings->first_fd, GUARD_WHO, strlen(GUARD_WHO),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (!sweep(guard, error))
                return NULL;
        return g_steal_pointer(&guard);
}

void guard_free(Guard *guard) {
        if (!guard)
                return;
        g_hash_table_unref(guard->launchers);
        g_hash_table_unref(guard->orphans);
        g_hash_table_unref(guard->endings);
        manager_call_free(guard->sweep);
        manager_call_free(guard->adoption);
        sd_bus_close_unref(guard->bus);
        sd_event_source_disable_unref(guard->accept);
        sd_event_source_disable_unref(guard->linger);
        sd_event_unref(guard->event);
        g_free(guard->manager_socket);
        g_free(guard->socket_path);
        g_free(guard->closing_path);
        g_free(guard);
}
