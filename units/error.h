/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What can be wrong with a request before anybody was asked. Messages are written for the user. */

#include <glib.h>

typedef enum {
        UNITS_ERROR_BAD_VALUE,     /* the text is not what the grammar accepts */
        UNITS_ERROR_OUT_OF_RANGE,  /* the grammar accepts it, the bounds do not */
        UNITS_ERROR_BAD_NAME,      /* an id, label or property name that cannot be one */
        UNITS_ERROR_RESERVED,      /* a property that the sandbox itself owns */
        UNITS_ERROR_UNENFORCEABLE, /* nobody can do it in the way that was asked for */
} UnitsError;

#define UNITS_ERROR (units_error_quark())
GQuark units_error_quark(void);
