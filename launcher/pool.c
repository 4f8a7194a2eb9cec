/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looking and taking happen under a lock, which is held for some system calls and never waited for: whoever finds it held
 * looks again a moment later, because its holder may be stopped. Waiting for a slot is another thing: every slot that was
 * counted is watched from the look on, and when any of them hangs up there is another look. Nothing can get lost: a
 * reader that has seen a writer polls as hung up for as long as there is none. */

#include "pool.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launcher/deadline.h"
#include "launcher/kernel/error.h"
#include "slots.h"

#define BUSY_USEC     1000
#define BUSY_MAX_USEC (50 * 1000)

struct Pool {
        sd_event *event;
        char *name;
        uint64_t max;
        bool is_refused;
        PoolFullHandler full;

        GQueue waiting;      /* of PoolSlot*, borrowed */
        GHashTable *watched; /* name of a slot → Watched*; while somebody waits */
        sd_event_source *look, *busy;
        unsigned busy_looks;
};

struct PoolSlot {
        Pool *pool;
        PoolHandler handler;
        void *userdata;
        Slot held;
        bool is_told;      /* that it has to wait */
        bool has_own_pool; /* which goes with it */
};

typedef struct {
        Pool *pool;
        char *name;
        int fd;
        sd_event_source *io;
} Watched;

static void look_soon(Pool *pool);

static void watched_free(gpointer data) {
        Watched *watched = data;

        sd_event_source_disable_unref(watched->io);
        (void)close(watched->fd);
        g_free(watched->name);
        g_free(watched);
}

static int on_hang_up(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Watched *watched = userdata;
        Pool *pool = watched->pool;

        g_hash_table_remove(pool->watched, watched->name);
        look_soon(pool);
        return 0;
}

/* Takes the descriptor. */
static bool watch(Pool *pool, const char *name, int fd) {
        Watched *watched = g_new0(Watched, 1);

        watched->pool = pool;
        watched->name = g_strdup(name);
        watched->fd = fd;
        g_hash_table_insert(pool->watched, watched->name, watched);
        return sd_event_add_io(pool->event, &watched->io, fd, EPOLLHUP, on_hang_up, watched) >= 0;
}

static gboolean is_not_listed(gpointer name, gpointer value, gpointer names) {
        return !g_hash_table_contains(names, name);
}

/* How many are taken, all of them watched. */
static bool count_taken(Pool *pool, const SlotDir *dir, GHashTable *names, uint64_t *ret_count,
                        GError **error) {
        GHashTableIter iter;
        gpointer name;
        uint64_t count = 0;

        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
                int fd;

                if (g_hash_table_contains(pool->watched, name)) {
                        count++;
                        continue;
                }
                fd = slot_dir_watch(dir, name);
                if (fd == -1)
                        continue;
                if (fd < 0 || !watch(pool, name, fd)) {
                        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                                    "--max-parallel: cannot watch the slots of pool \"%s\": %s",
                                    pool->name, g_strerror(errno));
                        return false;
                }
                count++;
        }
        *ret_count = count;
        return true;
}

typedef enum {
        LOOK_TAKEN,
        LOOK_FULL,
        LOOK_BUSY,
        LOOK_FAILED,
} LookResult;

static LookResult look(Pool *pool, Slot *ret_slot, GError **error) {
        g_auto(SlotDir) dir = SLOT_DIR_INIT;
        g_autoptr(GHashTable) names = NULL;
        SlotsResult result = slot_dir_open(pool->name, &dir, error);
        uint64_t count;

        if (result != SLOTS_OK)
                return result == SLOTS_BUSY ? LOOK_BUSY : LOOK_FAILED;
        names = slot_dir_list(&dir);
        g_hash_table_foreach_remove(pool->watched, is_not_listed, names);
        count = g_hash_table_size(names);
        if (count >= pool->max && !count_taken(pool, &dir, names, &count, error))
                return LOOK_FAILED;
        if (count >= pool->max)
                return LOOK_FULL;
        result = slot_dir_take(&dir, ret_slot, error);
        return result == SLOTS_OK ? LOOK_TAKEN : result == SLOTS_BUSY ? LOOK_BUSY : LOOK_FAILED;
}

static int on_busy_over(sd_event_source *source, uint64_t usec, void *userdata) {
        Pool *pool = userdata;

        deadline_disarm(&pool->busy);
        look_soon(pool);
        return 0;
}

static void look_again(Pool *pool) {
        uint64_t pause = MIN((uint64_t)BUSY_USEC << MIN(pool->busy_looks, 8U), BUSY_MAX_USEC);

        pool->busy_looks++;
        deadline_arm(pool->event, &pool->busy, pause, on_busy_over, pool);
}

/* The handler may do anything but free the pool. */
static void answer(Pool *pool, const GError *error) {
        PoolSlot *slot = g_queue_pop_head(&pool->waiting);

        slot->handler(slot, error, slot->userdata);
}

static void answer_all(Pool *pool, const GError *error) {
        for (guint left = g_queue_get_length(&pool->waiting);
             left > 0 && !g_queue_is_empty(&pool->waiting); left--)
                answer(pool, error);
}

static void be_full(Pool *pool) {
        g_autoptr(GError) error = NULL;

        if (pool->is_refused) {
                g_set_error(&error, LAUNCHER_ERROR, LAUNCHER_ERROR_CAPACITY,
                            "--max-parallel: pool \"%s\" is full, %" G_GUINT64_FORMAT
                            " or more runs are in it",
                            pool->name, pool->max);
                answer_all(pool, error);
                return;
        }
        for (GList *item = pool->waiting.head; item; item = item->next) {
                PoolSlot *slot = item->data;

                if (!slot->is_told && pool->full)
                        pool->full(pool->name);
                slot->is_told = true;
        }
}

static int on_look(sd_event_source *source, void *userdata) {
        Pool *pool = userdata;

        pool->look = sd_event_source_disable_unref(pool->look);
        while (!g_queue_is_empty(&pool->waiting)) {
                PoolSlot *first = g_queue_peek_head(&pool->waiting);
                g_autoptr(GError) error = NULL;
                LookResult result = look(pool, &first->held, &error);

                if (result == LOOK_BUSY) {
                        look_again(pool);
                        return 0;
                }
                pool->busy_looks = 0;
                if (result == LOOK_FULL)
                        be_full(pool);
                else if (result == LOOK_TAKEN)
                        answer(pool, NULL);
                else
                        answer_all(pool, error);
                if (result != LOOK_TAKEN)
                        break;
        }
        if (g_queue_is_empty(&pool->waiting))
                g_hash_table_remove_all(pool->watched);
        return 0;
}

static void look_soon(Pool *pool) {
        int r = pool->look || pool->busy || g_queue_is_empty(&pool->waiting)
                        ? 0
                        : sd_event_add_defer(pool->event, &pool->look, on_look, pool);

        g_assert(r >= 0);
}

Pool *pool_new(const PoolSettings *settings) {
        Pool *pool = g_new0(Pool, 1);

        slots_sweep();
        pool->event = sd_event_ref(settings->event);
        pool->name = g_strdup(settings->name);
        pool->max = settings->max;
        pool->is_refused = settings->is_refused;
        pool->full = settings->full;
        pool->watched = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, watched_free);
        g_queue_init(&pool->waiting);
        return pool;
}

void pool_free(Pool *pool) {
        if (!pool)
                return;
        g_queue_clear(&pool->waiting);
        g_hash_table_unref(pool->watched);
        sd_event_source_disable_unref(pool->look);
        deadline_disarm(&pool->busy);
        sd_event_unref(pool->event);
        g_free(pool->name);
        g_free(pool);
}

PoolSlot *pool_acquire(Pool *pool, PoolHandler handler, void *userdata) {
        PoolSlot *slot = g_new0(PoolSlot, 1);

        slot->pool = pool;
        slot->handler = handler;
        slot->userdata = userdata;
        slot->held = SLOT_INIT;
        g_queue_push_tail(&pool->waiting, slot);
        look_soon(pool);
        return slot;
}

void pool_release(PoolSlot *slot) {
        if (!slot)
                return;
        (void)g_queue_remove(&slot->pool->waiting, slot);
        slot_release(&slot->held);
        if (slot->has_own_pool)
                pool_free(slot->pool);
        g_free(slot);
}

/* Entering */

typedef struct {
        sd_event *event;
        bool is_entered;
        GError *error;
} Entry;

static void on_entered(PoolSlot *slot, const GError *error, void *userdata) {
        Entry *entry = userdata;

        entry->is_entered = !error;
        if (error)
                entry->error = g_error_copy(error);
        (void)sd_event_exit(entry->event, 0);
}

/* What was prepared for a signal is what is to be done now; where it is ignored, the error is all there is. */
static int on_caller_gone(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Entry *entry = userdata;

        (void)raise(SIGHUP);
        g_set_error_literal(&entry->error, LAUNCHER_ERROR, LAUNCHER_ERROR_CAPACITY,
                            "nobody waits for a slot of the pool any more");
        (void)sd_event_exit(entry->event, 0);
        return 0;
}

PoolSlot *pool_enter(const PoolSettings *settings, int caller_fd, GError **error) {
        PoolSettings own = *settings;
        Entry entry = { 0 };
        PoolSlot *slot;
        int r = sd_event_new(&own.event);

        g_assert(r >= 0);
        entry.event = own.event;
        slot = pool_acquire(pool_new(&own), on_entered, &entry);
        slot->has_own_pool = true;
        if (caller_fd >= 0)
                r = sd_event_add_io(own.event, NULL, caller_fd, EPOLLIN, on_caller_gone, &entry);
        if (r >= 0)
                r = sd_event_loop(own.event);
        sd_event_unref(own.event);
        if (entry.is_entered && !entry.error)
                return slot;
        pool_release(slot);
        if (entry.error)
                g_propagate_error(error, entry.error);
        else
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "cannot wait for a slot of the pool: %s", g_strerror(-r));
        return NULL;
}
