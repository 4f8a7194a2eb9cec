/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pools.h"

struct Pools {
        sd_event *event;
        GHashTable *pools; /* "NAME MAX ON-FULL" → Pool* */
};

Pools *pools_new(sd_event *event) {
        Pools *pools = g_new0(Pools, 1);

        pools->event = sd_event_ref(event);
        pools->pools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                             (GDestroyNotify)pool_free);
        return pools;
}

void pools_free(Pools *pools) {
        if (!pools)
                return;
        g_hash_table_unref(pools->pools);
        sd_event_unref(pools->event);
        g_free(pools);
}

PoolSlot *pools_acquire(Pools *pools, const Options *options, PoolHandler handler, void *userdata) {
        PoolSettings settings = { .event = pools->event,
                                  .name = options->pool,
                                  .max = options->max_parallel,
                                  .is_refused = options->is_refused_on_full };
        g_autofree char *key = g_strdup_printf("%s %" G_GUINT64_FORMAT " %d", options->pool,
                                               options->max_parallel, options->is_refused_on_full);
        Pool *pool = g_hash_table_lookup(pools->pools, key);

        if (!pool) {
                pool = pool_new(&settings);
                g_hash_table_insert(pools->pools, g_steal_pointer(&key), pool);
        }
        return pool_acquire(pool, handler, userdata);
}
