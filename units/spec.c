/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The request. Nothing to it but owning. */

#include "spec.h"

Spec *spec_new(void) {
        return g_new0(Spec, 1);
}

void spec_free(Spec *spec) {
        if (!spec)
                return;

        g_free(spec->id);
        g_free(spec->profile);
        g_free(spec->pool);
        g_strfreev(spec->command);
        g_strfreev(spec->environment);
        g_free(spec->user);
        g_free(spec->group);
        isolation_set_clear(&spec->isolation);
        limit_set_clear(&spec->limits);
        g_clear_pointer(&spec->labels, g_hash_table_unref);
        property_list_free(spec->extra);
        g_free(spec);
}
