/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The error domain of this room. */

#include "error.h"

G_DEFINE_QUARK(units - error - quark, units_error)
