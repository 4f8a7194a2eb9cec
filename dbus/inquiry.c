/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A unit that the manager has not loaded is not active: that is an answer, not a failure. */

#include "inquiry.h"

#include <stdlib.h>

#include "manager.h"

#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

/* libsystemd's texts are malloc's. */
static char *text_of(sd_bus *bus, const char *path, const char *interface, const char *property) {
        char *text = NULL;
        int r = sd_bus_get_property_string(bus, MANAGER_DESTINATION, path, interface, property,
                                           NULL, &text);
        char *copy = r >= 0 ? g_strdup(text) : NULL;

        free(text);
        return copy;
}

char *inquiry_manager_text(sd_bus *bus, const char *property) {
        return text_of(bus, MANAGER_PATH, MANAGER_INTERFACE, property);
}

bool inquiry_unit_is_active(sd_bus *bus, const char *unit, bool *ret_is_active) {
        sd_bus_error reason = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *state = NULL;
        const char *path = NULL;
        int r = sd_bus_call_method(bus, MANAGER_DESTINATION, MANAGER_PATH, MANAGER_INTERFACE,
                                   "GetUnit", &reason, &reply, "s", unit);
        bool is_unknown = sd_bus_error_has_name(&reason, "org.freedesktop.systemd1.NoSuchUnit");

        sd_bus_error_free(&reason);
        if (r >= 0 && sd_bus_message_read(reply, "o", &path) >= 0)
                state = text_of(bus, path, UNIT_INTERFACE, "ActiveState");
        if (!state && !is_unknown)
                return false;
        *ret_is_active = g_strcmp0(state, "active") == 0;
        return true;
}

char **inquiry_active_units(sd_bus *bus, const char *pattern, uint64_t patience_usec) {
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        g_autoptr(GPtrArray) units = NULL, names = g_ptr_array_new();
        const char *const patterns[] = { pattern, NULL }, *const states[] = { "active", NULL };
        int r = sd_bus_message_new_method_call(bus, &message, MANAGER_DESTINATION, MANAGER_PATH,
                                               MANAGER_INTERFACE, "ListUnitsByPatterns");

        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **)states);
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **)patterns);
        if (r >= 0)
                r = sd_bus_call(bus, message, patience_usec, NULL, &reply);
        if (r < 0 || !manager_read_units(reply, &units, NULL))
                return NULL;
        for (guint i = 0; i < units->len; i++)
                g_ptr_array_add(names,
                                g_strdup(((ManagerUnit *)g_ptr_array_index(units, i))->name));
        g_ptr_array_add(names, NULL);
        return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}
