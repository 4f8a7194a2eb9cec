/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stands in the way of a start and may be gone the next time: an id that a dead run of ours still holds (looked at
 * once), and cordon.slice, which for a moment the manager holds for a unit without a file. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"
#include "launcher/poolslice.h"

typedef struct Obstacle Obstacle;

/* is_gone: it is worth another try. */
typedef void (*ObstacleHandler)(bool is_gone, void *userdata);

Obstacle *obstacle_new(sd_event *event, const Door *door, const char *id, PoolSlice *pool,
                       ObstacleHandler handler, void *userdata);
void obstacle_free(Obstacle *obstacle);

/* The manager refused the start. False when nothing can be done about it; true while something is being done, however
 * often it is asked, until the handler is called. */
bool obstacle_remove(Obstacle *obstacle, const GError *refusal);

/* cordon.slice went with the last run while this start was under way: seen on 252 as "Unit cordon.slice not found". */
bool obstacle_is_passing(const GError *refusal);

/* What may have come of an attempt of our own, whose answer was lost, is ended; then the handler is called. */
void obstacle_end_own(Obstacle *obstacle, const char *owner);
