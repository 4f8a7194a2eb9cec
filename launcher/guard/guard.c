/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Three kinds of things keep a guard alive: launchers that are connected, endings under way, and orphanages: runs that it
 * found at its own start and whose launcher lives but has not come back yet. When none is left it lingers a little and
 * goes. The hard moment is going while somebody connects: the socket is renamed away first, then the backlog is looked
 * at once more. Before that it sees to it that cordon.slice will follow: a run whose start overtook the guard's own may
 * have made the manager put a slice of that name there by itself, and that one would stay. So it does with the slices of
 * pools. */

#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clearing.h"
#include "dbus/connect.h"
#include "dbus/manager.h"
#include "dbus/relay.h"
#include "ending.h"
#include "launcher/kernel/caller.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/rundir.h"
#include "launcher/slots.h"
#include "orphanage.h"
#include "post.h"
#include "protocol.h"
#include "slice.h"
#include "socket.h"
#include "units/name.h"
#include "units/text.h"

struct Guard {
        sd_event *event;
        char *manager_socket, *socket_path, *closing_path;
        uid_t uid;
        int listen_fd;
        sd_event_source *accept, *linger;
        GHashTable *launchers; /* of Launcher* */
        GHashTable *watched;   /* "ID OWNER" → Launcher*, which has named it */
        Orphanages *orphanages;
        Cgroup *ground; /* of the slice that we are in with all runs; NULL: it is not to be seen */
        Endings *endings;
        Clearings *clearings;
        Relay *relay; /* NULL: none for this user */
        sd_bus *bus;  /* while a call is under way */
        ManagerCall *sweep, *adoption;
        bool is_stopped; /* by the manager: it stays a little for those who hear by it how their runs end */
        GPtrArray *pool_adoptions; /* of ManagerCall*; likewise, NULL: none yet */
};

typedef struct {
        Guard *guard;
        int fd;
        char *owner;     /* NULL: has not said */
        GHashTable *ids; /* that it has named and not done with */
        Post post;
        sd_event_source *io;
        Passenger *passenger; /* NULL: it speaks to the manager itself */
        bool is_same_user;
} Launcher;

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata);

static char *run_of(const char *id, const char *owner) {
        return g_strdup_printf("%s %s", id, owner);
}

/* False: it has not named it, or is done with it. */
static bool launcher_drops(Launcher *launcher, const char *id) {
        g_autofree char *run = run_of(id, launcher->owner);

        if (g_hash_table_lookup(launcher->guard->watched, run) == launcher)
                g_hash_table_remove(launcher->guard->watched, run);
        return g_hash_table_remove(launcher->ids, id);
}

static char **ids_of(const Launcher *launcher) {
        g_autofree char **ids = (char **)g_hash_table_get_keys_as_array(launcher->ids, NULL);

        return g_strdupv(ids);
}

static void launcher_drops_all(Launcher *launcher) {
        g_auto(GStrv) ids = ids_of(launcher);

        for (char **id = ids; *id; id++)
                (void)launcher_drops(launcher, *id);
}

static void launcher_free(gpointer data) {
        Launcher *launcher = data;

        launcher_drops_all(launcher);
        passenger_free(launcher->passenger);
        sd_event_source_disable_unref(launcher->io);
        (void)close(launcher->fd);
        post_clear(&launcher->post);
        g_hash_table_unref(launcher->ids);
        g_free(launcher->owner);
        g_free(launcher);
}

static bool is_busy(const Guard *guard) {
        return guard->sweep || guard->adoption || g_hash_table_size(guard->launchers) > 0 ||
               orphanages_count(guard->orphanages) > 0 || endings_count(guard->endings) > 0 ||
               clearings_count(guard->clearings) > 0;
}

static void linger_if_idle(Guard *guard) {
        int r;

        if (is_busy(guard) && guard->is_stopped)
                return;
        guard->linger = sd_event_source_disable_unref(guard->linger);
        if (guard->is_stopped)
                (void)sd_event_exit(guard->event, 0);
        if (is_busy(guard) || guard->is_stopped)
                return;
        r = sd_event_add_time_relative(guard->event, &guard->linger, CLOCK_MONOTONIC,
                                       GUARD_LINGER_USEC, 1, on_linger, guard);
        g_assert(r >= 0);
}

static void on_ended(const char *id, void *userdata) {
        slots_sweep();
        linger_if_idle(userdata);
}

static void end_run(Guard *guard, const char *id, const char *owner) {
        g_autofree char *directory = g_path_get_dirname(guard->socket_path);

        rundir_remove_of(directory, owner, id);
        endings_add(guard->endings, id, owner);
        linger_if_idle(guard);
}

/* A guard that root runs for a user under the system manager must not do what that user could not. */
static bool may_end(const Guard *guard, const char *owner) {
        uid_t uid = 0;
        pid_t pid = 0;

        return caller_parse_identity(owner, &uid, &pid) && (guard->uid == 0 || uid == guard->uid);
}

/* One that was asked again names the same again. */
static bool hear_watch(Launcher *launcher, const char *const *words) {
        const char *owner = words[0], *const *ids = words + 1;

        if (!may_end(launcher->guard, owner) ||
            (launcher->owner && strcmp(launcher->owner, owner) != 0))
                return false;
        text_replace(&launcher->owner, owner);
        for (const char *const *id = ids; *id; id++) {
                if (!name_id_check(*id, NULL))
                        return false;
                g_hash_table_replace(launcher->guard->watched, run_of(*id, owner), launcher);
                g_hash_table_add(launcher->ids, g_strdup(*id));
                orphanages_drop(launcher->guard->orphanages, *id, owner);
        }
        post_put(&launcher->post, GUARD_OK, NULL, ids, g_strv_length((char **)ids));
        post_send(&launcher->post, launcher->io);
        return true;
}

static bool hear_done(Launcher *launcher, const char *const *words) {
        if (!launcher->owner)
                return false;
        if (!words[0])
                launcher_drops_all(launcher);
        for (; *words; words++)
                (void)launcher_drops(launcher, *words);
        return true;
}

/* Only the names that follow from its id. Who watches over another user's runs looks whose they are first. */
static bool hear_clear(Launcher *launcher, const char *const *words) {
        Guard *guard = launcher->guard;
        const char *id = words[0];

        if (!launcher->owner || !id || !words[1] || !words[2] || words[3] ||
            !clearing_is_of(id, words[1], words[2]) || !launcher_drops(launcher, id))
                return false;
        if (guard->relay)
                clearings_add(guard->clearings, id, launcher->owner, words[1], words[2]);
        else
                end_run(guard, id, launcher->owner);
        return true;
}

static void on_cleared(bool is_cleared, const char *id, const char *owner, void *userdata) {
        Guard *guard = userdata;

        if (!is_cleared)
                end_run(guard, id, owner);
        slots_sweep();
        linger_if_idle(guard);
}

/* Also of what it has not named: the guard that it did so to is gone. */
static bool hear_end(Launcher *launcher, const char *const *words) {
        const char *owner = words[0], *const *ids = words + 1;

        if (!may_end(launcher->guard, owner) ||
            (launcher->owner && strcmp(launcher->owner, owner) != 0))
                return false;
        for (; *ids; ids++) {
                if (!name_id_check(*ids, NULL))
                        return false;
                if (launcher->owner)
                        (void)launcher_drops(launcher, *ids);
                orphanages_drop(launcher->guard->orphanages, *ids, owner);
                end_run(launcher->guard, *ids, owner);
        }
        return true;
}

static const struct {
        const char *verb;
        bool (*hear)(Launcher *launcher, const char *const *words);
} verbs[] = {
        { GUARD_WATCH, hear_watch },
        { GUARD_DONE, hear_done },
        { GUARD_CLEAR, hear_clear },
        { GUARD_END, hear_end },
};

/* False: that is no launcher of ours. */
static bool launcher_says(Launcher *launcher, const char *text) {
        g_auto(GStrv) words = g_strsplit(text, " ", -1);

        for (size_t i = 0; words[0] && i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(words[0], verbs[i].verb) == 0)
                        return verbs[i].hear(launcher, (const char *const *)words + 1);
        return false;
}

static void launcher_leaves(Launcher *launcher) {
        Guard *guard = launcher->guard;
        g_auto(GStrv) ids = ids_of(launcher);

        for (char **id = ids; *id; id++)
                end_run(guard, *id, launcher->owner);
        g_hash_table_remove(guard->launchers, launcher);
        linger_if_idle(guard);
}

/* Who may not finds end of file, and goes to the manager himself. */
static void take_on(Launcher *launcher, int fd) {
        if (launcher->is_same_user && launcher->guard->relay && !launcher->passenger)
                launcher->passenger = passenger_new(launcher->guard->relay, fd);
        else
                (void)close(fd);
}

static int on_launcher(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Launcher *launcher = userdata;
        char text[GUARD_MESSAGE_MAX] = "";
        int passed_fd = -1;
        ssize_t n;

        if (events & EPOLLOUT)
                post_send(&launcher->post, source);
        n = guard_receive(fd, text, sizeof text - 1, &passed_fd);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0 && passed_fd >= 0 && strcmp(text, GUARD_RELAY) == 0) {
                take_on(launcher, passed_fd);
                return 0;
        }
        if (passed_fd >= 0)
                (void)close(passed_fd); /* whatever it is to be */
        if (n <= 0 || passed_fd >= 0 || !launcher_says(launcher, text))
                launcher_leaves(launcher);
        return 0;
}

static bool peer_may(const Guard *guard, int fd, bool *ret_is_same_user) {
        struct ucred peer;
        socklen_t size = sizeof peer;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
                return false;
        *ret_is_same_user = peer.uid == geteuid();
        return peer.uid == guard->uid || peer.uid == 0;
}

static void add_launcher(Guard *guard, int fd, bool is_same_user) {
        Launcher *launcher = g_new0(Launcher, 1);
        int r;

        launcher->guard = guard;
        launcher->fd = fd;
        launcher->is_same_user = is_same_user;
        launcher->post = (Post)POST_INIT;
        launcher->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        r = sd_event_add_io(guard->event, &launcher->io, fd, EPOLLIN, on_launcher, launcher);
        g_assert(r >= 0);
        g_hash_table_add(guard->launchers, launcher);
        if (!guard->is_stopped)
                guard->linger = sd_event_source_disable_unref(guard->linger);
}

static bool accept_one(Guard *guard) {
        int fd = accept4(guard->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        bool is_same_user = false;

        if (fd < 0)
                return false;
        if (peer_may(guard, fd, &is_same_user))
                add_launcher(guard, fd, is_same_user);
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
        slots_sweep();
        remove_directory(guard);
        (void)sd_event_exit(guard->event, 0);
}

/* A slice of that name, which the manager may have made by itself, is to go with the last one in it. Refused when it is
 * as it should be. */
static ManagerCall *adopt_slice(Guard *guard, const char *slice, ManagerReply handler) {
        g_autoptr(PropertyList) properties = guard_slice_properties();
        ManagerCaller caller = {
                .bus = guard->bus, .event = guard->event, .handler = handler, .userdata = guard
        };

        return manager_start_transient(caller, slice, properties, NULL, NULL);
}

static void on_adopted(sd_bus_message *reply, const GError *error, void *userdata) {
        Guard *guard = userdata;

        g_clear_pointer(&guard->adoption, manager_call_free);
        g_clear_pointer(&guard->pool_adoptions, g_ptr_array_unref);
        hang_up(guard);
        if (!is_busy(guard))
                leave(guard);
}

static bool is_of_pools(const char *unit) {
        g_autofree char *pool = name_pool_from_unit(unit);

        return pool || strcmp(unit, NAME_POOL_ROOT) == 0;
}

/* A launcher that was killed before it had made its pool's slice what it should be. */
static void on_pools_listed(sd_bus_message *reply, const GError *error, void *userdata) {
        Guard *guard = userdata;
        g_autoptr(GPtrArray) units = NULL;

        if (reply && !manager_read_units(reply, &units, NULL))
                units = NULL;
        guard->pool_adoptions = g_ptr_array_new_with_free_func((GDestroyNotify)manager_call_free);
        for (guint i = 0; units && i < units->len; i++) {
                const ManagerUnit *unit = g_ptr_array_index(units, i);

                if (is_of_pools(unit->name))
                        g_ptr_array_add(guard->pool_adoptions,
                                        adopt_slice(guard, unit->name, NULL));
        }
        manager_call_free(guard->adoption);
        guard->adoption = adopt_slice(guard, NAME_ROOT_SLICE, on_adopted);
}

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata) {
        Guard *guard = userdata;
        static const char *const patterns[] = { NAME_PREFIX "pool*.slice", NULL };
        ManagerCaller caller = { .event = guard->event,
                                 .handler = on_pools_listed,
                                 .userdata = guard };

        guard->linger = sd_event_source_disable_unref(guard->linger);
        if (!connect_to_manager(guard, NULL)) {
                hang_up(guard);
                leave(guard);
                return 0;
        }
        caller.bus = guard->bus;
        guard->adoption = manager_list_units(caller, patterns);
        return 0;
}

static int on_stayed(sd_event_source *source, uint64_t usec, void *userdata);

static int stay(Guard *guard) {
        guard->linger = sd_event_source_disable_unref(guard->linger);
        return sd_event_add_time_relative(guard->event, &guard->linger, CLOCK_MONOTONIC,
                                          GUARD_LINGER_USEC, 1, on_stayed, guard);
}

/* As long as units of theirs are being stopped there are news of them. */
static int on_stayed(sd_event_source *source, uint64_t usec, void *userdata) {
        Guard *guard = userdata;
        uint64_t heard = guard->relay ? relay_heard_usec(guard->relay) : 0;

        if (heard + GUARD_LINGER_USEC > (uint64_t)g_get_monotonic_time())
                return stay(guard);
        return sd_event_exit(guard->event, 0);
}

/* Stopped at the manager: who needs a guard starts another one. It may be that all is stopped with it, and launchers hear
 * only from us how: they would be back at the manager too late. */
static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Guard *guard = userdata;

        (void)unlink(guard->socket_path);
        remove_directory(guard);
        guard->is_stopped = true;
        return is_busy(guard) ? stay(guard) : sd_event_exit(guard->event, 0);
}

static int watch_stop(Guard *guard) {
        sigset_t term;

        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        (void)sigprocmask(SIG_BLOCK, &term, NULL);
        return sd_event_add_signal(guard->event, NULL, SIGTERM, on_stop, guard);
}

static void on_orphan(const char *id, const char *owner, void *userdata) {
        end_run(userdata, id, owner);
}

static void sweep_unit(Guard *guard, const ManagerUnit *unit) {
        g_autofree char *id = name_id_from_unit(unit->name);
        g_autofree char *owner = name_owner_from_description(unit->description);
        g_autofree char *run = NULL;

        if (!id || !may_end(guard, owner))
                return;
        run = run_of(id, owner);
        if (g_hash_table_contains(guard->watched, run))
                return;
        if (!orphanages_add(guard->orphanages, id, owner))
                end_run(guard, id, owner);
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
        guard->watched = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        guard->orphanages = orphanages_new(event, on_orphan, guard);
        guard->ground = cgroup_find(getpid(), NAME_ROOT_SLICE, NULL);
        guard->endings = endings_new(event, guard->manager_socket, guard->ground, on_ended, guard);
        if (guard->uid == geteuid())
                guard->relay = relay_new(event, guard->manager_socket);
        guard->clearings = clearings_new(guard->relay, on_cleared, guard);

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
                add_launcher(guard, settings->first_fd, false); /* it has a connection of its own */
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
        g_hash_table_unref(guard->watched);
        orphanages_free(guard->orphanages);
        endings_free(guard->endings);
        clearings_free(guard->clearings);
        relay_free(guard->relay);
        cgroup_free(guard->ground);
        manager_call_free(guard->sweep);
        manager_call_free(guard->adoption);
        g_clear_pointer(&guard->pool_adoptions, g_ptr_array_unref);
        sd_bus_close_unref(guard->bus);
        sd_event_source_disable_unref(guard->accept);
        sd_event_source_disable_unref(guard->linger);
        sd_event_unref(guard->event);
        g_free(guard->manager_socket);
        g_free(guard->socket_path);
        g_free(guard->closing_path);
        g_free(guard);
}
