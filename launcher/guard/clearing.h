/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Units of runs that have ended, and whose launchers do not stay to see them stopped and forgotten. Nothing is killed here,
 * nor looked for: the names are known. What the manager does not do at once is a case for launcher/guard/ending. */

#include <glib.h>
#include <stdbool.h>

#include "dbus/relay.h"

typedef struct Clearings Clearings;

/* The manager has answered, or has not: then somebody else must see to it. */
typedef void (*ClearingHandler)(bool is_cleared, const char *id, const char *owner, void *userdata);

/* The relay is borrowed. */
Clearings *clearings_new(Relay *relay, ClearingHandler handler, void *userdata);
void clearings_free(Clearings *clearings);

/* Are these the units of that run? */
bool clearing_is_of(const char *id, const char *slice, const char *unit);

void clearings_add(Clearings *clearings, const char *id, const char *owner, const char *slice,
                   const char *unit);
guint clearings_count(const Clearings *clearings); /* under way */
