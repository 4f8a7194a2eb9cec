/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who has our id? When the manager says that a unit of our name exists, this looks whose it is: a living run's (or a
 * stranger's) is left alone; what a dead one of ours left, failed or half cleared, is ended as a guard would do it. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"

typedef struct Leftover Leftover;

/* is_cleared: the name is free now. The handler may free the leftover. */
typedef void (*LeftoverHandler)(bool is_cleared, void *userdata);

Leftover *leftover_new(sd_event *event, const Door *door, const char *id, LeftoverHandler handler,
                       void *userdata);
/* Of our own, as the slice names us: it is known whose it is, but not whether it is there. */
Leftover *leftover_new_own(sd_event *event, const Door *door, const char *id, const char *owner,
                           LeftoverHandler handler, void *userdata);
/* The launcher that a slice's Description names. */
bool leftover_owner_is_alive(const char *owner);
void leftover_free(Leftover *leftover);
