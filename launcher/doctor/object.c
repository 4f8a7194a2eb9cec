/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "object.h"

#include <cjson/cJSON.h>

#include "units/untrusted.h"

#define SCHEMA 1

/* JSON is UTF-8; what managers say may not be. */
static void add_string(cJSON *object, const char *key, const char *value) {
        g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

        if (valid)
                cJSON_AddStringToObject(object, key, valid);
}

static void add_answer(cJSON *object, const char *key, Answer answer) {
        if (answer != ANSWER_UNKNOWN)
                cJSON_AddBoolToObject(object, key, answer == ANSWER_YES);
}

static void add_words(cJSON *object, const char *key, char *const *words) {
        cJSON *array = words ? cJSON_AddArrayToObject(object, key) : NULL;

        for (; words && *words; words++) {
                g_autofree char *valid = g_utf8_make_valid(*words, -1);

                cJSON_AddItemToArray(array, cJSON_CreateString(valid));
        }
}

/* Whole numbers to the letter: a double would lose digits above 2^53. */
static void add_number(cJSON *object, const char *key, uint64_t value) {
        char text[32];

        g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
        cJSON_AddItemToObject(object, key, cJSON_CreateRaw(text));
}

static void add_machine(cJSON *report, const Machine *machine, Answer is_oomd_active) {
        cJSON *object = cJSON_AddObjectToObject(report, "machine");

        add_string(object, "kernel", machine->kernel);
        add_answer(object, "booted_with_systemd", machine->is_booted);
        add_string(object, "cgroup", machine_cgroup_word(machine));
        add_words(object, "controllers", machine->controllers.unified);
        add_words(object, "controllers_v1", machine->controllers.legacy);
        add_answer(object, "user_namespaces", machine->has_user_namespaces);
        add_string(object, "user_namespaces_remedy", machine->user_namespace_remedy);
        add_answer(object, "apparmor_restricts_user_namespaces", machine->apparmor_restricts);
        add_string(object, "selinux", machine->selinux);
        add_answer(object, "selinux_knows_user_namespaces", machine->selinux_knows);
        if (machine->landlock_abi >= 0)
                add_number(object, "landlock_abi", (uint64_t)machine->landlock_abi);
        if (machine->swap_bytes != UINT64_MAX)
                add_number(object, "swap_bytes", machine->swap_bytes);
        add_answer(object, "psi", machine->has_psi);
        add_answer(object, "tmpfs", machine->has_tmpfs);
        add_answer(object, "oomd", is_oomd_active);
        add_answer(object, "lingering", machine->is_lingering);
}

static void add_residuals(cJSON *entry, unsigned residuals) {
        cJSON *words = residuals ? cJSON_AddArrayToObject(entry, "residuals") : NULL;

        for (int i = 0; i < _RESIDUAL_MAX; i++)
                if (residuals & (1U << i))
                        cJSON_AddItemToArray(words, cJSON_CreateString(untrusted_residual_info(
                                                                               (UntrustedResidual)i)
                                                                               ->word));
}

static void add_findings(cJSON *object, const char *key, const ManagerReport *manager,
                         bool of_limits) {
        cJSON *group = cJSON_AddObjectToObject(object, key);

        for (guint i = 0; i < manager->findings->len; i++) {
                const Finding *finding = g_ptr_array_index(manager->findings, i);
                cJSON *entry;

                if (finding->is_limit != of_limits)
                        continue;
                entry = cJSON_AddObjectToObject(group, finding->key);
                cJSON_AddBoolToObject(entry, "enforced", finding->is_enforced);
                add_words(entry, "tried", finding->tried);
                add_string(entry, "by", finding->by);
                add_string(entry, "in", finding->in);
                add_residuals(entry, finding->residuals);
                add_string(entry, "code", finding->code);
                add_string(entry, "reason", finding->reason);
                add_string(entry, "remedy", finding->remedy);
        }
}

static void add_manager(cJSON *managers, const Report *report, const ManagerReport *manager) {
        cJSON *object = cJSON_CreateObject();

        cJSON_AddItemToArray(managers, object);
        add_string(object, "manager", manager_kind_word(manager->kind));
        cJSON_AddBoolToObject(object, "default", manager->kind == report->standard);
        add_answer(object, "reachable", manager->is_reachable);
        add_answer(object, "usable", manager->is_usable);
        add_string(object, "reason", manager->reason);
        add_string(object, "systemd_version", manager->version);
        add_words(object, "controllers", manager->controllers.unified);
        add_words(object, "controllers_v1", manager->controllers.legacy);
        add_answer(object, "bpf", manager->has_bpf);
        add_answer(object, "user_namespaces", manager->has_user_namespaces);
        add_answer(object, "pid_namespaces", manager->has_pid_namespaces);
        if (manager->findings->len == 0)
                return;
        add_findings(object, "limits", manager, true);
        add_findings(object, "isolation", manager, false);
}

char *report_to_json(const Report *report, bool is_pretty) {
        cJSON *object = cJSON_CreateObject(), *managers, *warnings;
        const char *words;

        add_number(object, "schema", SCHEMA);
        add_string(object, "cordon_version", report->version);
        add_machine(object, &report->machine, report->is_oomd_active);
        managers = cJSON_AddArrayToObject(object, "managers");
        for (guint i = 0; i < report->managers->len; i++)
                add_manager(managers, report, g_ptr_array_index(report->managers, i));
        add_string(object, "default", manager_kind_word(report->standard));
        cJSON_AddBoolToObject(object, "ok", report_is_ok(report));
        warnings = cJSON_AddArrayToObject(object, "warnings");
        for (size_t i = 0; (words = report_warning(report, i)); i++)
                cJSON_AddItemToArray(warnings, cJSON_CreateString(words));

        char *text = is_pretty ? cJSON_Print(object) : cJSON_PrintUnformatted(object);
        char *line = g_strconcat(text, "\n", NULL);

        cJSON_free(text);
        cJSON_Delete(object);
        return line;
}
