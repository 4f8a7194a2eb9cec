/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "obstacle.h"

#include <string.h>

#include "dbus/error.h"
#include "launcher/deadline.h"
#include "launcher/guard/leftover.h"
#include "units/name.h"

/* A manager that was reloaded while cordon.slice was there remembers its file when it is gone, until it is reloaded
 * again, and finds no such slice then. Whoever starts a guard makes the slice anew: until it is there. The launcher makes
 * those of its pool anew. */
#define TRIES          10
#define PAUSE_USEC     (20 * 1000)
#define PAUSE_MAX_USEC (1000 * 1000)

struct Obstacle {
        sd_event *event;
        const Door *door;
        char *id;
        PoolSlice *pool; /* borrowed; NULL: none */
        ObstacleHandler handler;
        void *userdata;

        Leftover *leftover;
        Leftover *own;          /* of an attempt of our own */
        bool is_name_looked_at; /* the next answer is the last */
        sd_event_source *pause;
        unsigned tries;
};

Obstacle *obstacle_new(sd_event *event, const Door *door, const char *id, PoolSlice *pool,
                       ObstacleHandler handler, void *userdata) {
        Obstacle *obstacle = g_new0(Obstacle, 1);

        obstacle->event = sd_event_ref(event);
        obstacle->door = door;
        obstacle->id = g_strdup(id);
        obstacle->pool = pool;
        obstacle->handler = handler;
        obstacle->userdata = userdata;
        return obstacle;
}

void obstacle_free(Obstacle *obstacle) {
        if (!obstacle)
                return;
        leftover_free(obstacle->leftover);
        leftover_free(obstacle->own);
        deadline_disarm(&obstacle->pause);
        sd_event_unref(obstacle->event);
        g_free(obstacle->id);
        g_free(obstacle);
}

bool obstacle_is_passing(const GError *refusal) {
        return g_error_matches(refusal, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT) &&
               (strstr(refusal->message, NAME_ROOT_SLICE) ||
                strstr(refusal->message, NAME_PREFIX "pool"));
}

static int on_pause_over(sd_event_source *source, uint64_t usec, void *userdata) {
        Obstacle *obstacle = userdata;

        deadline_disarm(&obstacle->pause);
        pool_slice_make(obstacle->pool);
        obstacle->handler(true, obstacle->userdata);
        return 0;
}

static bool wait_a_moment(Obstacle *obstacle) {
        if (obstacle->pause)
                return true;

        uint64_t pause_usec = MIN((uint64_t)PAUSE_USEC << obstacle->tries, PAUSE_MAX_USEC);

        if (obstacle->tries == TRIES)
                return false;
        obstacle->tries++;
        deadline_arm(obstacle->event, &obstacle->pause, pause_usec, on_pause_over, obstacle);
        return true;
}

static void on_leftover(bool is_cleared, void *userdata) {
        Obstacle *obstacle = userdata;

        obstacle->is_name_looked_at = true;
        obstacle->handler(is_cleared, obstacle->userdata);
}

static bool look_for_leftover(Obstacle *obstacle) {
        if (obstacle->is_name_looked_at || !obstacle->door->socket_path)
                return false;
        if (!obstacle->leftover)
                obstacle->leftover = leftover_new(obstacle->event, obstacle->door, obstacle->id,
                                                  on_leftover, obstacle);
        return true;
}

static void on_own_ended(bool is_cleared, void *userdata) {
        Obstacle *obstacle = userdata;

        pool_slice_make(obstacle->pool);
        obstacle->handler(true, obstacle->userdata);
}

void obstacle_end_own(Obstacle *obstacle, const char *owner) {
        if (!obstacle->own)
                obstacle->own = leftover_new_own(obstacle->event, obstacle->door, obstacle->id,
                                                 owner, on_own_ended, obstacle);
}

bool obstacle_remove(Obstacle *obstacle, const GError *refusal) {
        bool is_taken = g_error_matches(refusal, DBUS_ERROR, DBUS_ERROR_EXISTS);

        /* What the manager refused it may still have in hand when it is asked again. */
        if (obstacle_is_passing(refusal) || (is_taken && obstacle->tries > 0))
                return wait_a_moment(obstacle);
        return is_taken && look_for_leftover(obstacle);
}
