/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All that are under way share a connection and its rounds: a launcher of thousands may vanish. In a round the manager is
 * asked once what is there; then everything is killed, by the kernel where we may ask it, and only then stopped, which takes
 * the manager longer. Grace is for deadlines
 * and for people; here it is SIGKILL at once. The connection is made anew each time: the manager may have re-executed. */

#include "ending.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "dbus/connect.h"
#include "dbus/manager.h"
#include "units/name.h"

/* Who takes longer than some seconds (a program that the kernel cannot kill yet, a manager that is stopped) is looked at now
 * and then, for an hour. */
#define ROUND_USEC      (50 * 1000)
#define ROUND_SLOW_USEC (1000 * 1000)
#define QUICK_USEC      (20 * G_USEC_PER_SEC)
#define PATIENCE_USEC   (UINT64_C(3600) * G_USEC_PER_SEC)
#define EMPTY_ROUNDS_ENOUGH \
        6 /* the manager reads what a dead launcher sent within the first of them */
/* What should not be needed twice is asked for again now and then all the same. */
#define INSIST_ROUNDS 10
/* More than this many are looked for by pattern: for each name that it is asked for, a manager looks at all its units. */
#define NAMED_MAX     3

typedef struct {
        char *id;
        char *owner;                    /* of the launcher that vanished */
        char *run;                      /* as slices are found by it */
        char *slice;                    /* where it would be without a pool */
        char *pooled, *service, *scope; /* the first one a pattern */
        uint64_t since_usec;
        unsigned rounds, empty_rounds;
} Ending;

struct Endings {
        sd_event *event;
        char *manager_socket;
        EndingHandler handler;
        void *userdata;
        GPtrArray *all; /* of Ending* */
        Cgroup *ground; /* of cordon.slice; borrowed; NULL: only the manager kills */
        sd_bus *bus;
        ManagerCall *list;
        sd_event_source *next;
};

static int on_round(sd_event_source *source, uint64_t usec, void *userdata);

static void ending_free(gpointer data) {
        Ending *ending = data;

        g_free(ending->id);
        g_free(ending->owner);
        g_free(ending->run);
        g_free(ending->slice);
        g_free(ending->pooled);
        g_free(ending->service);
        g_free(ending->scope);
        g_free(ending);
}

static uint64_t age_of(const Ending *ending) {
        return (uint64_t)g_get_monotonic_time() - ending->since_usec;
}

static void disconnect(Endings *endings) {
        g_clear_pointer(&endings->list, manager_call_free);
        if (endings->bus)
                sd_bus_detach_event(endings->bus);
        endings->bus = sd_bus_close_unref(endings->bus);
}

static void schedule(Endings *endings, uint64_t usec) {
        int r;

        endings->next = sd_event_source_disable_unref(endings->next);
        r = sd_event_add_time_relative(endings->event, &endings->next, CLOCK_MONOTONIC, usec, 1,
                                       on_round, endings);
        g_assert(r >= 0);
}

static void schedule_next(Endings *endings) {
        uint64_t pause_usec = ROUND_SLOW_USEC;

        for (guint i = 0; i < endings->all->len; i++)
                if (age_of(endings->all->pdata[i]) < QUICK_USEC)
                        pause_usec = ROUND_USEC;
        if (endings->all->len > 0)
                schedule(endings, pause_usec);
        else
                disconnect(endings);
}

/* What the manager has. A slice's name tells the pool that it is in, too, and that is not known. */
typedef struct {
        GHashTable *by_name; /* services and scopes */
        GHashTable *slices;  /* by "ID OWNER", and by "ID" whosever it is */
} Units;

static char *run_of(const char *id, const char *owner) {
        return g_strdup_printf("%s %s", id, owner);
}

static void sort_in(Units *units, ManagerUnit *unit) {
        bool is_slice = g_str_has_suffix(unit->name, ".slice");
        g_autofree char *id = is_slice ? name_id_from_unit(unit->name) : NULL;
        g_autofree char *owner = id ? name_owner_from_description(unit->description) : NULL;

        if (!is_slice)
                g_hash_table_insert(units->by_name, unit->name, unit);
        if (owner)
                g_hash_table_insert(units->slices, run_of(id, owner), unit);
        if (id)
                g_hash_table_insert(units->slices, g_steal_pointer(&id), unit);
}

static Units units_sort(const GPtrArray *list) {
        Units units = { .by_name = g_hash_table_new(g_str_hash, g_str_equal),
                        .slices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };

        for (guint i = 0; i < list->len; i++)
                sort_in(&units, list->pdata[i]);
        return units;
}

static void units_clear(Units *units) {
        g_hash_table_unref(units->by_name);
        g_hash_table_unref(units->slices);
}

typedef struct {
        const ManagerUnit *slice, *service, *scope;
} Found;

static Found look_for(const Ending *ending, const Units *units) {
        return (Found){ .slice = g_hash_table_lookup(units->slices, ending->run)
                                         ?: g_hash_table_lookup(units->slices, ending->id),
                        .service = g_hash_table_lookup(units->by_name, ending->service),
                        .scope = g_hash_table_lookup(units->by_name, ending->scope) };
}

static bool is_found(const Found *found) {
        return found->slice || found->service || found->scope;
}

/* Its slice says whose it is. A service or scope without a slice is what a half-done clearing left: nobody's. */
static bool is_theirs(const Ending *ending, const Found *found) {
        g_autofree char *owner = found->slice
                                         ? name_owner_from_description(found->slice->description)
                                         : NULL;

        return found->slice && g_strcmp0(owner, ending->owner) != 0;
}

static void tell(ManagerCall *call) {
        manager_call_free(call); /* it is on its way, and nobody waits for the answer */
}

static void kill_it(const Endings *endings, const Ending *ending, const Found *found) {
        ManagerCaller nobody = { .bus = endings->bus };
        g_autofree char *path = found->slice ? name_slice_path(found->slice->name) : NULL;

        if (path && (!endings->ground || !cgroup_kill_below(endings->ground, path)))
                tell(manager_kill_unit(nobody, found->slice->name, SIGKILL));
}

static bool is_failed(const ManagerUnit *unit) {
        return unit && strcmp(unit->active_state, "failed") == 0;
}

static void clear_it(const Endings *endings, const Ending *ending, const Found *found) {
        ManagerCaller nobody = { .bus = endings->bus };
        bool insists = ending->rounds % INSIST_ROUNDS == 0;

        if (insists || (found->slice && !found->slice->has_job))
                tell(manager_stop_unit(nobody, found->slice ? found->slice->name : ending->slice));
        if (insists || is_failed(found->service))
                tell(manager_reset_failed(nobody, ending->service));
        if (insists || is_failed(found->scope))
                tell(manager_reset_failed(nobody, ending->scope));
}

static void act(const Endings *endings, const Units *units,
                void (*do_it)(const Endings *, const Ending *, const Found *)) {
        for (guint i = 0; i < endings->all->len; i++) {
                const Ending *ending = endings->all->pdata[i];
                Found found = look_for(ending, units);

                if (is_found(&found) && !is_theirs(ending, &found))
                        do_it(endings, ending, &found);
        }
}

static bool is_over(Ending *ending, const Units *units) {
        Found found = look_for(ending, units);

        ending->rounds++;
        ending->empty_rounds = is_found(&found) ? 0 : ending->empty_rounds + 1;
        return is_theirs(ending, &found) || ending->empty_rounds >= EMPTY_ROUNDS_ENOUGH;
}

/* Those that are over, or have been waited for long enough, taken out of all. A manager that does not answer at all has
 * nothing that could be ended for long. */
static GPtrArray *take_over(Endings *endings, const Units *units) {
        GPtrArray *over = g_ptr_array_new_with_free_func(ending_free);

        for (guint i = endings->all->len; i-- > 0;) {
                Ending *ending = endings->all->pdata[i];
                uint64_t patience_usec = units ? PATIENCE_USEC : QUICK_USEC;

                if ((units && is_over(ending, units)) || age_of(ending) >= patience_usec)
                        g_ptr_array_add(over, g_ptr_array_steal_index_fast(endings->all, i));
        }
        return over;
}

static void finish_round(Endings *endings, const Units *units) {
        g_autoptr(GPtrArray) over = take_over(endings, units);
        EndingHandler handler = endings->handler;
        void *userdata = endings->userdata;

        schedule_next(endings);
        for (guint i = 0; i < over->len; i++)
                handler(((const Ending *)over->pdata[i])->id, userdata);
}

static void on_listed(sd_bus_message *reply, const GError *error, void *userdata) {
        Endings *endings = userdata;
        g_autoptr(GPtrArray) list = NULL;
        Units units;

        g_clear_pointer(&endings->list, manager_call_free);
        if (!reply || !manager_read_units(reply, &list, NULL)) {
                disconnect(endings); /* try over a new connection */
                finish_round(endings, NULL);
                return;
        }
        units = units_sort(list);
        act(endings, &units, kill_it);
        act(endings, &units, clear_it);
        finish_round(endings, &units);
        units_clear(&units);
}

static bool connect_again(Endings *endings) {
        if (endings->bus)
                return true;
        if (!connect_direct(endings->manager_socket, &endings->bus, NULL))
                return false;
        if (sd_bus_attach_event(endings->bus, endings->event, SD_EVENT_PRIORITY_NORMAL) >= 0)
                return true;
        disconnect(endings);
        return false;
}

static GPtrArray *patterns_of(const Endings *endings) {
        GPtrArray *patterns = g_ptr_array_new();

        for (guint i = 0; endings->all->len <= NAMED_MAX && i < endings->all->len; i++) {
                const Ending *ending = endings->all->pdata[i];

                g_ptr_array_add(patterns, ending->slice);
                g_ptr_array_add(patterns, ending->pooled);
                g_ptr_array_add(patterns, ending->service);
                g_ptr_array_add(patterns, ending->scope);
        }
        if (patterns->len == 0)
                g_ptr_array_add(patterns, (char *)NAME_PREFIX "*");
        g_ptr_array_add(patterns, NULL);
        return patterns;
}

static int on_round(sd_event_source *source, uint64_t usec, void *userdata) {
        Endings *endings = userdata;
        ManagerCaller lister = { .event = endings->event,
                                 .handler = on_listed,
                                 .userdata = endings };
        g_autoptr(GPtrArray) patterns = patterns_of(endings);

        if (!connect_again(endings)) {
                finish_round(endings, NULL);
                return 0;
        }
        lister.bus = endings->bus;
        g_clear_pointer(&endings->list, manager_call_free);
        endings->list = manager_list_units(lister, (const char *const *)patterns->pdata);
        return 0;
}

Endings *endings_new(sd_event *event, const char *manager_socket, Cgroup *ground,
                     EndingHandler handler, void *userdata) {
        Endings *endings = g_new0(Endings, 1);

        endings->event = sd_event_ref(event);
        endings->manager_socket = g_strdup(manager_socket);
        endings->handler = handler;
        endings->userdata = userdata;
        endings->all = g_ptr_array_new_with_free_func(ending_free);
        endings->ground = ground;
        return endings;
}

void endings_free(Endings *endings) {
        if (!endings)
                return;
        disconnect(endings);
        sd_event_source_disable_unref(endings->next);
        sd_event_unref(endings->event);
        g_ptr_array_unref(endings->all);
        g_free(endings->manager_socket);
        g_free(endings);
}

/* A round that is under way goes on: its list may not have this one. */
void endings_add(Endings *endings, const char *id, const char *owner) {
        Ending *ending = g_new0(Ending, 1);

        ending->id = g_strdup(id);
        ending->owner = g_strdup(owner);
        ending->run = run_of(id, owner);
        ending->slice = name_slice(NULL, id);
        ending->pooled = name_slice_pattern(id);
        ending->service = name_service(id);
        ending->scope = name_scope(id);
        ending->since_usec = (uint64_t)g_get_monotonic_time();
        g_ptr_array_add(endings->all, ending);
        if (!endings->list)
                schedule(endings, 0);
}

guint endings_count(const Endings *endings) {
        return endings->all->len;
}
