/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The paths of isolation options, looked up where the caller sees them: what they lead to is what is mounted. */

#include <glib.h>
#include <stdbool.h>

#include "units/isolation.h"
#include "units/limit.h"

/* Resolves them and says which are none; the working directory is the workspace where none was named, and is resolved
 * too: links that lead to it may not be there inside. A limit of it needs one whatever the isolation. */
bool paths_settle(IsolationSet *set, const LimitSet *limits, char **directory,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
