/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "enclosing.h"

#include <unistd.h>

#include "launcher/kernel/caller.h"
#include "launcher/kernel/user-namespace.h"
#include "units/extra.h"
#include "units/permit.h"

static bool is_to_do_without(const Enclosing *enclosing, bool is_privileged, bool is_best_effort) {
        return is_best_effort && !is_privileged && enclosing->no_permits &&
               !user_namespace_can_be_had();
}

/* What needs no namespaces. */
static bool plan_own(const PropertyList *own, const EnclosureContext *context,
                     Enclosing *ret_enclosing, GError **error) {
        if (property_list_length(own) == 0)
                return true;
        ret_enclosing->enclosure = enclosure_plan(own, context, error);
        return ret_enclosing->enclosure;
}

bool enclosing_make(const Spec *spec, bool is_best_effort, Enclosing *ret_enclosing,
                    GError **error) {
        g_autoptr(PropertyList) unit = property_list_new();
        g_autoptr(PropertyList) own = property_list_new();
        g_auto(Enclosing) enclosing = { 0 };
        IsolationSet set = spec->isolation;
        EnclosureContext context = { .is_privileged = caller_is_privileged(),
                                     .uid = geteuid(),
                                     .gid = getegid() };

        *ret_enclosing = (Enclosing){ 0 };
        if (!spec->is_scope)
                return true;
        extra_compose_own(spec->extra, own);
        if (!isolation_any(&spec->isolation))
                return plan_own(own, &context, ret_enclosing, error);
        set.is_untrusted = false; /* refused, or done without */
        set.allow = NULL;
        isolation_compose(&set, &(IsolationContext){ .is_unprivileged = !context.is_privileged },
                          unit);
        extra_compose_own(spec->extra, unit);
        enclosing.enclosure = enclosure_plan(unit, &context, error);
        if (!enclosing.enclosure)
                return false;
        (void)!permit_plan(&set, unit, enclosing.enclosure, &enclosing.no_permits);
        if (is_to_do_without(&enclosing, context.is_privileged, is_best_effort))
                return plan_own(own, &context, ret_enclosing, error);
        *ret_enclosing = enclosing;
        enclosing = (Enclosing){ 0 };
        return true;
}

void enclosing_clear(Enclosing *enclosing) {
        g_clear_pointer(&enclosing->enclosure, enclosure_free);
        g_clear_error(&enclosing->no_permits);
}
