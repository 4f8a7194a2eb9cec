/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* cordon.slice, around every run and the guard. */

#include "units/property.h"

/* The last run and the guard gone, the manager itself takes the slice away, in step with its own jobs. */
PropertyList *guard_slice_properties(void);
