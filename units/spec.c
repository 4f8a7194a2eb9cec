/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The request. Nothing to it but owning. */

#include "spec.h"

Spec *spec_new(void) {
        return g_new0(Spec, 1);
}

Spec *spec_copy(const Spec *spec) {
        Spec *copy = spec_new();

        copy->id = g_strdup(spec->id);
        copy->pool = g_strdup(spec->pool);
        copy->command = g_strdupv(spec->command);
        copy->environment = g_strdupv(spec->environment);
        copy->user = g_strdup(spec->user);
        copy->group = g_strdup(spec->group);
        copy->is_scope = spec->is_scope;
        copy->is_login = spec->is_login;
        isolation_set_copy(&spec->isolation, &copy->isolation);
        limit_set_copy(&spec->limits, &copy->limits);
        copy->labels = spec->labels ? g_hash_table_ref(spec->labels) : NULL;
        copy->extra = spec->extra ? property_list_copy(spec->extra) : NULL;
        return copy;
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
