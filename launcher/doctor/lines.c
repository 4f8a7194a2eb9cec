/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row is a name and what there is to say of it, wrapped between words, so that all begins in the same column. */

#include "lines.h"

#include <string.h>

#include "units/format.h"
#include "units/untrusted.h"
#include "units/wrap.h"

#define TEXT_BEGIN 20

static void append_row(GString *out, const char *name, const char *text) {
        if (!text)
                return;
        g_string_append_printf(out, "  %-*s", TEXT_BEGIN - 2, name);
        wrap_append(out, text, TEXT_BEGIN, TEXT_BEGIN);
}

static void append_answer(GString *out, const char *name, Answer answer, const char *yes,
                          const char *no) {
        if (answer != ANSWER_UNKNOWN)
                append_row(out, name, answer == ANSWER_YES ? yes : no);
}

static char *list(char *const *words) {
        return words && *words ? g_strjoinv(" ", (char **)words) : NULL;
}

static void append_controllers(GString *out, const CgroupControllers *controllers) {
        g_autofree char *unified = list(controllers->unified);
        g_autofree char *legacy = list(controllers->legacy);

        append_row(out, "controllers",
                   unified
                           ?: controllers->unified ? "none of version 2"
                                                   : NULL);
        append_row(out, "  of version 1", legacy);
}

static void append_machine(GString *out, const Report *report) {
        const Machine *machine = &report->machine;
        g_autofree char *namespaces = machine->user_namespace_remedy
                                              ? g_strconcat("no: ", machine->user_namespace_remedy,
                                                            NULL)
                                              : g_strdup("no");
        g_autofree char *landlock = machine->landlock_abi > 0
                                            ? g_strdup_printf("ABI %d", machine->landlock_abi)
                                            : g_strdup("no");
        g_autofree char *swap = machine->swap_bytes > 0 ? format_size(machine->swap_bytes)
                                                        : g_strdup("none");

        g_string_append(out, "machine\n");
        append_row(out, "kernel", machine->kernel);
        append_answer(out, "systemd", machine->is_booted, "it is booted with it",
                      "it is not booted with it");
        append_row(out, "cgroup", machine_cgroup_word(machine));
        append_controllers(out, &machine->controllers);
        append_answer(out, "user namespaces", machine->has_user_namespaces, "yes", namespaces);
        append_answer(out, "AppArmor", machine->apparmor_restricts, "restricts user namespaces",
                      "leaves user namespaces alone");
        append_row(out, "SELinux", machine->selinux);
        append_answer(out, "  user namespaces", machine->selinux_knows, "the policy may rule them",
                      "the policy does not know them");
        append_row(out, "Landlock", machine->landlock_abi >= 0 ? landlock : NULL);
        append_row(out, "swap", machine->swap_bytes != UINT64_MAX ? swap : NULL);
        append_answer(out, "pressure (PSI)", machine->has_psi, "yes", "no");
        append_answer(out, "tmpfs", machine->has_tmpfs, "yes", "no");
        append_answer(out, "systemd-oomd", report->is_oomd_active, "runs", "does not run");
        append_answer(out, "lingering", machine->is_lingering, "yes",
                      "no; loginctl enable-linger keeps runs when you log out");
}

/* "--cpus cannot be enforced here: why; what would help": the row has the name, and the remedy its own. */
static char *reason_words(const Finding *finding) {
        const char *reason = finding->reason ?: "it was not told why";
        g_autofree char *here = g_strdup_printf("--%s cannot be enforced here: ", finding->key);
        const char *begin = g_str_has_prefix(reason, here) ? reason + strlen(here) : reason;
        const char *end = finding->remedy ? strstr(begin, "; ") : NULL;

        return end ? g_strndup(begin, (gsize)(end - begin)) : g_strdup(begin);
}

static char *finding_words(const Finding *finding) {
        if (!finding->is_enforced) {
                g_autofree char *reason = reason_words(finding);

                return g_strconcat("not enforced: ", reason, NULL);
        }
        if (!finding->by)
                return g_strdup("enforced (by cordon itself)");
        return finding->in ? g_strdup_printf("enforced (%s → %s)", finding->by, finding->in)
                           : g_strdup_printf("enforced (%s)", finding->by);
}

static void append_findings(GString *out, const ManagerReport *manager) {
        for (guint i = 0; i < manager->findings->len; i++) {
                const Finding *finding = g_ptr_array_index(manager->findings, i);
                g_autofree char *words = finding_words(finding);
                g_autofree char *left_open = untrusted_residual_words(finding->residuals);
                g_autofree char *remedy = finding->remedy
                                                  ? g_strconcat("remedy: ", finding->remedy, NULL)
                                                  : NULL;

                append_row(out, finding->key, words);
                append_row(out, "", left_open);
                append_row(out, "", remedy);
        }
}

static void append_state(GString *out, const ManagerReport *manager) {
        const char *reason = manager->reason ?: "it was not told why";
        g_autofree char *words = NULL;

        if (manager->is_reachable == ANSWER_NO)
                words = g_strconcat("no: ", reason, NULL);
        else if (manager->is_reachable == ANSWER_UNKNOWN)
                words = g_strdup(reason);
        else if (manager->is_usable != ANSWER_YES)
                words = g_strconcat("yes, but no unit can be started: ", reason, NULL);
        append_row(out, "reachable", words ?: "yes");
}

static void append_manager(GString *out, const Report *report, const ManagerReport *manager) {
        bool is_standard = manager->kind == report->standard && !report->is_named;

        g_string_append_printf(out, "\n%s manager%s\n", manager_kind_word(manager->kind),
                               is_standard ? " (what a run takes here)" : "");
        append_state(out, manager);
        append_row(out, "systemd", manager->version);
        append_controllers(out, &manager->controllers);
        append_answer(out, "BPF", manager->has_bpf, "yes", "no");
        append_answer(out, "user namespaces", manager->has_user_namespaces, "yes", "no");
        append_answer(out, "pid namespaces", manager->has_pid_namespaces, "yes", "no");
        append_findings(out, manager);
}

/* What the exit status depends on: all of it, or what is missing. */
static void append_verdict(GString *out, const Report *report) {
        const ManagerReport *manager = report_manager(report, report->standard);
        bool is_ok = report_is_ok(report);
        g_autoptr(GString) line = g_string_new(NULL);

        g_string_printf(line, "The %s manager can%s enforce", manager_kind_word(report->standard),
                        is_ok ? "" : "not");
        if (!manager || manager->findings->len == 0)
                g_string_append(line, " anything");
        for (guint i = 0; manager && i < manager->findings->len; i++) {
                const Finding *finding = g_ptr_array_index(manager->findings, i);

                if (finding->is_decisive && finding->is_enforced == is_ok)
                        g_string_append_printf(line, " --%s", finding->key);
        }
        g_string_append_c(line, '.');
        wrap_append(out, line->str, 0, TEXT_BEGIN);
}

char *report_to_text(const Report *report) {
        GString *out = g_string_new(NULL);
        const char *words;

        append_machine(out, report);
        for (guint i = 0; i < report->managers->len; i++)
                append_manager(out, report, g_ptr_array_index(report->managers, i));
        g_string_append_c(out, '\n');
        for (size_t i = 0; (words = report_warning(report, i)); i++) {
                g_autofree char *warning = g_strconcat("warning: ", words, NULL);

                wrap_append(out, warning, 0, TEXT_BEGIN);
        }
        append_verdict(out, report);
        return g_string_free(out, FALSE);
}
