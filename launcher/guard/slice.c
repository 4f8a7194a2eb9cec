/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "slice.h"

#include "units/compose.h"

PropertyList *guard_slice_properties(void) {
        return compose_around("Sandboxes of cordon");
}
