/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The switchboard listens before the start call, so that nothing can happen unseen. PropertiesChanged carries the new
 * values, so they are absorbed without asking again; where values may have been missed (a new connection, a reload)
 * everything is read anew. Otherwise single properties are asked for: for all of them the manager reads a dozen cgroup
 * files. */

#include "watch.h"

#include <string.h>

#include "error.h"
#include "manager.h"
#include "units/text.h"

#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define SCOPE_INTERFACE   "org.freedesktop.systemd1.Scope"
#define SLICE_INTERFACE   "org.freedesktop.systemd1.Slice"
#define UNIT_INTERFACE    "org.freedesktop.systemd1.Unit"

typedef enum {
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

struct UnitWatch {
        Switchboard *board;    /* borrowed */
        SwitchboardLine *line; /* of the unit */
        char *slice;
        UnitWatchHandler handler;
        void *userdata;
        UnitState state;
        ManagerCall *calls[_CALL_MAX];
        sd_bus_message *told[_CHANGE_MAX]; /* the last, when there is more in it than the states */
        bool was_active;                   /* seen so, at least once */
        unsigned clears_pending;
        bool is_found; /* by the refresh under way */
};

static void news(UnitWatch *watch) {
        watch->state.manager_version = switchboard_version(watch->board);
        watch->handler(watch->userdata);
}

static void note_stopping(UnitWatch *watch) {
        if (unit_snapshot_is_stopping(&watch->state.snapshot))
                watch->state.was_stopping = true;
}

static void note_active(UnitWatch *watch) {
        if (g_strcmp0(watch->state.snapshot.active_state, "active") == 0)
                watch->was_active = true;
}

static void keep_told(UnitWatch *watch, UnitChange change, sd_bus_message *message) {
        sd_bus_message_unref(watch->told[change]);
        watch->told[change] = sd_bus_message_ref(message);
}

static void forget_change(UnitWatch *watch, UnitChange change) {
        watch->told[change] = sd_bus_message_unref(watch->told[change]);
}

static void forget_told(UnitWatch *watch) {
        for (UnitChange i = 0; i < _CHANGE_MAX; i++)
                forget_change(watch, i);
}

void unit_watch_settle(UnitWatch *watch) {
        UnitSnapshot *snapshot = &watch->state.snapshot;

        for (size_t i = 0; i < _CHANGE_MAX; i++)
                if (watch->told[i] && sd_bus_message_rewind(watch->told[i], true) >= 0)
                        (void)unit_snapshot_absorb_change(snapshot, watch->told[i]);
        forget_told(watch);
}

/* One that has not been started is at rest, too. */
static bool may_have_ended(const UnitWatch *watch) {
        const UnitState *state = &watch->state;

        return unit_snapshot_is_at_rest(&state->snapshot) &&
               (state->job_result || watch->was_active ||
                g_strcmp0(state->snapshot.active_state, "inactive") != 0);
}

/* A dozen come in the life of a unit, and reading one costs more than all else that is done for it. Until it has come to rest
 * nobody asks for more than the states; and what is told when its end is known is that it goes. */
static void on_properties(sd_bus_message *message, void *userdata) {
        UnitWatch *watch = userdata;
        UnitChange change = CHANGE_OF_KIND;

        if (unit_snapshot_glance(&watch->state.snapshot, message, &change) < 0)
                unit_watch_refresh(watch); /* unreadable news are a reason to ask, not to fail */
        else if (!unit_snapshot_has_ended(&watch->state.snapshot))
                keep_told(watch, change, message);
        note_active(watch);
        if (may_have_ended(watch))
                unit_watch_settle(watch);
        note_stopping(watch);
        news(watch);
}

/* The first job of our unit is the start job: nobody knows the name before. Its path may come later, with the reply. Stop
 * jobs come after we have asked for them, when nobody reads this any more. */
static void on_job_removed(const char *result, void *userdata) {
        UnitWatch *watch = userdata;

        if (watch->state.job_result)
                return;
        watch->state.job_result = g_strdup(result);
        if (unit_state_start_failed(&watch->state))
                unit_watch_settle(watch);
        news(watch);
}

/* Before the manager has said that it makes ours, only what we have stopped ourselves can go. */
static bool is_of_former_one(const UnitWatch *watch) {
        return !watch->state.is_accepted && !watch->state.start_error && !watch->calls[CALL_STOP];
}

static void forget_former_one(UnitWatch *watch) {
        forget_told(watch);
        unit_snapshot_clear(&watch->state.snapshot);
        g_clear_pointer(&watch->state.job_result, g_free);
        watch->state.was_stopping = watch->was_active = false;
}

/* Whose name is used again hears how the former one went, job and all, if it listens in time. */
static void on_unit_removed(void *userdata) {
        UnitWatch *watch = userdata;

        if (is_of_former_one(watch))
                forget_former_one(watch);
        else
                watch->state.is_removed = true;
        unit_watch_settle(watch);
        news(watch);
}

static void on_reloaded(void *userdata) {
        UnitWatch *watch = userdata;

        if (watch->state.is_accepted)
                unit_watch_refresh(watch);
}

static void on_connected(void *userdata) {
        UnitWatch *watch = userdata;

        watch->state.is_connected = true;
        news(watch);
}

static void on_disconnected(void *userdata) {
        UnitWatch *watch = userdata;

        watch->state.is_connected = false;
        watch->state.is_disconnected = true;
        unit_watch_settle(watch);
        news(watch);
}

static const SwitchboardListener listener = {
        .on_properties = on_properties,
        .on_job_removed = on_job_removed,
        .on_unit_removed = on_unit_removed,
        .on_reloaded = on_reloaded,
        .on_connected = on_connected,
        .on_disconnected = on_disconnected,
};

static const char *unit_of(const UnitWatch *watch) {
        return switchboard_line_unit(watch->line);
}

static void drop_calls(UnitWatch *watch) {
        for (size_t i = 0; i < _CALL_MAX; i++)
                g_clear_pointer(&watch->calls[i], manager_call_free);
        watch->state.is_refreshing = false;
        watch->clears_pending = 0;
}

static ManagerCaller caller(UnitWatch *watch, ManagerReply handler) {
        return (ManagerCaller){ .bus = switchboard_bus(watch->board),
                                .event = switchboard_event(watch->board),
                                .handler = handler,
                                .userdata = watch };
}

/* One call of a kind at a time: a newer one takes the place of an older. */
static void call_keep(UnitWatch *watch, CallSlot slot, ManagerCall *call) {
        g_clear_pointer(&watch->calls[slot], manager_call_free);
        watch->calls[slot] = call;
}

UnitWatch *unit_watch_new(Switchboard *board, const char *unit, const char *slice,
                          UnitWatchHandler handler, void *userdata) {
        UnitWatch *watch = g_new0(UnitWatch, 1);

        watch->board = board;
        watch->line = switchboard_listen(board, unit, &listener, watch);
        watch->slice = g_strdup(slice);
        watch->handler = handler;
        watch->userdata = userdata;
        watch->state.is_connected = switchboard_is_connected(board);
        watch->state.is_disconnected = switchboard_is_disconnected(board);
        unit_snapshot_init(&watch->state.snapshot);
        return watch;
}

void unit_watch_free(UnitWatch *watch) {
        if (!watch)
                return;
        drop_calls(watch);
        forget_told(watch);
        switchboard_line_free(watch->line);
        unit_snapshot_clear(&watch->state.snapshot);
        g_clear_error(&watch->state.start_error);
        g_clear_error(&watch->state.clear_error);
        g_free(watch->state.job_result);
        g_free(watch->slice);
        g_free(watch);
}

const UnitState *unit_watch_state(const UnitWatch *watch) {
        return &watch->state;
}

bool unit_state_start_failed(const UnitState *state) {
        return state->job_result && strcmp(state->job_result, "done") != 0;
}

bool unit_state_has_come_to_rest(const UnitState *state) {
        return unit_snapshot_has_ended(&state->snapshot) ||
               (state->job_result && unit_snapshot_is_at_rest(&state->snapshot));
}

bool unit_state_is_refused(const UnitState *state) {
        return state->start_error &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_NO_ANSWER) &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED);
}

/* The Disconnected signal comes after all calls have failed, and never over a connection that was dead before. */
static void note_error(UnitWatch *watch, const GError *error) {
        if (!g_error_matches(error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED))
                return;
        watch->state.is_disconnected = true;
        unit_watch_settle(watch);
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

void unit_watch_start(UnitWatch *watch, const PropertyList *unit, const PropertyList *slice) {
        ManagerCaller starter = caller(watch, on_started);

        switchboard_ask_version(watch->board); /* known also where the start is refused at once */
        call_keep(watch, CALL_START,
                  manager_start_transient(starter, unit_of(watch), unit, watch->slice, slice));
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
        if (!watch->is_found || sd_bus_message_rewind(reply, true) < 0)
                return;
        forget_change(watch, CHANGE_OF_UNIT); /* the answer is newer */
        unit_snapshot_absorb(&watch->state.snapshot, reply);
        note_active(watch);
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

        if (reply && watch->is_found) {
                forget_change(watch, CHANGE_OF_KIND);
                unit_snapshot_absorb(&watch->state.snapshot, reply);
        }
        end_refresh(watch, error);
}

void unit_watch_refresh(UnitWatch *watch) {
        ManagerCaller first = caller(watch, on_got_unit), second = caller(watch, on_got_service);
        const char *path = switchboard_line_path(watch->line);

        if (watch->state.is_disconnected)
                return;
        unit_watch_settle(watch); /* what is asked for is newer */
        watch->state.is_refreshing = true;
        watch->is_found = false;
        call_keep(watch, CALL_GET_UNIT, manager_get_all(first, path, UNIT_INTERFACE));
        call_keep(watch, CALL_GET_SERVICE,
                  manager_get_all(second, path, interface_of(unit_of(watch))));
}

static void on_pong(sd_bus_message *reply, const GError *error, void *userdata) {
        end_refresh(userdata, error);
}

/* Not asked for by name: of a scope that is forgotten the manager would make one up, and tell everybody. */
void unit_watch_catch_up(UnitWatch *watch) {
        if (watch->state.is_disconnected)
                return;
        watch->state.is_refreshing = true;
        call_keep(watch, CALL_GET_SERVICE, manager_ping(caller(watch, on_pong)));
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
        note_error(watch, error);
        watch->state.is_counted = !watch->state.is_disconnected;
        news(watch);
}

void unit_watch_count(UnitWatch *watch) {
        g_autofree char *path = manager_unit_path(watch->slice);

        if (watch->state.is_disconnected || watch->state.is_counted ||
            watch->calls[CALL_GET_NET_OUT])
                return;
        call_keep(watch, CALL_GET_NET_IN,
                  manager_get(caller(watch, on_got_net_in), path, SLICE_INTERFACE,
                              "IPIngressBytes"));
        call_keep(watch, CALL_GET_NET_OUT,
                  manager_get(caller(watch, on_got_net_out), path, SLICE_INTERFACE,
                              "IPEgressBytes"));
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
        bool is_failed;

        if (watch->state.is_disconnected || watch->clears_pending > 0)
                return;

        /* The reply must be awaited: a StopUnit whose sender is gone is lost in most of all tries (FACTS). What has ended without
         * failing goes with its slice. */
        is_failed = !unit_snapshot_has_ended_well(&watch->state.snapshot);
        watch->clears_pending = is_failed ? 2 : 1;
        watch->state.is_cleared = false;
        g_clear_error(&watch->state.clear_error);
        call_keep(watch, CALL_STOP, manager_stop_unit(caller(watch, on_cleared), watch->slice));
        if (is_failed)
                call_keep(watch, CALL_RESET,
                          manager_reset_failed(caller(watch, on_cleared), unit_of(watch)));
}

void unit_watch_go_on(UnitWatch *watch) {
        drop_calls(watch);
        watch->state.is_connected = switchboard_is_connected(watch->board);
        watch->state.is_disconnected = false; /* else it is heard of by what comes of this */
        unit_watch_refresh(watch);
}
