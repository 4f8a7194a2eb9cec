/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How many runs of a pool there are at a time, over all launchers of a user that name it: a semaphore. Each names its own
 * number, and takes a slot only while fewer than that are taken. A slot is held until it is released or its process is
 * gone, however it went. Those who wait are woken by that; no order is promised. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Pool Pool;
typedef struct PoolSlot PoolSlot;

typedef void (*PoolFullHandler)(const char *pool);

typedef struct {
        sd_event *event;  /* borrowed */
        const char *name; /* of the pool; borrowed during the call */
        uint64_t max;     /* slots; at least 1 */
        bool is_refused;  /* a pool that is full is an error at once */
        PoolFullHandler
                full; /* there is something to wait for; once for each slot; NULL: nobody asks */
} PoolSettings;

Pool *pool_new(const PoolSettings *settings);
void pool_free(Pool *pool); /* its slots are released before */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pool, pool_free)

/* Called from the loop, once: the slot is held, or the error (LAUNCHER_ERROR_CAPACITY: it is full) says why not. The slot
 * may be released there, and others acquired. */
typedef void (*PoolHandler)(PoolSlot *slot, const GError *error, void *userdata);

/* In the order of the calls, as far as this process goes. */
PoolSlot *pool_acquire(Pool *pool, PoolHandler handler, void *userdata);

/* Held or awaited; the handler is not called any more. */
void pool_release(PoolSlot *slot);

/* For whoever has nothing else to do meanwhile: acquires on a loop of its own. Signals do what they did. The descriptor,
 * where there is one, is of somebody for whom all this is: with his end SIGHUP comes. */
PoolSlot *pool_enter(const PoolSettings *settings, int caller_fd,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
