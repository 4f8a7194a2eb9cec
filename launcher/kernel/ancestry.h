/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whose memory limit was met, if not a run's own: what lies above its slice, with a counter of each level as it was
 * before the program ran. The counters are of others, too: they name who ran out, they never prove that a run was hit. */

#include <glib.h>
#include <stdbool.h>

#include "counter.h"

typedef struct Ancestry Ancestry;

/* Everything above the directory `path`, up to and with `root`, where the hierarchy is mounted. */
Ancestry *ancestry_new(const char *path, const char *root, const CounterSource *source);
void ancestry_free(Ancestry *ancestry);

/* The nearest one whose counter has moved since: its path in the hierarchy. NULL: none. */
char *ancestry_find_met(const Ancestry *ancestry);

/* Nothing limits memory above what was looked at but the machine itself. */
bool ancestry_is_whole(const Ancestry *ancestry);
