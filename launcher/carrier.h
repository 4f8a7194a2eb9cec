/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who carries what was asked for: the property that a manager sets, or in a scope what its program makes itself. */

#include <stdbool.h>

#include "units/isolation.h"
#include "units/limit.h"
#include "units/spec.h"

/* NULL: cordon alone. A stand-in is what --best-effort has in its place. */
const char *carrier_of_limit(const Spec *spec, Limit limit, bool is_stand_in);
const char *carrier_of_isolation(const Spec *spec, Isolation isolation, bool is_landlock);
