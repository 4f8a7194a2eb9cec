/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Watches are installed before the start call, so that nothing can happen unseen. PropertiesChanged carries the new
 * values, so they are absorbed without asking again; where values may have been missed (a new connection, a reload)
 * everything is read anew. Otherwise single properties are asked for: for all of them the manager reads a dozen cgroup
 * files. On a bus the signals must be subscribed to and must come from the manager; on a direct
 * connection both would be wrong (FACTS). */

#include "watch.h"

#include <string.h>

#include "error.h"
#include "manager.h"
#include "units/text.h"

#define UNIT_PATH_PREFIX  "/org/freedesktop/systemd1/unit"
#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define SCOPE_INTERFACE   "org.freedesktop.systemd1.Scope"
#define SLICE_INTERFACE   "org.freedesktop.systemd1.Slice"
#define UNIT_INTERFACE    "org.freedesktop.systemd1.Unit"

typedef enum {
        CALL_SUBSCRIBE,
        CALL_VERSION,
        CALL_START,
        CALL_KILL,
        CALL_GET_UNIT,
        CALL_GET_SERVICE,
        CALL_GET_NET_IN,
        CALL_GET_NET_OUT,
        CALL_STOP,
        CALL_RESET,
        _CALL_MAX,
} CallSlot;

typedef enum {
        MATCH_PROPERTIES,
        MATCH_JOB_REMOVED,
        MATCH_UNIT_REMOVED,
        MATCH_RELOADING,
        MATCH_CONNECTED,
        MATCH_DISCONNECTED,
        _MATCH_MAX,
} MatchSlot;

struct UnitWatch {
        sd_bus *bus;
        sd_event *event;
        char *unit, *slice;
        char *unit_path, *slice_path;
        UnitWatchHandler handler;
        void *userdata;
        UnitState state;
        ManagerCall *calls[_CALL_MAX];
        sd_bus_slot *matches[_MATCH_MAX];
        unsigned clears_pending;
        bool is_reloading; /* the manager, now */
        bool is_found;     /* by the refresh under way */
};

static void news(UnitWatch *watch) {
        watch->handler(watch->userdata);
}

static void note_stopping(UnitWatch *watch) {
        if (unit_snapshot_is_stopping(&watch->state.snapshot))
                watch->state.was_stopping = true;
}

static int on_properties(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;
        int r = sd_bus_message_skip(message, "s");

        if (r >= 0)
                r = unit_snapshot_absorb(&watch->state.snapshot, message);
        if (r < 0)
                unit_watch_refresh(watch); /* unreadable news are a reason to ask, not to fail */
        note_stopping(watch);
        news(watch);
        return 0;
}

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;
        const char *path = NULL, *unit = NULL, *result = NULL;
        int r = sd_bus_message_read(message, "uoss", NULL, &path, &unit, &result);

        /* The first job of our unit is the start job: nobody knows the name before. Its path may come later, with the
         * reply. Stop jobs come after we have asked for them, when nobody reads this any more. */
        if (r < 0 || strcmp(unit, watch->unit) != 0 || watch->state.job_result)
                return 0;

        watch->state.job_result = g_strdup(result);
        news(watch);
        return 0;
}

static int on_unit_removed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;
        const char *unit = NULL;

        if (sd_bus_message_read(message, "so", &unit, NULL) < 0 || strcmp(unit, watch->unit) != 0)
                return 0;

        /* A manager that reloads says of every unit that it is removed, and then that it is new. */
        if (watch->is_reloading)
                return 0;

        watch->state.is_removed = true;
        news(watch);
        return 0;
}

static int on_reloading(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;
        int active = 0;

        if (sd_bus_message_read(message, "b", &active) < 0)
                return 0;

        watch->is_reloading = active;
        if (!active && watch->state.is_accepted)
                unit_watch_refresh(watch);
        return 0;
}

static int on_connected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;

        watch->state.is_connected = true;
        news(watch);
        return 0;
}

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        UnitWatch *watch = userdata;

        watch->state.is_disconnected = true;
        news(watch);
        return 0;
}

static const struct {
        const char *path; /* NULL: the unit's own */
        const char *interface;
        const char *member;
        sd_bus_message_handler_t handler;
        bool is_local; /* made by our own sd-bus, not sent by the manager */
} signals[_MATCH_MAX] = {
        [MATCH_PROPERTIES] = { NULL, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                               on_properties, false },
        [MATCH_JOB_REMOVED] = { MANAGER_PATH, MANAGER_INTERFACE, "JobRemoved", on_job_removed,
                                false },
        [MATCH_UNIT_REMOVED] = { MANAGER_PATH, MANAGER_INTERFACE, "UnitRemoved", on_unit_removed,
                                 false },
        [MATCH_RELOADING] = { MANAGER_PATH, MANAGER_INTERFACE, "Reloading", on_reloading, false },
        [MATCH_CONNECTED] = { "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                              "Connected", on_connected, true },
        [MATCH_DISCONNECTED] = { "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                 "Disconnected", on_disconnected, true },
};

static void detach(UnitWatch *watch) {
        for (size_t i = 0; i < _MATCH_MAX; i++)
                watch->matches[i] = sd_bus_slot_unref(watch->matches[i]);
        for (size_t i = 0; i < _CALL_MAX; i++)
                g_clear_pointer(&watch->calls[i], manager_call_free);
        watch->bus = sd_bus_unref(watch->bus);
        watch->state.is_refreshing = false;
        watch->is_reloading = false;
        watch->clears_pending = 0;
}

static ManagerCaller caller(UnitWatch *watch, ManagerReply handler) {
        return (ManagerCaller){
                .bus = watch->bus, .event = watch->event, .handler = handler, .userdata = watch
        };
}

/* One call of a kind at a time: a newer one takes the place of an older. */
static void call_keep(UnitWatch *watch, CallSlot slot, ManagerCall *call) {
        g_clear_pointer(&watch->calls[slot], manager_call_free);
        watch->calls[slot] = call;
}

static void attach(UnitWatch *watch, sd_bus *bus) {
        bool is_bus = sd_bus_is_bus_client(bus) > 0;

        watch->bus = sd_bus_ref(bus);
        if (sd_bus_get_event(bus)) {
                sd_event_unref(watch->event);
                watch->event = sd_event_ref(sd_bus_get_event(bus));
        }
        watch->state.is_disconnected = false;
        watch->state.is_connected = sd_bus_is_ready(bus) > 0;
        for (size_t i = 0; i < _MATCH_MAX; i++) {
                const char *sender = is_bus && !signals[i].is_local ? MANAGER_DESTINATION : NULL;
                const char *path = signals[i].path ?: watch->unit_path;
                int r = sd_bus_match_signal_async(bus, &watch->matches[i], sender, path,
                                                  signals[i].interface, signals[i].member,
                                                  signals[i].handler, NULL, watch);

                if (r < 0)
                        watch->state.is_disconnected = true;
        }
        if (is_bus)
                call_keep(watch, CALL_SUBSCRIBE, manager_subscribe(caller(watch, NULL)));
}

UnitWatch *unit_watch_new(sd_bus *bus, const char *unit, const char *slice,
                          UnitWatchHandler handler, void *userdata) {
        UnitWatch *watch = g_new0(UnitWatch, 1);

        watch->unit = g_strdup(unit);
        watch->slice = g_strdup(slice);
        watch->handler = handler;
        watch->userdata = userdata;
        unit_snapshot_init(&watch->state.snapshot);
        if (sd_bus_path_encode(UNIT_PATH_PREFIX, unit, &watch->unit_path) < 0 ||
            sd_bus_path_encode(UNIT_PATH_PREFIX, slice, &watch->slice_path) < 0)
                g_error("out of memory");

        attach(watch, bus);
        return watch;
}

void unit_watch_free(UnitWatch *watch) {
        if (!watch)
                return;
        detach(watch);
        sd_event_unref(watch->event);
        unit_snapshot_clear(&watch->state.snapshot);
        g_clear_error(&watch->state.start_error);
        g_clear_error(&watch->state.clear_error);
        g_free(watch->state.job_result);
        g_free(watch->state.manager_version);
        free(watch->unit_path); /* sd-bus allocated these two */
        free(watch->slice_path);
        g_free(watch->unit);
        g_free(watch->slice);
        g_free(watch);
}

const UnitState *unit_watch_state(const UnitWatch *watch) {
        return &watch->state;
}

bool unit_state_start_failed(const UnitState *state) {
        return state->job_result && strcmp(state->job_result, "done") != 0;
}

bool unit_state_is_refused(const UnitState *state) {
        return state->start_error &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_NO_ANSWER) &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED);
}

static void on_version(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;
        const char *version = NULL;

        if (reply && sd_bus_message_read(reply, "v", "s", &version) >= 0)
                text_replace(&watch->state.manager_version, version);
}

/* The Disconnected signal comes after all calls have failed, and never over a connection that was dead before. */
static void note_error(UnitWatch *watch, const GError *error) {
        if (g_error_matches(error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED))
                watch->state.is_disconnected = true;
}

static void on_started(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (error)
                watch->state.start_error = g_error_copy(error);
        else
                watch->state.is_accepted = true;
        note_error(watch, error);
        news(watch);
}

/* The start first: whoever waits, waits for that. */
void unit_watch_start(UnitWatch *watch, const PropertyList *unit, const PropertyList *slice) {
        ManagerCaller starter = caller(watch, on_started);

        call_keep(watch, CALL_START,
                  manager_start_transient(starter, watch->unit, unit, watch->slice, slice));
        call_keep(watch, CALL_VERSION,
                  manager_get(caller(watch, on_version), MANAGER_PATH, MANAGER_INTERFACE,
                              "Version"));
}

void unit_watch_kill(UnitWatch *watch, int signal) {
        if (!watch->state.is_disconnected)
                call_keep(watch, CALL_KILL,
                          manager_kill_unit(caller(watch, NULL), watch->slice, signal));
}

/* Asking for a unit that is gone answers with defaults (LoadState not-found) or with an error. The defaults must not
 * take the place of what is known of its end. */
static void absorb_unit(UnitWatch *watch, sd_bus_message *reply) {
        g_auto(UnitSnapshot) seen = { 0 };

        unit_snapshot_init(&seen);
        if (unit_snapshot_absorb(&seen, reply) < 0 || !seen.load_state)
                return;
        watch->is_found = strcmp(seen.load_state, "not-found") != 0;
        watch->state.is_removed = !watch->is_found;
        if (watch->is_found && sd_bus_message_rewind(reply, true) >= 0)
                unit_snapshot_absorb(&watch->state.snapshot, reply);
}

static void on_got_unit(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (g_error_matches(error, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT))
                watch->state.is_removed = true;
        if (reply)
                absorb_unit(watch, reply);
}

static const char *interface_of(const char *unit) {
        return g_str_has_suffix(unit, ".scope") ? SCOPE_INTERFACE : SERVICE_INTERFACE;
}

static void end_refresh(UnitWatch *watch, const GError *error) {
        note_error(watch, error);
        watch->state.is_refreshing = false;
        news(watch);
}

static void on_got_service(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (reply && watch->is_found)
                unit_snapshot_absorb(&watch->state.snapshot, reply);
        end_refresh(watch, error);
}

void unit_watch_refresh(UnitWatch *watch) {
        ManagerCaller first = caller(watch, on_got_unit), second = caller(watch, on_got_service);

        if (watch->state.is_disconnected)
                return;
        watch->state.is_refreshing = true;
        watch->is_found = false;
        call_keep(watch, CALL_GET_UNIT, manager_get_all(first, watch->unit_path, UNIT_INTERFACE));
        call_keep(watch, CALL_GET_SERVICE,
                  manager_get_all(second, watch->unit_path, interface_of(watch->unit)));
}

/* A scope that is not active any more may be forgotten: what is said of it then are defaults, too. */
static void on_got_active(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;
        g_auto(UnitSnapshot) seen = { 0 };

        unit_snapshot_init(&seen);
        if (g_error_matches(error, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT))
                watch->state.is_removed = true;
        if (!reply || unit_snapshot_absorb_value(&seen, "ActiveState", reply) < 0)
                return;
        watch->is_found = g_strcmp0(seen.active_state, "inactive") != 0;
        watch->state.is_removed = !watch->is_found;
        if (watch->is_found)
                text_replace(&watch->state.snapshot.active_state, seen.active_state);
        note_stopping(watch);
}

static void on_got_result(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (reply && watch->is_found)
                unit_snapshot_absorb_value(&watch->state.snapshot, "Result", reply);
        end_refresh(watch, error);
}

void unit_watch_ask_end(UnitWatch *watch) {
        ManagerCaller first = caller(watch, on_got_active), second = caller(watch, on_got_result);

        if (watch->state.is_disconnected)
                return;
        watch->state.is_refreshing = true;
        watch->is_found = false;
        call_keep(watch, CALL_GET_UNIT,
                  manager_get(first, watch->unit_path, UNIT_INTERFACE, "ActiveState"));
        call_keep(watch, CALL_GET_SERVICE,
                  manager_get(second, watch->unit_path, interface_of(watch->unit), "Result"));
}

static void on_got_net_in(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (reply)
                unit_snapshot_absorb_value(&watch->state.snapshot, "IPIngressBytes", reply);
}

static void on_got_net_out(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        if (reply)
                unit_snapshot_absorb_value(&watch->state.snapshot, "IPEgressBytes", reply);
}

/* The manager keeps them, the kernel has no file for them. Once known they are not asked for again: of a slice that is gone
 * they are unknown. */
static void read_counters(UnitWatch *watch) {
        const UnitSnapshot *known = &watch->state.snapshot;

        if (known->net_in_bytes == UINT64_MAX)
                call_keep(watch, CALL_GET_NET_IN,
                          manager_get(caller(watch, on_got_net_in), watch->slice_path,
                                      SLICE_INTERFACE, "IPIngressBytes"));
        if (known->net_out_bytes == UINT64_MAX)
                call_keep(watch, CALL_GET_NET_OUT,
                          manager_get(caller(watch, on_got_net_out), watch->slice_path,
                                      SLICE_INTERFACE, "IPEgressBytes"));
}

static void on_cleared(sd_bus_message *reply, const GError *error, void *userdata) {
        UnitWatch *watch = userdata;

        /* A unit that is gone already, or did not fail, is what we wanted. */
        if (error && !g_error_matches(error, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT) &&
            !watch->state.clear_error)
                watch->state.clear_error = g_error_copy(error);
        note_error(watch, error);
        if (--watch->clears_pending == 0) {
                watch->state.is_cleared = !watch->state.is_disconnected;
                news(watch);
        }
}

void unit_watch_clear_away(UnitWatch *watch) {
        if (watch->state.is_disconnected || watch->clears_pending > 0)
                return;

        /* The reply must be awaited: a StopUnit whose sender is gone is lost in most of all tries (FACTS). */
        watch->clears_pending = 2;
        watch->state.is_cleared = false;
        g_clear_error(&watch->state.clear_error);
        read_counters(watch);
        call_keep(watch, CALL_STOP, manager_stop_unit(caller(watch, on_cleared), watch->slice));
        call_keep(watch, CALL_RESET, manager_reset_failed(caller(watch, on_cleared), watch->unit));
}

void unit_watch_attach(UnitWatch *watch, sd_bus *bus) {
        detach(watch);
        attach(watch, bus);
        unit_watch_refresh(watch);
}
