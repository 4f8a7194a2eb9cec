/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The slice of the pool that a run is in: made what it should be while the run's gate waits, and looked at whether it was
 * started with the limits that are asked for. Whether they are in force is read back afterwards, as for the run itself. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"
#include "units/spec.h"

typedef struct PoolSlice PoolSlice;

typedef void (*PoolSliceHandler)(void *userdata); /* it is settled, or cannot be */

/* NULL when the spec is in no pool; that is settled. All is borrowed. --best-effort does with whatever limits it was started
 * with: what of them holds is reported. */
PoolSlice *pool_slice_new(sd_event *event, const Door *door, const Spec *spec, bool is_best_effort,
                          PoolSliceHandler handler, void *userdata);
void pool_slice_free(PoolSlice *slice);

/* Begins; the run's unit is there, so the slice is needed and stays. To be called again when there is news: false when
 * it has failed. */
bool pool_slice_settle(PoolSlice *slice, GError **error) G_GNUC_WARN_UNUSED_RESULT;

bool pool_slice_is_settled(const PoolSlice *slice);

/* Asks the manager for the slices before the run is started, where it does not find them (see launcher/obstacle). */
void pool_slice_make(PoolSlice *slice);
