/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What --net allow= asks for, settled before anything starts: lists are read, registries derived, names resolved. */

#include <glib.h>
#include <stdbool.h>

#include "units/isolation.h"

bool net_settle(IsolationSet *set, GError **error) G_GNUC_WARN_UNUSED_RESULT;
