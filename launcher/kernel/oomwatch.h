/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Kills for memory in a v1 cgroup, which counts none of what happens below it. A run's program is in the group of its slice;
 * where there are others below, what is known of them is known while it happens: a notification says that memory ran out, and
 * the group of the victim has a counter, until it is removed. */

#include <glib.h>
#include <stdbool.h>

#include "units/facts.h"

typedef struct OomWatch OomWatch;

/* DIR: the slice's in the memory hierarchy, borrowed. NULL: it does not tell. */
OomWatch *oom_watch_new(int dir);
void oom_watch_free(OomWatch *watch);

int oom_watch_fd(const OomWatch *watch); /* readable when there is something to look at */

/* Takes in what can be seen by now. False: a kill may be about to be counted, look again in a moment. */
bool oom_watch_look(OomWatch *watch);

/* The same, with the main process dead: no kill of it is to come any more. */
void oom_watch_note_death(OomWatch *watch);

/* Memory ran out, in it or above. */
bool oom_watch_was_notified(const OomWatch *watch);

/* Kills, those by the own limit, and where it is from. */
void oom_watch_fill(OomWatch *watch, Facts *facts);
