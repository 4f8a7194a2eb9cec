/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "enclosing.h"

#include <unistd.h>

#include "launcher/kernel/caller.h"
#include "launcher/kernel/user-namespace.h"
#include "units/permit.h"

static bool is_to_do_without(const Enclosing *enclosing, bool is_privileged, bool is_best_effort) {
        return is_best_effort && !is_privileged && enclosing->no_permits &&
               !user_namespace_can_be_had();
}

bool enclosing_make(const Spec *spec, bool is_best_effort, Enclosing *ret_enclosing,
                    GError **error) {
        g_autoptr(PropertyList) unit = property_list_new();
        g_auto(Enclosing) enclosing = { 0 };
        IsolationSet set = spec->isolation;
        EnclosureContext context = { .is_privileged = caller_is_privileged(),
                                     .uid = geteuid(),
                                     .gid = getegid() };

        *ret_enclosing = (Enclosing){ 0 };
        if (!spec->is_scope || !isolation_any(&spec->isolation))
                return true;
        set.is_untrusted = false; /* refused, or done without */
        set.allow = NULL;
        isolation_compose(&set, &(IsolationContext){ .is_unprivileged = !context.is_privileged },
                          unit);
        enclosing.enclosure = enclosure_plan(unit, &context, error);
        if (!enclosing.enclosure)
                return false;
        (void)!permit_plan(&set, unit, enclosing.enclosure, &enclosing.no_permits);
        if (is_to_do_without(&enclosing, context.is_privileged, is_best_effort))
                return true;
        *ret_enclosing = enclosing;
        enclosing = (Enclosing){ 0 };
        return true;
}

void enclosing_clear(Enclosing *enclosing) {
        g_clear_pointer(&enclosing->enclosure, enclosure_free);
        g_clear_error(&enclosing->no_permits);
}
