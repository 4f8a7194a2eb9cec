/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A call goes on as it came, and its answer goes back; a signal goes to who has started the unit that it is about, and those
 * about the manager itself to all. The connection stays a moment after the last one has left, for the next one. When the
 * manager hangs up, so do we: launchers know how to wait for it. */

#include "relay.h"

#include <string.h>
#include <unistd.h>

#include "connect.h"
#include "manager.h"
#include "snapshot.h"

/* Signals that nobody reads cost the manager something, too. */
#define LINGER_USEC (100 * 1000)

struct Relay {
        sd_event *event;
        char *manager_socket;
        sd_bus *bus;     /* NULL: not needed just now */
        bool is_hung_up; /* … or it has ended, and all have heard so */
        unsigned holds;
        uint64_t heard_usec;
        sd_event_source *linger;
        GHashTable *passengers; /* of Passenger* */
        GHashTable *by_unit,
                *by_path; /* name and path of a unit → Passenger*, who has started it */
};

struct Passenger {
        Relay *relay;
        sd_bus *bus;
        GHashTable *calls; /* of Call*, that the manager has not answered */
};

typedef struct {
        Passenger *passenger;
        sd_bus_message *message; /* as the launcher sent it */
        char *unit;              /* that it starts; NULL: none */
        sd_bus_slot *slot;
} Call;

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

static void close_bus(sd_bus **bus) {
        if (*bus)
                sd_bus_detach_event(*bus);
        *bus = sd_bus_close_unref(*bus);
}

/* ---- passengers ---- */

static void call_free(gpointer data) {
        Call *call = data;

        sd_bus_slot_unref(call->slot);
        sd_bus_message_unref(call->message);
        g_free(call->unit);
        g_free(call);
}

static void set_listener(Passenger *passenger, const char *unit) {
        g_hash_table_insert(passenger->relay->by_unit, g_strdup(unit), passenger);
        g_hash_table_insert(passenger->relay->by_path, manager_unit_path(unit), passenger);
}

static void drop_listener(Passenger *passenger, const char *unit) {
        g_autofree char *path = manager_unit_path(unit);

        if (g_hash_table_lookup(passenger->relay->by_unit, unit) != passenger)
                return;
        g_hash_table_remove(passenger->relay->by_unit, unit);
        g_hash_table_remove(passenger->relay->by_path, path);
}

/* Who starts a unit hears of it, from before the answer on; but who asks for one that another one has is refused in a
 * moment. */
static void await_unit(Passenger *passenger, const char *unit) {
        if (!g_hash_table_contains(passenger->relay->by_unit, unit))
                set_listener(passenger, unit);
}

static void settle_unit(Passenger *passenger, const char *unit, bool is_started) {
        if (is_started)
                set_listener(passenger, unit);
        else
                drop_listener(passenger, unit);
}

static gboolean is_of(gpointer key, gpointer value, gpointer passenger) {
        return value == passenger;
}

/* He finds end of file. */
static void hang_up(Passenger *passenger) {
        g_hash_table_remove_all(passenger->calls);
        g_hash_table_foreach_remove(passenger->relay->by_unit, is_of, passenger);
        g_hash_table_foreach_remove(passenger->relay->by_path, is_of, passenger);
        close_bus(&passenger->bus);
}

static int copy_all(sd_bus_message *from, sd_bus_message *to) {
        return sd_bus_message_copy(to, from, true);
}

static void pass_on(Passenger *passenger, sd_bus_message *copy, sd_bus_message *original,
                    int (*fill)(sd_bus_message *from, sd_bus_message *to), int r) {
        if (r >= 0)
                r = sd_bus_message_rewind(original, true);
        if (r >= 0)
                r = fill(original, copy);
        if (r >= 0)
                r = sd_bus_send(passenger->bus, copy, NULL);
        if (r < 0)
                hang_up(passenger);
}

/* What sd-bus answers itself when the manager hangs up is no answer: who asked finds end of file, as the manager's would. */
static int on_answer(sd_bus_message *answer, void *userdata, sd_bus_error *ret_error) {
        Call *call = userdata;
        Passenger *passenger = call->passenger;
        g_autoptr(sd_bus_message) copy = NULL;
        g_autoptr(sd_bus_message) asked = sd_bus_message_ref(call->message);
        const sd_bus_error *error = sd_bus_message_get_error(answer);

        if (call->unit)
                settle_unit(passenger, call->unit, !error);
        g_hash_table_remove(passenger->calls, call);
        if (!error) {
                int r = sd_bus_message_new_method_return(asked, &copy);

                pass_on(passenger, copy, answer, copy_all, r);
        } else if (sd_bus_is_open(passenger->relay->bus) <= 0 ||
                   sd_bus_reply_method_error(asked, error) < 0) {
                hang_up(passenger);
        }
        return 0;
}

/* NULL: it starts none. */
static char *unit_of(sd_bus_message *message) {
        const char *unit = NULL;
        char *copy = NULL;

        if (!sd_bus_message_is_method_call(message, MANAGER_INTERFACE, "StartTransientUnit"))
                return NULL;
        if (sd_bus_message_read_basic(message, 's', &unit) > 0)
                copy = g_strdup(unit);
        (void)sd_bus_message_rewind(message, true);
        return copy;
}

/* However long the manager takes: the launcher has its own patience. */
static int pass_call(Passenger *passenger, sd_bus_message *message) {
        g_autoptr(sd_bus_message) copy = NULL;
        sd_bus *bus = passenger->relay->bus;
        Call *call = g_new0(Call, 1);
        int r = sd_bus_message_new_method_call(bus, &copy, sd_bus_message_get_destination(message),
                                               sd_bus_message_get_path(message),
                                               sd_bus_message_get_interface(message),
                                               sd_bus_message_get_member(message));

        call->passenger = passenger;
        call->message = sd_bus_message_ref(message);
        call->unit = unit_of(message);
        if (call->unit)
                await_unit(passenger, call->unit);
        g_hash_table_add(passenger->calls, call);
        if (r >= 0)
                r = sd_bus_message_copy(copy, message, true);
        return r < 0 ? r : sd_bus_call_async(bus, &call->slot, copy, on_answer, call, UINT64_MAX);
}

static int on_launcher(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Passenger *passenger = userdata;

        if (sd_bus_message_is_signal(message, "org.freedesktop.DBus.Local", "Disconnected")) {
                hang_up(passenger);
                return 1;
        }
        if (!sd_bus_message_is_method_call(message, NULL, NULL))
                return 0;
        if (pass_call(passenger, message) < 0)
                hang_up(passenger);
        return 1;
}

static sd_bus *serve(Passenger *passenger, int fd) {
        sd_bus *bus = NULL;
        sd_id128_t id;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd); /* takes it */
        if (r < 0)
                (void)close(fd);
        if (r >= 0)
                r = sd_id128_randomize(&id);
        if (r >= 0)
                r = sd_bus_set_server(bus, true, id);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, passenger->relay->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = sd_bus_add_filter(bus, NULL, on_launcher, passenger);
        if (r < 0)
                close_bus(&bus);
        return bus;
}

Passenger *passenger_new(Relay *relay, int fd) {
        Passenger *passenger;

        if (!relay_hold(relay)) {
                (void)close(fd);
                return NULL;
        }
        passenger = g_new0(Passenger, 1);
        passenger->relay = relay;
        passenger->calls = g_hash_table_new_full(NULL, NULL, call_free, NULL);
        passenger->bus = serve(passenger, fd);
        g_hash_table_add(relay->passengers, passenger);
        return passenger;
}

void passenger_free(Passenger *passenger) {
        if (!passenger)
                return;
        hang_up(passenger);
        g_hash_table_remove(passenger->relay->passengers, passenger);
        relay_let_go(passenger->relay);
        g_hash_table_unref(passenger->calls);
        g_free(passenger);
}

/* ---- the manager ---- */

/* Of what a unit says of itself a launcher knows a few words out of a hundred. */
static void pass_signal(Passenger *passenger, sd_bus_message *signal) {
        bool is_change = sd_bus_message_is_signal(signal, "org.freedesktop.DBus.Properties", NULL);
        g_autoptr(sd_bus_message) copy = NULL;
        int r;

        if (!passenger || !passenger->bus)
                return;
        r = sd_bus_message_new_signal(passenger->bus, &copy, sd_bus_message_get_path(signal),
                                      sd_bus_message_get_interface(signal),
                                      sd_bus_message_get_member(signal));
        passenger->relay->heard_usec = (uint64_t)g_get_monotonic_time();
        pass_on(passenger, copy, signal, is_change ? unit_snapshot_sift : copy_all, r);
}

static void tell_all(Relay *relay, void (*tell)(Passenger *, sd_bus_message *),
                     sd_bus_message *signal) {
        GHashTableIter iter;
        gpointer passenger;

        g_hash_table_iter_init(&iter, relay->passengers);
        while (g_hash_table_iter_next(&iter, &passenger, NULL))
                tell(passenger, signal);
}

static void hang_up_on(Passenger *passenger, sd_bus_message *signal) {
        hang_up(passenger);
}

static Passenger *whom_it_concerns(const Relay *relay, sd_bus_message *signal) {
        const char *unit = NULL;
        int r = 0;

        if (sd_bus_message_is_signal(signal, "org.freedesktop.DBus.Properties", NULL))
                return g_hash_table_lookup(relay->by_path, sd_bus_message_get_path(signal));
        if (sd_bus_message_is_signal(signal, MANAGER_INTERFACE, "JobRemoved"))
                r = sd_bus_message_read(signal, "uos", NULL, NULL, &unit);
        else if (sd_bus_message_is_signal(signal, MANAGER_INTERFACE, "UnitRemoved"))
                r = sd_bus_message_read(signal, "s", &unit);
        return r > 0 && unit ? g_hash_table_lookup(relay->by_unit, unit) : NULL;
}

static int on_manager(sd_bus_message *signal, void *userdata, sd_bus_error *ret_error) {
        Relay *relay = userdata;

        if (sd_bus_message_is_signal(signal, "org.freedesktop.DBus.Local", "Disconnected")) {
                relay->is_hung_up = true;
                tell_all(relay, hang_up_on, signal);
        } else if (sd_bus_message_is_signal(signal, MANAGER_INTERFACE, "Reloading")) {
                tell_all(relay, pass_signal, signal);
        } else if (sd_bus_message_is_signal(signal, NULL, NULL)) {
                pass_signal(whom_it_concerns(relay, signal), signal);
        }
        return 0;
}

static bool connect_anew(Relay *relay) {
        close_bus(&relay->bus);
        relay->is_hung_up = false;
        if (connect_direct(relay->manager_socket, &relay->bus, NULL) &&
            sd_bus_attach_event(relay->bus, relay->event, SD_EVENT_PRIORITY_NORMAL) >= 0 &&
            sd_bus_add_filter(relay->bus, NULL, on_manager, relay) >= 0)
                return true;
        close_bus(&relay->bus);
        return false;
}

/* A connection that has ended still answers what was under way, one a turn of the loop, and says last that it has ended:
 * who waits for that would never hear of it if another took its place before. */
static bool is_ending(const Relay *relay) {
        return relay->bus && sd_bus_is_open(relay->bus) <= 0 && !relay->is_hung_up;
}

uint64_t relay_heard_usec(const Relay *relay) {
        return relay->heard_usec;
}

sd_bus *relay_hold(Relay *relay) {
        if (is_ending(relay))
                return NULL;
        if ((!relay->bus || sd_bus_is_open(relay->bus) <= 0) && !connect_anew(relay))
                return NULL;
        relay->linger = sd_event_source_disable_unref(relay->linger);
        relay->holds++;
        return relay->bus;
}

static int on_linger(sd_event_source *source, uint64_t usec, void *userdata) {
        Relay *relay = userdata;

        relay->linger = sd_event_source_disable_unref(relay->linger);
        close_bus(&relay->bus);
        return 0;
}

void relay_let_go(Relay *relay) {
        int r;

        if (--relay->holds > 0)
                return;
        r = sd_event_add_time_relative(relay->event, &relay->linger, CLOCK_MONOTONIC, LINGER_USEC,
                                       1, on_linger, relay);
        g_assert(r >= 0);
}

Relay *relay_new(sd_event *event, const char *manager_socket) {
        Relay *relay = g_new0(Relay, 1);

        relay->event = sd_event_ref(event);
        relay->manager_socket = g_strdup(manager_socket);
        relay->passengers = g_hash_table_new(NULL, NULL);
        relay->by_unit = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        relay->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return relay;
}

void relay_free(Relay *relay) {
        if (!relay)
                return;
        g_assert(g_hash_table_size(relay->passengers) == 0);
        sd_event_source_disable_unref(relay->linger);
        close_bus(&relay->bus);
        g_hash_table_unref(relay->passengers);
        g_hash_table_unref(relay->by_unit);
        g_hash_table_unref(relay->by_path);
        sd_event_unref(relay->event);
        g_free(relay->manager_socket);
        g_free(relay);
}
