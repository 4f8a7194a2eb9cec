/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The methods of a manager that we use, each as one call that is under way until its reply, its deadline
 * (SYSTEMD_BUS_TIMEOUT, 25 s) or the end of the connection. Dropping the call cancels it: its handler does not run. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "units/property.h"

#define MANAGER_DESTINATION "org.freedesktop.systemd1"
#define MANAGER_PATH        "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE   "org.freedesktop.systemd1.Manager"
#define MANAGER_UNITS_PATH  "/org/freedesktop/systemd1/unit"

typedef struct ManagerCall ManagerCall;

/* The error is NULL when the manager did it; the reply is the message that said so, NULL on failure. Both are borrowed.
 * The handler may drop its own call. */
typedef void (*ManagerReply)(sd_bus_message *reply, const GError *error, void *userdata);

typedef struct {
        sd_bus *bus;          /* borrowed */
        sd_event *event;      /* borrowed: tells that a call could not be sent; NULL: the bus' own,
                               * which a connection that has ended does not have any more */
        ManagerReply handler; /* NULL: nobody asks */
        void *userdata;
} ManagerCaller;

/* A service or scope and, in the same call, the slice around it; the slice may be NULL. A stop that the manager has
 * queued for a slice above (nobody needed it a moment ago) gives way; a unit that exists never does. */
ManagerCall *manager_start_transient(ManagerCaller caller, const char *unit,
                                     const PropertyList *properties, const char *slice,
                                     const PropertyList *slice_properties);
ManagerCall *manager_stop_unit(ManagerCaller caller, const char *unit);
ManagerCall *manager_kill_unit(ManagerCaller caller, const char *unit, int signal);
ManagerCall *manager_reset_failed(ManagerCaller caller, const char *unit);
ManagerCall *manager_subscribe(ManagerCaller caller);
ManagerCall *manager_list_units(ManagerCaller caller, const char *const *patterns);
ManagerCall *manager_get(ManagerCaller caller, const char *path, const char *interface,
                         const char *property); /* replies a variant */
ManagerCall *manager_get_description(ManagerCaller caller, const char *unit); /* likewise */
ManagerCall *manager_get_all(ManagerCaller caller, const char *path, const char *interface);

/* Answered by whoever is there: what it had to say before has been heard then. */
ManagerCall *manager_ping(ManagerCaller caller);

/* Reads the variant of a text; NULL: it is another one. */
char *manager_read_text(sd_bus_message *reply);

char *manager_unit_path(const char *unit); /* of the object that a unit is */

typedef struct {
        char *name;
        char *description;
        char *active_state; /* "active", "failed", … */
        bool has_job;       /* that is under way */
} ManagerUnit;

/* Reads the reply of manager_list_units: the units that are loaded, an array of ManagerUnit*. */
bool manager_read_units(sd_bus_message *reply, GPtrArray **ret_units,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

void manager_call_free(ManagerCall *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ManagerCall, manager_call_free)
