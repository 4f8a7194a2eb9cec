/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Waits until what dead launchers left at the manager is gone: their guard ends it within a moment. Who begins a job of
 * the same id before that would get a service into a slice that is about to be ended, with all that is in it, because a
 * manager takes a slice that is still there for the one that was asked for. */

#include <systemd/sd-event.h>

#include "launcher/manager/door.h"

typedef struct Lull Lull;

/* Nothing is left, or it does not go. The handler may free it. */
typedef void (*LullHandler)(void *userdata);

Lull *lull_new(sd_event *event, const Door *door, LullHandler handler, void *userdata);
void lull_free(Lull *lull); /* NULL is fine */
