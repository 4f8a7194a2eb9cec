/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ending sandboxes whose launcher is gone: kill, stop, clear away, and again until the manager has no unit of them
 * left. Only the owner's: an id may have been somebody else's all along, or be so again. The start may still be on its way
 * when the launcher dies, so one look that finds nothing is not enough. */

#include <glib.h>
#include <systemd/sd-event.h>

#include "launcher/kernel/cgroup.h"

typedef struct Endings Endings;

/* It is over. The handler may free the endings. */
typedef void (*EndingHandler)(const char *id, void *userdata);

/* GROUND: this manager's cordon.slice, so that the kernel can be asked to kill what is in it; borrowed. NULL: the manager is
 * asked. */
Endings *endings_new(sd_event *event, const char *manager_socket, Cgroup *ground,
                     EndingHandler handler, void *userdata);
void endings_free(Endings *endings);

void endings_add(Endings *endings, const char *id, const char *owner);
guint endings_count(const Endings *endings); /* under way */
