/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "orphanage.h"

#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "launcher/kernel/caller.h"

/* Of one owner. */
typedef struct {
        Orphanages *all;
        char *owner;
        GHashTable *ids;
        int pidfd;
        sd_event_source *io;
} Orphanage;

struct Orphanages {
        sd_event *event;
        OrphanHandler handler;
        void *userdata;
        GHashTable *by_owner; /* of Orphanage* */
};

static void orphanage_free(gpointer data) {
        Orphanage *orphanage = data;

        sd_event_source_disable_unref(orphanage->io);
        (void)close(orphanage->pidfd);
        g_hash_table_unref(orphanage->ids);
        g_free(orphanage->owner);
        g_free(orphanage);
}

Orphanages *orphanages_new(sd_event *event, OrphanHandler handler, void *userdata) {
        Orphanages *orphanages = g_new0(Orphanages, 1);

        orphanages->event = sd_event_ref(event);
        orphanages->handler = handler;
        orphanages->userdata = userdata;
        orphanages->by_owner = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, orphanage_free);
        return orphanages;
}

void orphanages_free(Orphanages *orphanages) {
        if (!orphanages)
                return;
        g_hash_table_unref(orphanages->by_owner);
        sd_event_unref(orphanages->event);
        g_free(orphanages);
}

static int on_owner_died(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Orphanage *orphanage = userdata;
        Orphanages *all = orphanage->all;
        GHashTableIter iter;
        gpointer id;

        g_hash_table_iter_init(&iter, orphanage->ids);
        while (g_hash_table_iter_next(&iter, &id, NULL))
                all->handler(id, orphanage->owner, all->userdata);
        g_hash_table_remove(all->by_owner, orphanage->owner);
        return 0;
}

/* A pidfd of the launcher when it still is the process that started the run; −1 when it is gone. */
static int owner_pidfd(const char *owner) {
        uid_t uid = 0;
        pid_t pid = 0;
        int fd = caller_parse_identity(owner, &uid, &pid) ? pidfd_open(pid, 0) : -1;
        g_autofree char *now = fd >= 0 ? caller_process_identity(pid) : NULL;

        if (fd >= 0 && g_strcmp0(now, owner) != 0) {
                (void)close(fd);
                return -1;
        }
        return fd;
}

static Orphanage *orphanage_of(Orphanages *orphanages, const char *owner) {
        Orphanage *orphanage = g_hash_table_lookup(orphanages->by_owner, owner);
        int fd = orphanage ? -1 : owner_pidfd(owner);
        int r;

        if (orphanage || fd < 0)
                return orphanage;
        orphanage = g_new0(Orphanage, 1);
        orphanage->all = orphanages;
        orphanage->owner = g_strdup(owner);
        orphanage->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        orphanage->pidfd = fd;
        r = sd_event_add_io(orphanages->event, &orphanage->io, fd, EPOLLIN, on_owner_died,
                            orphanage);
        g_assert(r >= 0);
        g_hash_table_insert(orphanages->by_owner, orphanage->owner, orphanage);
        return orphanage;
}

bool orphanages_add(Orphanages *orphanages, const char *id, const char *owner) {
        Orphanage *orphanage = orphanage_of(orphanages, owner);

        if (orphanage)
                g_hash_table_add(orphanage->ids, g_strdup(id));
        return orphanage != NULL;
}

void orphanages_drop(Orphanages *orphanages, const char *id, const char *owner) {
        Orphanage *orphanage = g_hash_table_lookup(orphanages->by_owner, owner);

        if (orphanage && g_hash_table_remove(orphanage->ids, id) &&
            g_hash_table_size(orphanage->ids) == 0)
                g_hash_table_remove(orphanages->by_owner, owner);
}

guint orphanages_count(const Orphanages *orphanages) {
        return g_hash_table_size(orphanages->by_owner);
}
