/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A connection of its own for each ending: the manager may have re-executed since the last one. Grace is for deadlines
 * and for people; here it is SIGKILL at once. */

#include "ending.h"

#include <signal.h>
#include <string.h>

#include "dbus/connect.h"
#include "dbus/manager.h"
#include "units/name.h"

/* Who takes longer than some seconds (a program that the kernel cannot kill yet, a manager that is stopped) is looked at now
 * and then, for an hour. */
#define ROUND_USEC      (50 * 1000)
#define ROUNDS_QUICK    400
#define ROUND_SLOW_USEC (1000 * 1000)
#define ROUNDS_MAX      (ROUNDS_QUICK + 3600)
#define EMPTY_ROUNDS_ENOUGH \
        6 /* the manager reads what a dead launcher sent within the first of them */

struct Ending {
        sd_event *event;
        char *manager_socket;
        char *slice, *service, *scope;
        char *owner; /* "PID:STARTTIME" of the launcher that vanished */
        EndingHandler handler;
        void *userdata;
        sd_bus *bus;
        ManagerCall *kill, *stop, *reset_service, *reset_scope, *list;
        sd_event_source *next;
        unsigned rounds, empty_rounds;
};

static int on_round(sd_event_source *source, uint64_t usec, void *userdata);

static void drop_calls(Ending *ending) {
        g_clear_pointer(&ending->kill, manager_call_free);
        g_clear_pointer(&ending->stop, manager_call_free);
        g_clear_pointer(&ending->reset_service, manager_call_free);
        g_clear_pointer(&ending->reset_scope, manager_call_free);
        g_clear_pointer(&ending->list, manager_call_free);
}

static void disconnect(Ending *ending) {
        drop_calls(ending);
        if (ending->bus)
                sd_bus_detach_event(ending->bus);
        ending->bus = sd_bus_close_unref(ending->bus);
}

static uint64_t pause_of(const Ending *ending) {
        return ending->rounds < ROUNDS_QUICK ? ROUND_USEC : ROUND_SLOW_USEC;
}

static void schedule(Ending *ending, uint64_t usec) {
        int r;

        ending->next = sd_event_source_disable_unref(ending->next);
        r = sd_event_add_time_relative(ending->event, &ending->next, CLOCK_MONOTONIC, usec, 1,
                                       on_round, ending);
        g_assert(r >= 0);
}

static void finish(Ending *ending) {
        ending->handler(ending, ending->userdata);
}

/* Its slice says whose it is. A service or scope without a slice is what a half-done clearing left: nobody's. */
typedef enum {
        THEIRS,
        OURS,
        NOTHING,
} Found;

static Found look_for(const Ending *ending, const GPtrArray *units) {
        Found found = NOTHING;

        for (guint i = 0; i < units->len; i++) {
                const ManagerUnit *unit = g_ptr_array_index(units, i);
                g_autofree char *owner = name_owner_from_description(unit->description);

                if (strcmp(unit->name, ending->slice) != 0)
                        found = OURS;
                else
                        return owner && strcmp(owner, ending->owner) == 0 ? OURS : THEIRS;
        }
        return found;
}

static void end_it(Ending *ending) {
        ManagerCaller nobody = { .bus = ending->bus };

        ending->kill = manager_kill_unit(nobody, ending->slice, SIGKILL);
        ending->stop = manager_stop_unit(nobody, ending->slice);
        ending->reset_service = manager_reset_failed(nobody, ending->service);
        ending->reset_scope = manager_reset_failed(nobody, ending->scope);
}

/* A manager that does not answer at all has nothing that could be ended for long. */
static void try_later(Ending *ending) {
        if (ending->rounds > ROUNDS_QUICK)
                finish(ending);
        else
                schedule(ending, pause_of(ending));
}

static void on_listed(sd_bus_message *reply, const GError *error, void *userdata) {
        Ending *ending = userdata;
        g_autoptr(GPtrArray) units = NULL;
        Found found;

        drop_calls(ending);
        if (!reply || !manager_read_units(reply, &units, NULL)) {
                disconnect(ending); /* try over a new connection */
                try_later(ending);
                return;
        }

        found = look_for(ending, units);
        if (found == OURS)
                end_it(ending);
        ending->empty_rounds = found == NOTHING ? ending->empty_rounds + 1 : 0;
        if (found == THEIRS || ending->empty_rounds >= EMPTY_ROUNDS_ENOUGH)
                finish(ending);
        else
                schedule(ending, pause_of(ending));
}

static bool connect_again(Ending *ending) {
        if (ending->bus)
                return true;
        if (!connect_direct(ending->manager_socket, &ending->bus, NULL))
                return false;
        if (sd_bus_attach_event(ending->bus, ending->event, SD_EVENT_PRIORITY_NORMAL) >= 0)
                return true;
        disconnect(ending);
        return false;
}

static int on_round(sd_event_source *source, uint64_t usec, void *userdata) {
        Ending *ending = userdata;
        const char *patterns[] = { ending->slice, ending->service, ending->scope, NULL };
        ManagerCaller lister = { .event = ending->event, .handler = on_listed, .userdata = ending };

        if (++ending->rounds > ROUNDS_MAX) {
                finish(ending);
                return 0;
        }
        if (!connect_again(ending)) {
                try_later(ending);
                return 0;
        }
        drop_calls(ending);
        lister.bus = ending->bus;
        ending->list = manager_list_units(lister, patterns);
        return 0;
}

Ending *ending_new(sd_event *event, const char *manager_socket, const char *id, const char *owner,
                   EndingHandler handler, void *userdata) {
        Ending *ending = g_new0(Ending, 1);

        ending->event = sd_event_ref(event);
        ending->manager_socket = g_strdup(manager_socket);
        ending->owner = g_strdup(owner);
        ending->slice = name_slice(id);
        ending->service = name_service(id);
        ending->scope = name_scope(id);
        ending->handler = handler;
        ending->userdata = userdata;
        schedule(ending, 0);
        return ending;
}

void ending_free(Ending *ending) {
        if (!ending)
                return;
        disconnect(ending);
        sd_event_source_disable_unref(ending->next);
        sd_event_unref(ending->event);
        g_free(ending->manager_socket);
        g_free(ending->owner);
        g_free(ending->slice);
        g_free(ending->service);
        g_free(ending->scope);
        g_free(ending);
}
