/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What of a run is still there: units at the manager, cgroups in any hierarchy, processes, files. */

#include "kit.h"

/* One point: nothing of the run is left, now or within a second (more where it is slow). Finished runs and killed ones
 * alike. */
void leftover_check(const KitRun *run, const char *name);

/* All that is there now, a line for each thing; empty: nothing. */
char *leftover_look(const KitRun *run);

/* As leftover_check() without a point. False: diag() has said what is left. */
bool leftover_wait(const KitRun *run, uint64_t usec);

/* One point: the slices of a pool have gone, with the cgroups and files of its slots, as soon as a guard would be. */
void leftover_check_pool(const char *pool, const char *name);

/* One point: the guard and cordon.slice have gone, and with them every run of this test. */
void leftover_check_guard(const char *name);

/* Finds every process that has the test's mark for this run in its environment. */
GArray *leftover_processes(const char *id);

/* The name of a unit as cordon makes it from an id: "slice", "service", "scope"; and that of the program's. */
char *leftover_unit(const char *id, const char *suffix);
char *leftover_program_unit(const char *id);
char *leftover_slice(const char *pool, const char *id); /* "": in no pool */
char *leftover_pool_slice(const char *pool);
