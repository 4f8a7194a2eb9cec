/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first run of a pool finds a slice that the manager has made by itself, because the run's own lies in it: without
 * limits, and there for ever. While nobody has described it, it can still be started as a transient unit: then it gets
 * its limits, and goes with its last run. Of two who do that at once the manager takes one, and the other one finds that it
 * is done. So nothing has to be locked, and nobody can join a pool that is about to go: his run is in it already.
 *
 * The order of messages counts: what is asked after a start is answered when that start is carried out to the cgroups. */

#include "poolslice.h"

#include "dbus/error.h"
#include "dbus/manager.h"
#include "launcher/deadline.h"
#include "launcher/kernel/error.h"
#include "units/compose.h"
#include "units/name.h"
#include "units/pool.h"

#define TRIES      50 /* while a job of another run's start is under way the slice cannot be made */
#define PAUSE_USEC (20 * 1000)

typedef enum {
        CALL_MAKE_ROOT,
        CALL_MAKE,
        CALL_ASK,
        _CALL_MAX,
} CallSlot;

struct PoolSlice {
        sd_event *event;
        const Door *door;
        const Spec *spec;
        char *name;
        PoolSliceHandler handler;
        void *userdata;

        ManagerCall *calls[_CALL_MAX];
        sd_event_source *pause;
        unsigned tries;
        bool is_best_effort, is_begun, is_settled;
        GError *make_error, *error;
};

PoolSlice *pool_slice_new(sd_event *event, const Door *door, const Spec *spec, bool is_best_effort,
                          PoolSliceHandler handler, void *userdata) {
        PoolSlice *slice;

        if (!spec->pool)
                return NULL;
        slice = g_new0(PoolSlice, 1);
        slice->event = sd_event_ref(event);
        slice->door = door;
        slice->spec = spec;
        slice->is_best_effort = is_best_effort;
        slice->name = name_pool_slice(spec->pool);
        slice->handler = handler;
        slice->userdata = userdata;
        return slice;
}

void pool_slice_free(PoolSlice *slice) {
        if (!slice)
                return;
        for (size_t i = 0; i < _CALL_MAX; i++)
                manager_call_free(slice->calls[i]);
        deadline_disarm(&slice->pause);
        sd_event_unref(slice->event);
        g_clear_error(&slice->make_error);
        g_clear_error(&slice->error);
        g_free(slice->name);
        g_free(slice);
}

bool pool_slice_is_settled(const PoolSlice *slice) {
        return !slice || slice->is_settled;
}

static void keep(PoolSlice *slice, CallSlot slot, ManagerCall *call) {
        manager_call_free(slice->calls[slot]);
        slice->calls[slot] = call;
}

static ManagerCaller caller(PoolSlice *slice, ManagerReply handler) {
        return (ManagerCaller){ .bus = slice->door->bus,
                                .event = slice->event,
                                .handler = handler,
                                .userdata = slice };
}

static void on_made(sd_bus_message *reply, const GError *error, void *userdata) {
        PoolSlice *slice = userdata;

        g_clear_error(&slice->make_error);
        if (error)
                slice->make_error = g_error_copy(error);
}

void pool_slice_make(PoolSlice *slice) {
        g_autoptr(PropertyList) root = compose_around("Pools of cordon");
        g_autoptr(PropertyList) pool = NULL;

        if (!slice)
                return;
        pool = compose_pool(slice->spec);
        keep(slice, CALL_MAKE_ROOT,
             manager_start_transient(caller(slice, NULL), NAME_POOL_ROOT, root, NULL, NULL));
        keep(slice, CALL_MAKE,
             manager_start_transient(caller(slice, on_made), slice->name, pool, NULL, NULL));
}

/* Somebody has a unit file of that name, or the manager would not. */
static void fail(PoolSlice *slice, const char *description) {
        if (slice->make_error && !g_error_matches(slice->make_error, DBUS_ERROR, DBUS_ERROR_EXISTS))
                g_propagate_prefixed_error(&slice->error, g_error_copy(slice->make_error),
                                           "--pool: %s cannot be made: ", slice->name);
        else
                slice->error = g_error_new(LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                                           "--pool: %s is there, and not one of cordon's: \"%s\"",
                                           slice->name, description ?: "");
        slice->handler(slice->userdata);
}

static void ask(PoolSlice *slice);

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata) {
        PoolSlice *slice = userdata;

        deadline_disarm(&slice->pause);
        pool_slice_make(slice);
        ask(slice);
        return 0;
}

static void on_description(sd_bus_message *reply, const GError *error, void *userdata) {
        PoolSlice *slice = userdata;
        g_autofree char *description = reply ? manager_read_text(reply) : NULL;

        if (description && pool_is_described(slice->spec->pool, description)) {
                slice->is_settled = slice->is_best_effort ||
                                    pool_check_limits(slice->spec->pool, description,
                                                      &slice->spec->limits, &slice->error);
                slice->handler(slice->userdata);
        } else if (slice->tries++ >= TRIES) {
                fail(slice, description);
        } else {
                deadline_arm(slice->event, &slice->pause, slice->tries == 1 ? 0 : PAUSE_USEC,
                             on_pause_over, slice);
        }
}

static void ask(PoolSlice *slice) {
        keep(slice, CALL_ASK, manager_get_description(caller(slice, on_description), slice->name));
}

bool pool_slice_settle(PoolSlice *slice, GError **error) {
        if (slice && !slice->is_begun) {
                slice->is_begun = true;
                ask(slice);
        }
        if (slice && slice->error)
                g_propagate_error(error, g_error_copy(slice->error));
        return !slice || !slice->error;
}
