/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "carrier.h"

/* A scope has no rlimits: its program sets them itself, before it is executed. */
const char *carrier_of_limit(const Spec *spec, Limit limit, bool is_stand_in) {
        const LimitInfo *info = limit_info(limit);

        if (is_stand_in)
                return info->stand_in;
        return spec->is_scope && limit_rlimit(limit) >= 0 ? "setrlimit" : info->property;
}

/* In a scope nobody sets properties: its program makes namespaces itself, or is denied by Landlock. */
const char *carrier_of_isolation(const Spec *spec, Isolation isolation, bool is_landlock) {
        if (!spec->is_scope)
                return isolation_by(&spec->isolation, isolation);
        if (is_landlock)
                return "Landlock";
        return isolation == ISOLATION_NET ? "network namespace" : "mount namespace";
}
