/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The one place where sd-bus errors become ours. The table maps the names that managers really send; errno decides
 * where there is no name (a dead connection, a local time-out). */

#include "error.h"

#include <errno.h>

G_DEFINE_QUARK(cordon - dbus - error - quark, dbus_error)

static const struct {
        const char *name;
        DbusError code;
} names[] = {
        { "org.freedesktop.DBus.Error.NoReply", DBUS_ERROR_NO_ANSWER },
        { "org.freedesktop.DBus.Error.Timeout", DBUS_ERROR_NO_ANSWER },
        { "org.freedesktop.DBus.Error.Disconnected", DBUS_ERROR_DISCONNECTED },
        { "org.freedesktop.DBus.Error.AccessDenied", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.AuthFailed", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.PropertyReadOnly", DBUS_ERROR_UNKNOWN_PROPERTY },
        { "org.freedesktop.DBus.Error.UnknownProperty", DBUS_ERROR_UNKNOWN_PROPERTY },
        { "org.freedesktop.systemd1.UnitExists", DBUS_ERROR_EXISTS },
        { "org.freedesktop.systemd1.NoSuchUnit", DBUS_ERROR_NO_SUCH_UNIT },
};

static const struct {
        int number;
        DbusError code;
} numbers[] = {
        { ETIMEDOUT, DBUS_ERROR_NO_ANSWER },    { ECONNRESET, DBUS_ERROR_DISCONNECTED },
        { ENOTCONN, DBUS_ERROR_DISCONNECTED },  { EPIPE, DBUS_ERROR_DISCONNECTED },
        { ESHUTDOWN, DBUS_ERROR_DISCONNECTED }, { EACCES, DBUS_ERROR_ACCESS },
        { EPERM, DBUS_ERROR_ACCESS },           { EEXIST, DBUS_ERROR_EXISTS },
        { ENOENT, DBUS_ERROR_UNREACHABLE },     { ECONNREFUSED, DBUS_ERROR_UNREACHABLE },
        { ENOMEDIUM, DBUS_ERROR_UNREACHABLE },
};

static DbusError code_of(int r, const sd_bus_error *bus_error) {
        if (sd_bus_error_is_set(bus_error)) {
                for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                        if (sd_bus_error_has_name(bus_error, names[i].name))
                                return names[i].code;
                return DBUS_ERROR_FAILED;
        }

        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
                if (numbers[i].number == -r)
                        return numbers[i].code;
        return DBUS_ERROR_FAILED;
}

bool dbus_error_take(GError **error, int r, const sd_bus_error *bus_error, const char *doing) {
        const char *words = g_strerror(-r);

        if (sd_bus_error_is_set(bus_error))
                words = bus_error->message ?: bus_error->name;

        g_set_error(error, DBUS_ERROR, code_of(r, bus_error), "%s: %s", doing, words);
        return false;
}
