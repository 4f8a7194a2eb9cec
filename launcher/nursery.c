/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Orphans come to us, because nobody else may reap them: process 1 of many a container never does. Nobody but them does:
 * whatever else we start is waited for where it is started, or has a parent of its own by then.
 *
 * One that is dead and may not be reaped yet hides those behind it from a look at all children. It is so while it starts, so
 * those that do are looked at one by one; of the others that die meanwhile their pidfds tell, and orphans can wait. */

#include "nursery.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct Nursery {
        sd_event_source *children;
        GHashTable *by_pid; /* of Offspring*, all that are not reaped */
        GQueue fresh;       /* of Offspring*, not taken yet: those that start now */
        GQueue news;        /* of Offspring*, dead, and not told yet */
        Foreground *foreground;
};

static Offspring *find(const Nursery *nursery, pid_t pid) {
        return g_hash_table_lookup(nursery->by_pid, GINT_TO_POINTER(pid));
}

/* False: there is nobody, or nobody who may be reaped. */
static bool take_dead(Nursery *nursery) {
        siginfo_t info = { 0 };
        Offspring *offspring;
        bool was_dead;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
                return false;
        offspring = find(nursery, info.si_pid);
        if (!offspring)
                return waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG) == 0;
        was_dead = offspring->is_dead;
        offspring_reap(offspring);
        if (!was_dead)
                g_queue_push_tail(&nursery->news, offspring);
        return offspring->pid == 0;
}

static void look_at_fresh(Nursery *nursery) {
        for (GList *link = nursery->fresh.head; link; link = link->next) {
                Offspring *offspring = link->data;

                if (offspring->is_dead)
                        continue;
                offspring_reap(offspring);
                if (offspring->is_dead)
                        g_queue_push_tail(&nursery->news, offspring);
        }
}

static void see_stopped(Nursery *nursery) {
        siginfo_t info = { 0 };

        while (nursery->foreground && waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG) == 0 &&
               info.si_pid != 0) {
                if (find(nursery, info.si_pid))
                        foreground_stop_with(nursery->foreground, info.si_pid);
                info.si_pid = 0;
        }
}

static int on_child(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Nursery *nursery = userdata;

        look_at_fresh(nursery);
        while (take_dead(nursery))
                ;
        see_stopped(nursery);
        for (Offspring *dead; (dead = g_queue_pop_head(&nursery->news));)
                dead->handler(dead->userdata);
        return 0;
}

Nursery *nursery_new(sd_event *event) {
        Nursery *nursery = g_new0(Nursery, 1);
        int r;

        (void)signal(SIGCHLD, SIG_DFL); /* a caller that ignores it would have the kernel reap */
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        r = sd_event_add_signal(event, &nursery->children, SIGCHLD | SD_EVENT_SIGNAL_PROCMASK,
                                on_child, nursery);
        g_assert(r >= 0);
        nursery->by_pid = g_hash_table_new(NULL, NULL);
        g_queue_init(&nursery->fresh);
        g_queue_init(&nursery->news);
        nursery->foreground = foreground_new();
        return nursery;
}

void nursery_free(Nursery *nursery) {
        if (!nursery)
                return;
        sd_event_source_disable_unref(nursery->children);
        g_hash_table_unref(nursery->by_pid);
        g_queue_clear(&nursery->fresh);
        g_queue_clear(&nursery->news);
        foreground_free(nursery->foreground);
        g_free(nursery);
}

void nursery_add(Nursery *nursery, Offspring *offspring) {
        g_hash_table_insert(nursery->by_pid, GINT_TO_POINTER(offspring->pid), offspring);
        g_queue_push_tail(&nursery->fresh, offspring);
}

void nursery_take(Nursery *nursery, Offspring *offspring) {
        g_queue_remove(&nursery->fresh, offspring);
}

void nursery_remove(Nursery *nursery, Offspring *offspring) {
        g_hash_table_remove(nursery->by_pid, GINT_TO_POINTER(offspring->pid));
        g_queue_remove(&nursery->fresh, offspring);
        g_queue_remove(&nursery->news, offspring);
}

Foreground *nursery_foreground(const Nursery *nursery) {
        return nursery->foreground;
}
