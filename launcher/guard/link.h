/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The launcher's link to the guard: found or started, told of our runs, and mended when the guard was killed. One for all
 * runs of a process. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"

typedef struct GuardLink GuardLink;
typedef struct GuardWatch GuardWatch;

typedef void (*GuardLinkHandler)(
        void *userdata); /* the guard watches, or the link failed for good */

/* The door is borrowed, but for the connection that it may have to the guard already. OWNER: ourselves, as slices name us. */
GuardLink *guard_link_new(sd_event *event, Door *door, const char *owner);
void guard_link_free(GuardLink *link); /* after its watches */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GuardLink, guard_link_free)

/* The door has a new connection: what was under way on the old one is lost. */
void guard_link_reopened(GuardLink *link);

/* The guard is told of a run, whose id no other one of ours has. Where there is no guard yet it is looked for at once, on
 * the door's connection, so that what is sent to the manager after this comes after the guard. */
GuardWatch *guard_watch_new(GuardLink *link, const char *id, GuardLinkHandler handler,
                            void *userdata);

/* There is nothing left to end; the handler is not called any more. */
void guard_watch_done(GuardWatch *watch);

/* All has ended and only its units are left, which the guard clears away from now on; the handler is not called any more.
 * False: it does not watch, or cannot be told now. */
bool guard_watch_clear(GuardWatch *watch, const char *slice,
                       const char *unit) G_GNUC_WARN_UNUSED_RESULT;

/* Without that, the guard ends the run. */
void guard_watch_free(GuardWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GuardWatch, guard_watch_free)

bool guard_watch_is_watched(const GuardWatch *watch);
const GError *guard_watch_error(const GuardWatch *watch); /* NULL: not failed */
