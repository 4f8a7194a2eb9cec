/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All gates of a process that are children of ours (offspring), for scopes: one source tells that children have died, and
 * whatever is dead is reaped in one place, orphans of theirs, which come to us, included. */

#include <glib.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "foreground.h"
#include "offspring.h"

typedef struct Nursery Nursery;

Nursery *nursery_new(sd_event *event);
void nursery_free(Nursery *nursery); /* after its children */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Nursery, nursery_free)

/* It is told of its death. Borrowed. */
void nursery_add(Nursery *nursery, Offspring *offspring);
/* It may be reaped from now on. */
void nursery_take(Nursery *nursery, Offspring *offspring);
/* Not any more; if it is not dead, it is reaped as an orphan is. */
void nursery_remove(Nursery *nursery, Offspring *offspring);

/* The terminal that they share with us; NULL: there is none. Borrowed. */
Foreground *nursery_foreground(const Nursery *nursery);
