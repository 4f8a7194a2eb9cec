/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "remedy.h"

#include <string.h>

#define DROP_IN "/etc/systemd/system/user@.service.d/delegate.conf"

char *remedy_controller(Limit limit) {
        const LimitInfo *info = limit_info(limit);

        if (info->readback != LIMIT_READBACK_CGROUP)
                return NULL;
        return g_strndup(info->readback_name, strcspn(info->readback_name, "."));
}

static bool has(char **controllers, const char *name) {
        return controllers && g_strv_contains((const char *const *)controllers, name);
}

const char *remedy_file(const Machine *machine, Limit limit) {
        const LimitInfo *info = limit_info(limit);
        g_autofree char *controller = remedy_controller(limit);

        if (!controller)
                return NULL;
        return has(machine->controllers.unified, controller) ? info->readback_name
                                                             : info->readback_name_v1;
}

/* What is delegated already has to be named again. */
static char *drop_in(const ManagerReport *manager, const char *controller) {
        g_autofree char *delegated = manager->controllers.unified
                                             ? g_strjoinv(" ", manager->controllers.unified)
                                             : g_strdup("");

        return g_strdup_printf("put the lines \"[Service]\" and \"Delegate=%s%s%s\" into " DROP_IN
                               ", then systemctl daemon-reload, and log in anew",
                               delegated, delegated[0] ? " " : "", controller);
}

static char *remedy_of_controller(const Machine *machine, const ManagerReport *manager,
                                  const char *controller) {
        if (has(manager->controllers.unified, controller))
                return NULL;
        if (has(machine->controllers.legacy, controller))
                return g_strdup("boot with cgroup v2 alone: systemd.unified_cgroup_hierarchy=1 "
                                "cgroup_no_v1=all on the kernel's command line");
        if (!has(machine->controllers.unified, controller))
                return g_strdup_printf(
                        "none of this machine's cgroups has the controller \"%s\": the kernel was "
                        "built without it, it is switched off on its command line "
                        "(cgroup_disable=), or the container was not given it",
                        controller);
        if (machine->is_booted == ANSWER_YES)
                return drop_in(manager, controller);
        return g_strdup_printf("delegate the controller \"%s\" to the cgroup in which cordon is "
                               "started",
                               controller);
}

char *remedy_of_limit(const Machine *machine, const ManagerReport *manager, Limit limit) {
        g_autofree char *controller = remedy_controller(limit);

        return controller ? remedy_of_controller(machine, manager, controller) : NULL;
}

char *remedy_of_isolation(const Machine *machine, const ManagerReport *manager) {
        if (machine->user_namespace_remedy && manager->has_user_namespaces == ANSWER_NO)
                return g_strdup(machine->user_namespace_remedy);
        return NULL;
}
