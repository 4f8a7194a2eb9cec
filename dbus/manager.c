/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Building and sending the handful of messages we need. A call that cannot even be sent still answers through its
 * handler, from the loop, so that callers have one road for every failure. */

#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-event.h>

#include "append.h"
#include "error.h"

struct ManagerCall {
        ManagerCaller caller;
        const char *doing;     /* static, for messages */
        sd_bus_slot *slot;     /* while the reply is awaited */
        sd_event_source *late; /* when sending failed: tells so from the loop */
        int send_error;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

void manager_call_free(ManagerCall *call) {
        if (!call)
                return;
        sd_bus_slot_unref(call->slot);
        sd_event_source_disable_unref(call->late);
        g_free(call);
}

/* sd-bus itself answers what is under way when a connection ends, by the name (NoReply) that it gives to a deadline that
 * passed, too. */
static void take_error(const ManagerCall *call, sd_bus_message *reply, GError **error) {
        if (sd_bus_is_open(call->caller.bus) > 0)
                dbus_error_take(error, -sd_bus_message_get_errno(reply),
                                sd_bus_message_get_error(reply), call->doing);
        else
                dbus_error_take(error, -ECONNRESET, NULL, call->doing);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        ManagerCall *call = userdata;
        ManagerCaller caller = call->caller;
        g_autoptr(GError) error = NULL;

        if (!caller.handler)
                return 0;
        if (sd_bus_message_is_method_error(reply, NULL))
                take_error(call, reply, &error);
        caller.handler(error ? NULL : reply, error, caller.userdata);
        return 0;
}

static int on_late_failure(sd_event_source *source, void *userdata) {
        ManagerCall *call = userdata;
        ManagerCaller caller = call->caller;
        g_autoptr(GError) error = NULL;

        dbus_error_take(&error, call->send_error, NULL, call->doing);
        caller.handler(NULL, error, caller.userdata);
        return 0;
}

static void fail_later(ManagerCall *call, int r) {
        sd_event *event = call->caller.event ?: sd_bus_get_event(call->caller.bus);

        call->send_error = r;
        if (!call->caller.handler || !event)
                return;
        r = sd_event_add_defer(event, &call->late, on_late_failure, call);
        g_assert(r >= 0);
}

static int new_method(sd_bus *bus, const char *member, sd_bus_message **ret_message) {
        return sd_bus_message_new_method_call(bus, ret_message, MANAGER_DESTINATION, MANAGER_PATH,
                                              MANAGER_INTERFACE, member);
}

/* Takes the message (NULL when r says why there is none) and sends it. */
static ManagerCall *call_send(ManagerCaller caller, const char *doing, sd_bus_message *message,
                              int r) {
        ManagerCall *call = g_new0(ManagerCall, 1);

        call->caller = caller;
        call->doing = doing;
        if (r >= 0)
                r = sd_bus_call_async(caller.bus, &call->slot, message, on_reply, call, 0);
        if (r < 0)
                fail_later(call, r);
        sd_bus_message_unref(message);
        return call;
}

static int append_slice(sd_bus_message *message, const char *slice,
                        const PropertyList *properties) {
        int r = sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "(sa(sv))");

        if (r >= 0 && slice) {
                r = sd_bus_message_open_container(message, SD_BUS_TYPE_STRUCT, "sa(sv)");
                if (r >= 0)
                        r = sd_bus_message_append(message, "s", slice);
                if (r >= 0)
                        r = append_properties(message, properties);
                if (r >= 0)
                        r = sd_bus_message_close_container(message);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

ManagerCall *manager_start_transient(ManagerCaller caller, const char *unit,
                                     const PropertyList *properties, const char *slice,
                                     const PropertyList *slice_properties) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "StartTransientUnit", &message);

        if (r >= 0)
                r = sd_bus_message_append(message, "ss", unit, "replace"); /* see manager.h */
        if (r >= 0)
                r = append_properties(message, properties);
        if (r >= 0)
                r = append_slice(message, slice, slice_properties);
        return call_send(caller, "starting the unit", message, r);
}

ManagerCall *manager_stop_unit(ManagerCaller caller, const char *unit) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "StopUnit", &message);

        if (r >= 0)
                r = sd_bus_message_append(message, "ss", unit, "replace");
        return call_send(caller, "stopping the unit", message, r);
}

ManagerCall *manager_kill_unit(ManagerCaller caller, const char *unit, int signal) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "KillUnit", &message);

        if (r >= 0)
                r = sd_bus_message_append(message, "ssi", unit, "all", signal);
        return call_send(caller, "killing the unit", message, r);
}

ManagerCall *manager_reset_failed(ManagerCaller caller, const char *unit) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "ResetFailedUnit", &message);

        if (r >= 0)
                r = sd_bus_message_append(message, "s", unit);
        return call_send(caller, "clearing the unit", message, r);
}

ManagerCall *manager_subscribe(ManagerCaller caller) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "Subscribe", &message);

        return call_send(caller, "subscribing to the manager's signals", message, r);
}

ManagerCall *manager_list_units(ManagerCaller caller, const char *const *patterns) {
        sd_bus_message *message = NULL;
        int r = new_method(caller.bus, "ListUnitsByPatterns", &message);

        if (r >= 0)
                r = sd_bus_message_append_strv(message, NULL);
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **)patterns);
        return call_send(caller, "listing units", message, r);
}

ManagerCall *manager_get_all(ManagerCaller caller, const char *path, const char *interface) {
        sd_bus_message *message = NULL;
        int r = sd_bus_message_new_method_call(caller.bus, &message, MANAGER_DESTINATION, path,
                                               "org.freedesktop.DBus.Properties", "GetAll");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", interface);
        return call_send(caller, "reading the unit", message, r);
}

ManagerCall *manager_get(ManagerCaller caller, const char *path, const char *interface,
                         const char *property) {
        sd_bus_message *message = NULL;
        int r = sd_bus_message_new_method_call(caller.bus, &message, MANAGER_DESTINATION, path,
                                               "org.freedesktop.DBus.Properties", "Get");

        if (r >= 0)
                r = sd_bus_message_append(message, "ss", interface, property);
        return call_send(caller, "asking for a property", message, r);
}

ManagerCall *manager_ping(ManagerCaller caller) {
        sd_bus_message *message = NULL;
        int r = sd_bus_message_new_method_call(caller.bus, &message, MANAGER_DESTINATION,
                                               MANAGER_PATH, "org.freedesktop.DBus.Peer", "Ping");

        return call_send(caller, "asking whether it is there", message, r);
}

char *manager_unit_path(const char *unit) {
        char *path = NULL, *copy;

        if (sd_bus_path_encode(MANAGER_UNITS_PATH, unit, &path) < 0)
                g_error("out of memory");
        copy = g_strdup(path);
        free(path); /* sd-bus allocated it */
        return copy;
}

/* Of a unit that is not loaded the manager makes one up. */
ManagerCall *manager_get_description(ManagerCaller caller, const char *unit) {
        g_autofree char *path = manager_unit_path(unit);

        return manager_get(caller, path, MANAGER_DESTINATION ".Unit", "Description");
}

char *manager_read_text(sd_bus_message *reply) {
        const char *text = NULL;

        return sd_bus_message_read(reply, "v", "s", &text) >= 0 ? g_strdup(text) : NULL;
}

static void unit_free(gpointer data) {
        ManagerUnit *unit = data;

        g_free(unit->name);
        g_free(unit->description);
        g_free(unit->active_state);
        g_free(unit);
}

bool manager_read_units(sd_bus_message *reply, GPtrArray **ret_units, GError **error) {
        g_autoptr(GPtrArray) units = g_ptr_array_new_with_free_func(unit_free);
        int r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(ssssssouso)");

        while (r >= 0) {
                const char *name = NULL, *description = NULL, *active_state = NULL;
                uint32_t job = 0;

                r = sd_bus_message_read(reply, "(ssssssouso)", &name, &description, NULL,
                                        &active_state, NULL, NULL, NULL, &job, NULL, NULL);
                if (r == 0)
                        break;
                if (r > 0) {
                        ManagerUnit *unit = g_new0(ManagerUnit, 1);

                        unit->name = g_strdup(name);
                        unit->description = g_strdup(description);
                        unit->active_state = g_strdup(active_state);
                        unit->has_job = job != 0;
                        g_ptr_array_add(units, unit);
                }
        }
        if (r < 0)
                return dbus_error_take(error, r, NULL, "reading the list of units");

        *ret_units = g_steal_pointer(&units);
        return true;
}
