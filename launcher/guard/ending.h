/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ending one sandbox whose launcher is gone: kill, stop, clear away, and again until the manager has no unit of it
 * left. Only the owner's: an id may have been somebody else's all along, or be so again. The start may still be on its way when the launcher dies, so one look that finds nothing is not enough. */

#include <glib.h>
#include <systemd/sd-event.h>

typedef struct Ending Ending;

typedef void (*EndingHandler)(Ending *ending,
                              void *userdata); /* it is over; the handler frees it */

Ending *ending_new(sd_event *event, const char *manager_socket, const char *id, const char *owner,
                   EndingHandler handler, void *userdata);
void ending_free(Ending *ending);
