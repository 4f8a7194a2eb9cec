/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clearing.h"

#include "dbus/error.h"
#include "dbus/manager.h"
#include "units/name.h"

typedef struct {
        Clearings *clearings;
        char *id, *owner;
        ManagerCall *stop, *reset;
        unsigned answers;
        bool has_failed;
} Clearing;

struct Clearings {
        Relay *relay; /* borrowed */
        ClearingHandler handler;
        void *userdata;
        GHashTable *all; /* of Clearing* */
};

static void clearing_free(gpointer data) {
        Clearing *clearing = data;

        manager_call_free(clearing->stop);
        manager_call_free(clearing->reset);
        g_free(clearing->id);
        g_free(clearing->owner);
        g_free(clearing);
}

static void finish(Clearing *clearing) {
        Clearings *clearings = clearing->clearings;

        g_hash_table_steal(clearings->all, clearing);
        relay_let_go(clearings->relay);
        clearings->handler(!clearing->has_failed, clearing->id, clearing->owner,
                           clearings->userdata);
        clearing_free(clearing);
}

/* A unit that is gone already, or did not fail, is what is wanted. */
static void on_answer(sd_bus_message *reply, const GError *error, void *userdata) {
        Clearing *clearing = userdata;

        if (error && !g_error_matches(error, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT))
                clearing->has_failed = true;
        if (++clearing->answers == 2)
                finish(clearing);
}

Clearings *clearings_new(Relay *relay, ClearingHandler handler, void *userdata) {
        Clearings *clearings = g_new0(Clearings, 1);

        clearings->relay = relay;
        clearings->handler = handler;
        clearings->userdata = userdata;
        clearings->all = g_hash_table_new_full(NULL, NULL, clearing_free, NULL);
        return clearings;
}

void clearings_free(Clearings *clearings) {
        if (!clearings)
                return;
        g_hash_table_unref(clearings->all);
        g_free(clearings);
}

bool clearing_is_of(const char *id, const char *slice, const char *unit) {
        g_autofree char *of_slice = name_id_from_unit(slice);
        g_autofree char *service = name_service(id);
        g_autofree char *scope = name_scope(id);

        return g_strcmp0(of_slice, id) == 0 &&
               (g_str_equal(unit, service) || g_str_equal(unit, scope));
}

void clearings_add(Clearings *clearings, const char *id, const char *owner, const char *slice,
                   const char *unit) {
        Clearing *clearing = NULL;
        ManagerCaller caller = { .bus = relay_hold(clearings->relay), .handler = on_answer };

        if (!caller.bus) {
                clearings->handler(false, id, owner, clearings->userdata);
                return;
        }
        clearing = g_new0(Clearing, 1);
        clearing->clearings = clearings;
        clearing->id = g_strdup(id);
        clearing->owner = g_strdup(owner);
        g_hash_table_add(clearings->all, clearing);
        caller.userdata = clearing;
        clearing->stop = manager_stop_unit(caller, slice);
        clearing->reset = manager_reset_failed(caller, unit);
}

guint clearings_count(const Clearings *clearings) {
        return g_hash_table_size(clearings->all);
}
