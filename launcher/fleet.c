/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The door knows its fleet, so that whoever has the door finds it. What not every fleet needs is made when it is asked
 * for. A handler may enlist and discharge others, so the ids are copied before any is called. */

#include "fleet.h"

#include <unistd.h>

#include "comeback.h"
#include "launcher/kernel/caller.h"
#include "launcher/kernel/kept.h"

typedef struct {
        char *id;
        FleetHandler handler;
        void *userdata;
} Member;

struct Fleet {
        sd_event *event;
        Door *door; /* borrowed */
        unsigned joined;
        char *owner, *gate_path;
        GHashTable *members; /* of Member*, by id */
        Switchboard *board;
        GuardLink *guard;
        Nursery *nursery;
        Comeback *comeback; /* while the manager is away */
};

static void member_free(gpointer data) {
        Member *member = data;

        g_free(member->id);
        g_free(member);
}

static char **ids_of(const Fleet *fleet) {
        g_autofree char **ids = (char **)g_hash_table_get_keys_as_array(fleet->members, NULL);

        return g_strdupv(ids);
}

static void on_comeback(bool is_back, void *userdata);

/* All that was under way on the connection has failed by now, and whoever asked knows it. */
static void await_manager(void *userdata) {
        Fleet *fleet = userdata;

        if (!fleet->comeback)
                fleet->comeback = comeback_new(fleet->event, fleet->door, on_comeback, fleet);
}

static void go_on(Fleet *fleet) {
        switchboard_attach(fleet->board, fleet->door->bus);
        if (switchboard_is_disconnected(fleet->board))
                await_manager(fleet);
}

static void on_comeback(bool is_back, void *userdata) {
        Fleet *fleet = userdata;
        g_auto(GStrv) ids = ids_of(fleet);

        g_clear_pointer(&fleet->comeback, comeback_free);
        if (is_back)
                go_on(fleet);
        for (char **id = ids; *id; id++) {
                const Member *member = g_hash_table_lookup(fleet->members, *id);

                if (member)
                        member->handler(is_back, member->userdata);
        }
        if (is_back && fleet->guard)
                guard_link_reopened(fleet->guard);
}

bool fleet_is_cut_off(const Fleet *fleet) {
        return fleet->comeback || switchboard_is_disconnected(fleet->board);
}

Fleet *fleet_join(sd_event *event, Door *door) {
        Fleet *fleet = door->fleet;

        if (!fleet) {
                fleet = door->fleet = g_new0(Fleet, 1);
                fleet->event = sd_event_ref(event);
                fleet->door = door;
                fleet->owner = caller_process_identity(getpid()) ?: g_strdup("0:0");
                fleet->gate_path = door_program_path("cordon-gate");
                fleet->members = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, member_free);
                fleet->board = switchboard_new(door->bus, await_manager, fleet);
                if (switchboard_is_disconnected(fleet->board))
                        await_manager(fleet);
        }
        g_assert(fleet->event == event);
        fleet->joined++;
        return fleet;
}

void fleet_leave(Fleet *fleet) {
        if (!fleet || --fleet->joined > 0)
                return;
        fleet->door->fleet = NULL;
        kept_close();
        g_hash_table_unref(fleet->members);
        comeback_free(fleet->comeback);
        guard_link_free(fleet->guard);
        switchboard_free(fleet->board);
        nursery_free(fleet->nursery);
        sd_event_unref(fleet->event);
        g_free(fleet->owner);
        g_free(fleet->gate_path);
        g_free(fleet);
}

bool fleet_enlist(Fleet *fleet, const char *id, FleetHandler handler, void *userdata) {
        Member *member;

        if (g_hash_table_contains(fleet->members, id))
                return false;
        member = g_new0(Member, 1);
        *member = (Member){ .id = g_strdup(id), .handler = handler, .userdata = userdata };
        g_hash_table_insert(fleet->members, member->id, member);
        return true;
}

void fleet_discharge(Fleet *fleet, const char *id, void *userdata) {
        const Member *member = g_hash_table_lookup(fleet->members, id);

        if (member && member->userdata == userdata)
                g_hash_table_remove(fleet->members, id);
}

Switchboard *fleet_board(Fleet *fleet) {
        return fleet->board;
}

GuardLink *fleet_guard(Fleet *fleet) {
        if (!fleet->guard)
                fleet->guard = guard_link_new(fleet->event, fleet->door, fleet->owner);
        return fleet->guard;
}

Nursery *fleet_nursery(Fleet *fleet) {
        if (!fleet->nursery)
                fleet->nursery = nursery_new(fleet->event);
        return fleet->nursery;
}

const char *fleet_owner(const Fleet *fleet) {
        return fleet->owner;
}

const char *fleet_gate_path(const Fleet *fleet) {
        return fleet->gate_path;
}
