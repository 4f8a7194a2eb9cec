/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What can go wrong between us and a manager. sd-bus speaks negative errno and bus error names; both are turned into
 * one of these codes at the door of this room, once, with the manager's own words kept in the message. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

typedef enum {
        DBUS_ERROR_UNREACHABLE,      /* nobody listens, or we may not talk to it */
        DBUS_ERROR_NO_ANSWER,        /* a call ran into its deadline */
        DBUS_ERROR_DISCONNECTED,     /* the connection went away before the answer */
        DBUS_ERROR_ACCESS,           /* the manager (or polkit) says we may not */
        DBUS_ERROR_EXISTS,           /* a unit of that name is there already */
        DBUS_ERROR_NO_SUCH_UNIT,     /* … or is not */
        DBUS_ERROR_UNKNOWN_PROPERTY, /* this systemd does not know or take a property */
        DBUS_ERROR_FAILED,           /* anything else the manager refused */
} DbusError;

#define DBUS_ERROR (dbus_error_quark())
GQuark dbus_error_quark(void);

/* Sets the error from what sd-bus gave us. Always returns false, so that it can end a function. */
bool dbus_error_take(GError **error, int r, const sd_bus_error *bus_error, const char *doing);
