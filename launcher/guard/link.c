/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One connection for all runs of a process; what is said over it travels by post, for it may be full.
 *
 * Connecting is quick where a guard runs. Where none does, we start one and give it one end of a socket pair as its standard
 * input: it is our connection already, and no file is left anywhere should we die in between. Two launchers that start one
 * at the same time: the manager accepts one unit; the other tries again until that one listens. */

#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbus/error.h"
#include "dbus/manager.h"
#include "launcher/kernel/error.h"
#include "launcher/obstacle.h"
#include "post.h"
#include "protocol.h"
#include "slice.h"
#include "socket.h"
#include "units/compose.h"
#include "units/name.h"

#define RETRY_USEC         (10 * 1000)
#define STATUS_EXEC_FAILED 203 /* of systemd */
#define PATIENCE_USEC      (60 * G_USEC_PER_SEC)
/* For a run that has started and has lost its guard: who masked it may have second thoughts. */
#define HOPE_USEC          (5 * G_USEC_PER_SEC)

struct GuardLink {
        sd_event *event;
        const Door *door;
        char *owner;
        GHashTable *watches; /* of GuardWatch*, by id */
        Post post;

        int given_fd; /* from the door; −1: none, or used */
        int fd;       /* to the guard; −1 */
        sd_event_source *io, *retry;
        bool is_heard;    /* over this connection */
        bool was_watched; /* any of them, ever */
        uint64_t deadline_usec;
        GError *error;

        char *socket_path;
        bool is_slice_there; /* cordon.slice exists: do not make it again */
        bool is_starting;    /* the manager has not answered yet */
        ManagerCall *start;
};

struct GuardWatch {
        GuardLink *link;
        char *id;
        GuardLinkHandler handler;
        void *userdata;
        bool is_watched;
};

static void begin(GuardLink *link);

/* What is to be ended is still to be said, to the next guard. */
static void link_close(GuardLink *link) {
        post_forget_but(&link->post, GUARD_END);
        link->io = sd_event_source_disable_unref(link->io);
        if (link->fd >= 0)
                (void)close(link->fd);
        link->fd = -1;
        link->is_heard = false;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        GuardLink *link = userdata;

        link->retry = sd_event_source_disable_unref(link->retry);
        begin(link);
        return 0;
}

static int retry_in(GuardLink *link, uint64_t usec) {
        link->retry = sd_event_source_disable_unref(link->retry);
        return sd_event_add_time_relative(link->event, &link->retry, CLOCK_MONOTONIC, usec, 1,
                                          on_retry, link);
}

static const char *const *ids_of(const GuardLink *link, guint *ret_count) {
        return (const char *const *)g_hash_table_get_keys_as_array(link->watches, ret_count);
}

/* A handler may make watches come and go. */
static void tell(GuardLink *link, const char *const *ids, bool is_watched) {
        for (; *ids; ids++) {
                GuardWatch *watch = g_hash_table_lookup(link->watches, *ids);

                if (!watch)
                        continue;
                watch->is_watched = is_watched;
                watch->handler(watch->userdata);
        }
}

static void tell_all(GuardLink *link) {
        guint count = 0;
        g_autofree const char *const *keys = ids_of(link, &count);
        g_auto(GStrv) ids = g_strdupv((char **)keys);

        tell(link, (const char *const *)ids, false);
}

static void link_put(GuardLink *link, const char *verb, const char *owner, const char *const *ids,
                     guint count) {
        post_put(&link->post, verb, owner, ids, count);
        if (link->io)
                post_send(&link->post, link->io);
        else
                post_forget_but(&link->post, GUARD_END);
}

/* Ours to close, so it must not look as if we had vanished. */
static void link_leave(GuardLink *link) {
        const char *const none[] = { NULL };

        if (link->io)
                link_put(link, GUARD_DONE, NULL, none, 0);
        link_close(link);
}

static void give_up(GuardLink *link, const char *why) {
        link_leave(link);
        if (!link->error)
                g_set_error(&link->error, LAUNCHER_ERROR, LAUNCHER_ERROR_GUARD,
                            "no guard could be had, which would end the run if cordon died: %s",
                            why);
        if (link->was_watched)
                (void)retry_in(link, HOPE_USEC);
        tell_all(link);
}

static void try_again(GuardLink *link, const char *why) {
        uint64_t now = (uint64_t)g_get_monotonic_time();
        int r;

        link_leave(link);
        if (now >= link->deadline_usec) {
                give_up(link, why);
                return;
        }
        r = retry_in(link, RETRY_USEC);
        if (r < 0)
                give_up(link, g_strerror(-r));
}

/* Us and all of our runs. */
static void greet(GuardLink *link) {
        guint count = 0;
        g_autofree const char *const *ids = ids_of(link, &count);

        link_put(link, GUARD_WATCH, link->owner, ids, count);
}

static void note_lost(GuardLink *link) {
        GHashTableIter iter;
        gpointer watch;

        g_hash_table_iter_init(&iter, link->watches);
        while (g_hash_table_iter_next(&iter, NULL, &watch))
                ((GuardWatch *)watch)->is_watched = false;
}

/* False: it is none of ours. */
static bool hear(GuardLink *link, const char *text) {
        g_auto(GStrv) words = g_strsplit(text, " ", -1);

        if (g_strcmp0(words[0], GUARD_WHO) == 0) {
                greet(link);
                return true;
        }
        if (g_strcmp0(words[0], GUARD_OK) != 0)
                return false;
        link->is_heard = link->was_watched = true;
        g_clear_error(&link->error);
        tell(link, (const char *const *)words + 1, true);
        return true;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        GuardLink *link = userdata;
        char text[GUARD_MESSAGE_MAX] = "";
        ssize_t n;

        if (events & EPOLLOUT)
                post_send(&link->post, source);
        n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
        if ((n < 0 && (errno == EAGAIN || errno == EINTR)) || (n > 0 && hear(link, text)))
                return 0;

        /* A manager that refuses the start drops the other end, and says so next. */
        if (link->is_starting) {
                link_close(link);
                return 0;
        }

        /* It left, or was killed: the next one is told anew. It has as long as the first had. */
        link->deadline_usec = (uint64_t)g_get_monotonic_time() + PATIENCE_USEC;
        note_lost(link);
        try_again(link, "it hung up");
        return 0;
}

/* Takes the descriptor. */
static int link_adopt(GuardLink *link, int fd) {
        int r;

        link_close(link);
        link->fd = fd;
        r = sd_event_add_io(link->event, &link->io, fd, EPOLLIN, on_io, link);
        if (r >= 0)
                greet(link);
        return r;
}

static int link_connect(GuardLink *link) {
        int fd = link->given_fd;

        link->given_fd = -1;
        if (fd < 0)
                fd = guard_connect(link->socket_path);
        return fd < 0 ? fd : link_adopt(link, fd);
}

static GVariant *command_line(const GuardLink *link) {
        g_autofree char *program = door_program_path("cordon-guard");
        g_autofree char *uid = g_strdup_printf("%u", (unsigned)geteuid());
        const char *manager = link->door->socket_path ?: "/run/systemd/private";
        const char *argv[] = { "cordon-guard", manager, link->socket_path, uid, NULL };
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(sasb)"));

        g_variant_builder_add(builder, "(s^asb)", program, argv, FALSE);
        return g_variant_builder_end(builder);
}

/* "(aiai)": exit statuses and signals. */
static GVariant *exit_statuses(int32_t status) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("(aiai)"));

        g_variant_builder_add_value(builder, g_variant_new_fixed_array(G_VARIANT_TYPE_INT32,
                                                                       &status, 1, sizeof status));
        g_variant_builder_add_value(builder, g_variant_new_array(G_VARIANT_TYPE_INT32, NULL, 0));
        return g_variant_builder_end(builder);
}

static PropertyList *guard_properties(const GuardLink *link, int guard_fd) {
        PropertyList *list = property_list_new();

        property_list_set_string(list, "Description",
                                 "Guard of cordon: ends the sandboxes of launchers that vanished");
        property_list_set_string(list, "Slice", NAME_ROOT_SLICE);
        compose_accounting(list);
        property_list_set(list, "ExecStart", command_line(link));
        property_list_set_fd(list, "StandardInputFileDescriptor", guard_fd);
        property_list_set_string(list, "StandardOutput", "null");
        property_list_set_string(list, "StandardError", "null");
        property_list_set_string(list, "Restart", "on-failure");
        property_list_set_uint64(list, "RestartUSec", 0);
        /* Killed again and again it comes again; one that cannot run stops trying, and at once where its file is gone. */
        property_list_set(list, "StartLimitBurst", g_variant_new_uint32(50));
        property_list_set(list, "RestartPreventExitStatus", exit_statuses(STATUS_EXEC_FAILED));
        property_list_set_string(list, "CollectMode", "inactive-or-failed");
        /* A manager that ends stops everything else first: until then somebody must kill what vanished launchers left. */
        property_list_set_bool(list, "DefaultDependencies", false);
        return list;
}

static void on_guard_started(sd_bus_message *reply, const GError *error, void *userdata) {
        GuardLink *link = userdata;

        link->is_starting = false;
        if (link->is_heard) /* late to say, but it runs */
                return;
        if (!error) {
                if (link->fd < 0)
                        try_again(link, "it ended at once");
                return;
        }
        if (obstacle_is_passing(error)) {
                link->is_slice_there = false; /* a manager may not find it until it is made anew */
                try_again(link, error->message);
                return;
        }
        if (!g_error_matches(error, DBUS_ERROR, DBUS_ERROR_EXISTS)) {
                give_up(link, error->message);
                return;
        }

        /* Somebody else starts one this very moment, or the slice was left by one that was killed. */
        link->is_slice_there = !link->is_slice_there;
        try_again(link, "another one is in the way");
}

static void send_start(GuardLink *link, int guard_fd) {
        g_autofree char *unit = g_strdup_printf("cordon-guard-%d-%u.service", GUARD_PROTOCOL,
                                                (unsigned)geteuid());
        g_autoptr(PropertyList) properties = guard_properties(link, guard_fd);
        g_autoptr(PropertyList) slice = guard_slice_properties();
        ManagerCaller caller = { .bus = link->door->bus,
                                 .event = link->event,
                                 .handler = on_guard_started,
                                 .userdata = link };

        g_clear_pointer(&link->start, manager_call_free);
        link->is_starting = true;
        link->start = manager_start_transient(caller, unit, properties,
                                              link->is_slice_there ? NULL : NAME_ROOT_SLICE, slice);
}

/* Files may have been removed under a launcher that runs. Another one, of another place, may still have its own: ours must
 * not be in its way. */
static bool can_start(GuardLink *link) {
        g_autofree char *program = door_program_path("cordon-guard");
        g_autofree char *why = NULL;

        if (access(program, X_OK) >= 0)
                return true;
        why = g_strdup_printf("%s: %s", program, g_strerror(errno));
        if (link->was_watched)
                try_again(link, why);
        else
                give_up(link, why);
        return false;
}

static void start_guard(GuardLink *link) {
        int ends[2];
        int r;

        if (sd_bus_is_ready(link->door->bus) == 0) { /* a new connection, to one that was away */
                try_again(link, "the manager does not answer");
                return;
        }
        if (!can_start(link))
                return;
        r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);

        if (r == 0)
                r = link_adopt(link, ends[0]);
        else
                r = -errno;
        if (r < 0) {
                try_again(link, g_strerror(-r));
                return;
        }
        send_start(link, ends[1]);
        (void)close(ends[1]); /* the message has a copy */
}

static void begin(GuardLink *link) {
        int r = link_connect(link);

        if (r == -ENOENT || r == -ECONNREFUSED)
                start_guard(link);
        else if (r == -EAGAIN || r == -EPIPE || r == -ECONNRESET)
                try_again(link, g_strerror(-r));
        else if (r < 0)
                give_up(link, g_strerror(-r)); /* it will not get better */
}

GuardLink *guard_link_new(sd_event *event, Door *door, const char *owner) {
        GuardLink *link = g_new0(GuardLink, 1);

        link->event = sd_event_ref(event);
        link->door = door;
        link->owner = g_strdup(owner);
        link->watches = g_hash_table_new(g_str_hash, g_str_equal);
        link->post = (Post)POST_INIT;
        link->fd = -1;
        link->given_fd = door->guard_fd;
        door->guard_fd = -1;
        link->socket_path = guard_socket_path(door->guard_dir, door->socket_path != NULL);
        return link;
}

/* Whether the start was carried out shows on the pair: greeted, or closed. */
void guard_link_reopened(GuardLink *link) {
        bool was_starting = link->is_starting;

        link->is_starting = false;
        g_clear_pointer(&link->start, manager_call_free);
        if (was_starting && link->fd < 0)
                try_again(link, "the manager went away");
}

void guard_link_free(GuardLink *link) {
        if (!link)
                return;
        g_assert(g_hash_table_size(link->watches) == 0);
        link_close(link);
        if (link->given_fd >= 0)
                (void)close(link->given_fd);
        post_clear(&link->post);
        sd_event_source_disable_unref(link->retry);
        manager_call_free(link->start);
        sd_event_unref(link->event);
        g_clear_error(&link->error);
        g_hash_table_unref(link->watches);
        g_free(link->socket_path);
        g_free(link->owner);
        g_free(link);
}

/* Where none could be had, one may be by now. */
static void begin_anew(GuardLink *link) {
        link->retry = sd_event_source_disable_unref(link->retry);
        g_clear_error(&link->error);
        link->deadline_usec = (uint64_t)g_get_monotonic_time() + PATIENCE_USEC;
        begin(link);
}

GuardWatch *guard_watch_new(GuardLink *link, const char *id, GuardLinkHandler handler,
                            void *userdata) {
        GuardWatch *watch = g_new0(GuardWatch, 1);
        const char *const ids[] = { id };

        watch->link = link;
        watch->id = g_strdup(id);
        watch->handler = handler;
        watch->userdata = userdata;
        g_assert(!g_hash_table_contains(link->watches, id));
        g_hash_table_insert(link->watches, watch->id, watch);
        if (link->io)
                link_put(link, GUARD_WATCH, link->owner, ids, 1);
        else if (link->error || (!link->retry && !link->is_starting))
                begin_anew(link);
        return watch;
}

static void leave(GuardWatch *watch, const char *verb, const char *owner) {
        const char *const ids[] = { watch->id };

        if (g_hash_table_remove(watch->link->watches, watch->id))
                link_put(watch->link, verb, owner, ids, 1);
}

void guard_watch_done(GuardWatch *watch) {
        leave(watch, GUARD_DONE, NULL);
}

bool guard_watch_clear(GuardWatch *watch, const char *slice, const char *unit) {
        const char *const words[] = { watch->id, slice, unit };

        if (!watch->is_watched || !watch->link->io ||
            !post_send_now(&watch->link->post, watch->link->io, GUARD_CLEAR, words,
                           G_N_ELEMENTS(words)))
                return false;
        (void)g_hash_table_remove(watch->link->watches, watch->id);
        return true;
}

void guard_watch_free(GuardWatch *watch) {
        if (!watch)
                return;
        leave(watch, GUARD_END, watch->link->owner);
        g_free(watch->id);
        g_free(watch);
}

bool guard_watch_is_watched(const GuardWatch *watch) {
        return watch->is_watched;
}

const GError *guard_watch_error(const GuardWatch *watch) {
        return watch->link->error;
}
