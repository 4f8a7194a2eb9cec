/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report.h"

#include "config.h"

static void finding_free(gpointer data) {
        Finding *finding = data;

        g_strfreev(finding->tried);
        g_free(finding->code);
        g_free(finding->reason);
        g_free(finding->remedy);
        g_free(finding);
}

static void manager_report_free(gpointer data) {
        ManagerReport *manager = data;

        g_free(manager->reason);
        g_free(manager->version);
        cgroup_controllers_clear(&manager->controllers);
        g_ptr_array_unref(manager->findings);
        g_free(manager);
}

void report_init(Report *report) {
        *report = (Report){
                .version = CORDON_VERSION,
                .machine = MACHINE_INIT,
                .managers = g_ptr_array_new_with_free_func(manager_report_free),
        };
}

void report_clear(Report *report) {
        machine_clear(&report->machine);
        g_clear_pointer(&report->managers, g_ptr_array_unref);
}

ManagerReport *report_add_manager(Report *report, ManagerKind kind) {
        ManagerReport *manager = g_new0(ManagerReport, 1);

        manager->kind = kind;
        manager->findings = g_ptr_array_new_with_free_func(finding_free);
        g_ptr_array_add(report->managers, manager);
        return manager;
}

Finding *report_add_finding(ManagerReport *manager) {
        Finding *finding = g_new0(Finding, 1);

        g_ptr_array_add(manager->findings, finding);
        return finding;
}

const ManagerReport *report_manager(const Report *report, ManagerKind kind) {
        for (guint i = 0; i < report->managers->len; i++) {
                const ManagerReport *manager = g_ptr_array_index(report->managers, i);

                if (manager->kind == kind)
                        return manager;
        }
        return NULL;
}

bool report_is_ok(const Report *report) {
        const ManagerReport *manager = report_manager(report, report->standard);
        bool is_ok = manager && manager->is_usable == ANSWER_YES;

        for (guint i = 0; is_ok && i < manager->findings->len; i++) {
                const Finding *finding = g_ptr_array_index(manager->findings, i);

                is_ok = finding->is_enforced || !finding->is_decisive;
        }
        return is_ok;
}

static bool is_left_at_logout(const Report *report) {
        const ManagerReport *user = report_manager(report, MANAGER_USER);

        return user && user->is_reachable == ANSWER_YES &&
               report->machine.is_lingering == ANSWER_NO;
}

static const struct {
        bool (*is_so)(const Report *report);
        const char *words;
} warnings[] = {
        { is_left_at_logout, "user manager without lingering: logging out ends runs" },
};

const char *report_warning(const Report *report, size_t index) {
        for (size_t i = 0; i < G_N_ELEMENTS(warnings); i++)
                if (warnings[i].is_so(report) && index-- == 0)
                        return warnings[i].words;
        return NULL;
}
