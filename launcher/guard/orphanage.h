/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Runs that a guard found when it started and whose launcher lives, but has not come back to it yet. One that dies before
 * it does leaves orphans. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

typedef struct Orphanages Orphanages;

typedef void (*OrphanHandler)(const char *id, const char *owner, void *userdata);

Orphanages *orphanages_new(sd_event *event, OrphanHandler handler, void *userdata);
void orphanages_free(Orphanages *orphanages);

/* False: the owner is gone already. */
bool orphanages_add(Orphanages *orphanages, const char *id,
                    const char *owner) G_GNUC_WARN_UNUSED_RESULT;

/* Its launcher is back. */
void orphanages_drop(Orphanages *orphanages, const char *id, const char *owner);
guint orphanages_count(const Orphanages *orphanages); /* of owners */
