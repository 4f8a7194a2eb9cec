/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "slice.h"

#include "units/compose.h"

PropertyList *guard_slice_properties(void) {
        PropertyList *list = property_list_new();

        property_list_set_string(list, "Description", "Sandboxes of cordon");
        compose_accounting(list);
        property_list_set_bool(list, "StopWhenUnneeded", true);
        /* A manager that ends stops everything else first; the guard has to be there until then. */
        property_list_set_bool(list, "DefaultDependencies", false);
        return list;
}
