/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A slice of ours names its launcher in its Description; a service says "cordon ID: …". Without either it is not ours. */

#include "leftover.h"

#include <string.h>

#include "dbus/manager.h"
#include "ending.h"
#include "launcher/kernel/caller.h"
#include "units/name.h"

struct Leftover {
        sd_event *event;
        const Door *door;
        char *id;
        LeftoverHandler handler;
        void *userdata;
        ManagerCall *list;
        Endings *endings;
};

bool leftover_owner_is_alive(const char *owner) {
        uid_t uid = 0;
        pid_t pid = 0;
        g_autofree char *now = caller_parse_identity(owner, &uid, &pid)
                                       ? caller_process_identity(pid)
                                       : NULL;

        return g_strcmp0(now, owner) == 0;
}

/* False: somebody has it. */
static bool may_clear(const Leftover *leftover, const GPtrArray *units, char **ret_owner) {
        g_autofree char *mark = g_strdup_printf("cordon %s: ", leftover->id);

        for (guint i = 0; i < units->len; i++) {
                const ManagerUnit *unit = g_ptr_array_index(units, i);
                g_autofree char *owner = name_owner_from_description(unit->description);

                if (!g_str_has_prefix(unit->description, mark) ||
                    (owner && leftover_owner_is_alive(owner)))
                        return false;
                if (owner) {
                        g_free(*ret_owner);
                        *ret_owner = g_steal_pointer(&owner);
                }
        }
        return true;
}

static void on_ended(const char *id, void *userdata) {
        Leftover *leftover = userdata;

        leftover->handler(true, leftover->userdata);
}

static void end(Leftover *leftover, const char *owner) {
        leftover->endings = endings_new(leftover->event, leftover->door->socket_path, NULL,
                                        on_ended, leftover);
        endings_add(leftover->endings, leftover->id, owner);
}

static void on_listed(sd_bus_message *reply, const GError *error, void *userdata) {
        Leftover *leftover = userdata;
        g_autoptr(GPtrArray) units = NULL;
        g_autofree char *owner = NULL;

        if (!reply || !manager_read_units(reply, &units, NULL) ||
            !may_clear(leftover, units, &owner)) {
                leftover->handler(false, leftover->userdata);
                return;
        }
        end(leftover, owner ?: "");
}

static Leftover *make(sd_event *event, const Door *door, const char *id, LeftoverHandler handler,
                      void *userdata) {
        Leftover *leftover = g_new0(Leftover, 1);

        leftover->event = sd_event_ref(event);
        leftover->door = door;
        leftover->id = g_strdup(id);
        leftover->handler = handler;
        leftover->userdata = userdata;
        return leftover;
}

Leftover *leftover_new_own(sd_event *event, const Door *door, const char *id, const char *owner,
                           LeftoverHandler handler, void *userdata) {
        Leftover *leftover = make(event, door, id, handler, userdata);

        end(leftover, owner);
        return leftover;
}

Leftover *leftover_new(sd_event *event, const Door *door, const char *id, LeftoverHandler handler,
                       void *userdata) {
        Leftover *leftover = make(event, door, id, handler, userdata);
        g_autofree char *slice = name_slice(NULL, id);
        g_autofree char *pooled = name_slice_pattern(id);
        g_autofree char *service = name_service(id);
        g_autofree char *scope = name_scope(id);
        const char *patterns[] = { slice, pooled, service, scope, NULL };
        ManagerCaller caller = {
                .bus = door->bus, .event = event, .handler = on_listed, .userdata = leftover
        };

        leftover->list = manager_list_units(caller, patterns);
        return leftover;
}

void leftover_free(Leftover *leftover) {
        if (!leftover)
                return;
        manager_call_free(leftover->list);
        endings_free(leftover->endings);
        sd_event_unref(leftover->event);
        g_free(leftover->id);
        g_free(leftover);
}
