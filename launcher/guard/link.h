/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The launcher's link to the guard: found or started, told of our run, and mended when the guard was killed. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"

typedef struct GuardLink GuardLink;

typedef void (*GuardLinkHandler)(
        void *userdata); /* the guard watches, or the link failed for good */

/* Begins at once, on the door's connection, so that what is sent to the manager after this comes after the guard. The
 * door and its connection are borrowed. */
GuardLink *guard_link_new(sd_event *event, const Door *door, const char *id, const char *owner,
                          GuardLinkHandler handler, void *userdata);

/* The door has a new connection: what was under way on the old one is lost. */
void guard_link_reopened(GuardLink *link);

/* Says that nothing is left to end, and closes. */
void guard_link_done(GuardLink *link);

/* Closes without a word: the guard ends the run. */
void guard_link_free(GuardLink *link);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GuardLink, guard_link_free)

bool guard_link_is_watched(const GuardLink *link);
const GError *guard_link_error(const GuardLink *link); /* NULL: not failed */
