/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a launcher had sent before it was killed is read by the manager some time later, so one look that finds nothing
 * is not enough. */

#include "lull.h"

#include <glib.h>
#include <string.h>

#include "dbus/manager.h"
#include "launcher/deadline.h"
#include "launcher/guard/leftover.h"
#include "units/name.h"

#define ROUND_USEC   (50 * 1000)
#define ROUNDS_QUIET 5
#define ROUNDS_MAX   200

struct Lull {
        sd_event *event;
        const Door *door;
        LullHandler handler;
        void *userdata;
        ManagerCall *list;
        sd_event_source *next;
        unsigned rounds, quiet;
};

/* Ids whose slice has a launcher that lives. */
static GHashTable *ids_of_the_living(const GPtrArray *units) {
        GHashTable *ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < units->len; i++) {
                const ManagerUnit *unit = g_ptr_array_index(units, i);
                g_autofree char *owner = name_owner_from_description(unit->description);
                char *id = name_id_from_unit(unit->name);

                if (id && owner && leftover_owner_is_alive(owner))
                        g_hash_table_add(ids, id);
                else
                        g_free(id);
        }
        return ids;
}

static bool is_quiet(const GPtrArray *units) {
        g_autoptr(GHashTable) living = ids_of_the_living(units);

        for (guint i = 0; i < units->len; i++) {
                const ManagerUnit *unit = g_ptr_array_index(units, i);
                g_autofree char *id = name_id_from_unit(unit->name);

                if (id && !g_hash_table_contains(living, id))
                        return false;
        }
        return true;
}

static int on_round(sd_event_source *source, uint64_t usec, void *userdata);

static void on_listed(sd_bus_message *reply, const GError *error, void *userdata) {
        Lull *lull = userdata;
        g_autoptr(GPtrArray) units = NULL;
        bool is_read = reply && manager_read_units(reply, &units, NULL);

        g_clear_pointer(&lull->list, manager_call_free);
        lull->rounds++;
        lull->quiet = is_read && is_quiet(units) ? lull->quiet + 1 : 0;
        if (lull->quiet >= ROUNDS_QUIET || lull->rounds >= ROUNDS_MAX || !is_read)
                lull->handler(lull->userdata);
        else
                deadline_arm(lull->event, &lull->next, ROUND_USEC, on_round, lull);
}

static int on_round(sd_event_source *source, uint64_t usec, void *userdata) {
        static const char *const patterns[] = { "cordon-*.slice", "cordon-*.service",
                                                "cordon-*.scope", NULL };
        Lull *lull = userdata;
        ManagerCaller caller = {
                .bus = lull->door->bus, .event = lull->event, .handler = on_listed, .userdata = lull
        };

        lull->list = manager_list_units(caller, patterns);
        return 0;
}

Lull *lull_new(sd_event *event, const Door *door, LullHandler handler, void *userdata) {
        Lull *lull = g_new0(Lull, 1);

        lull->event = sd_event_ref(event);
        lull->door = door;
        lull->handler = handler;
        lull->userdata = userdata;
        deadline_arm(event, &lull->next, 0, on_round, lull);
        return lull;
}

void lull_free(Lull *lull) {
        if (!lull)
                return;
        manager_call_free(lull->list);
        deadline_disarm(&lull->next);
        sd_event_unref(lull->event);
        g_free(lull);
}
