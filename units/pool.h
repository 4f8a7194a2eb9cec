/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A pool says in its slice's Description what it is and which limits it was started with, for people and for whoever
 * wants to join it. */

#include <glib.h>
#include <stdbool.h>

#include "limit.h"

/* "Pool build of cordon [pool-memory=1G, pool-swap=0]" */
char *pool_describe(const char *pool, const LimitSet *limits);

/* Is this the description of that pool? The manager makes up others for slices that nobody has described. */
bool pool_is_described(const char *pool, const char *description);

/* Was it started with the limits of a pool that are in the set? What the set has not may be as it is. */
bool pool_check_limits(const char *pool, const char *description, const LimitSet *limits,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
