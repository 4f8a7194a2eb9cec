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
