/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The error domain of manager/. */

#include "error.h"

G_DEFINE_QUARK(cordon - manager - error - quark, manager_error)
