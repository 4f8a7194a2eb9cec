/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What doctor says is held against what runs come to: what it calls enforced is in force in a run, and what it does not
 * is refused there, for the same reason. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define PLACES "cordon-doctor-"

static KitRun *call(const char *const *words) {
        KitOrder order = { .program = kit_cordon(), .command = words };

        return kit_run(&order);
}

/* Directories that doctor made are gone by now. */
static char *places(void) {
        GDir *entries = g_dir_open(g_get_tmp_dir(), 0, NULL);
        g_autoptr(GString) found = g_string_new(NULL);
        const char *name;

        while (entries && (name = g_dir_read_name(entries)))
                if (g_str_has_prefix(name, PLACES))
                        g_string_append_printf(found, "%s ", name);
        if (entries)
                g_dir_close(entries);
        return g_string_free(g_steal_pointer(&found), FALSE);
}

static bool is_place_there(const void *what) {
        g_autofree char *found = places();

        return found[0] != '\0';
}

static void check_places(const char *name) {
        g_autofree char *found = places();

        is(found, "", "%s: its directories are gone", name);
}

static const cJSON *manager_of(const cJSON *report, const char *name) {
        const cJSON *managers = cJSON_GetObjectItemCaseSensitive(report, "managers"), *manager;

        cJSON_ArrayForEach(manager, managers) {
                const cJSON *word = cJSON_GetObjectItemCaseSensitive(manager, "manager");

                if (g_strcmp0(cJSON_GetStringValue(word), name) == 0)
                        return manager;
        }
        return NULL;
}

static const char *text_at(const cJSON *object, const char *key) {
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key)) ?: "";
}

static bool is_true_at(const cJSON *object, const char *key) {
        return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static bool is_place(const char *word) {
        return word[0] == '/' && strstr(word, "/" PLACES);
}

/* As they were when it was tried. */
static void make_places(char *const *words) {
        for (; *words; words++)
                if (is_place(*words) && g_mkdir_with_parents(*words, 0700) < 0)
                        BAIL_OUT("cannot make %s: %s", *words, strerror(errno));
}

static void remove_places(char *const *words) {
        for (; *words; words++) {
                g_autofree char *parent = g_path_get_dirname(*words);

                if (!is_place(*words))
                        continue;
                (void)rmdir(*words);
                (void)rmdir(parent);
        }
}

static char **words_of(const cJSON *finding, bool is_limit) {
        const cJSON *tried = cJSON_GetObjectItemCaseSensitive(finding, "tried"), *word;
        g_autoptr(GPtrArray) words = g_ptr_array_new();

        cJSON_ArrayForEach(word, tried)
                g_ptr_array_add(words, g_strdup(cJSON_GetStringValue(word)));
        for (int i = 0; !is_limit && i < 2; i++)
                g_ptr_array_add(words, g_strdup(i == 0 ? "-C" : "/"));
        g_ptr_array_add(words, NULL);
        return (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
}

static void check_agreement(const char *group, const cJSON *finding) {
        const char *key = finding->string;
        g_auto(GStrv) words = words_of(finding, strcmp(group, "limits") == 0);
        KitOrder order = { .options = (const char *const *)words, .command = WORDS("true") };
        g_autofree char *option = g_strndup(key, strcspn(key, " "));
        g_autofree char *path = g_strdup_printf("%s.%s.enforced", group, option);
        g_autoptr(KitRun) run = NULL;
        bool agrees;

        make_places(words);
        run = kit_run(&order);
        remove_places(words);
        if (is_true_at(finding, "enforced")) {
                agrees = ok(strcmp(record_text(run, "outcome"), "exited") == 0 &&
                                    run->status == 0 && record_is_true(run, path),
                            "%s is enforced, in a run too", key);
        } else {
                agrees = ok(strcmp(record_text(run, "outcome"), "refused") == 0,
                            "%s is not enforced: a run is refused", key);
                agrees = is(record_text(run, "error.code"), "unenforceable", "%s: for that", key) &&
                         is(text_at(finding, "code"), "unenforceable", "%s: as doctor says", key) &&
                         is(record_text(run, "error.message"), text_at(finding, "reason"),
                            "%s: with doctor's reason", key) &&
                         agrees;
        }
        if (!agrees)
                diag("%s%s", run->errors->str, run->record_text->str);
        leftover_check(run, key);
}

static void check_group(const cJSON *manager, const char *group) {
        const cJSON *findings = cJSON_GetObjectItemCaseSensitive(manager, group), *finding;

        cmp_ok(cJSON_GetArraySize(findings), ">", 0, "there are %s", group);
        cJSON_ArrayForEach(finding, findings) check_agreement(group, finding);
}

/* Every option of the help that limits or isolates is answered for. */
static void check_completeness(const cJSON *manager) {
        static const char *const groups[] = { "limits", "isolation" };
        static const char *const titles[] = { "Limits:", "Isolation:" };
        g_autoptr(KitRun) run = call(WORDS("run", "--help"));

        for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
                const cJSON *group = cJSON_GetObjectItemCaseSensitive(manager, groups[i]);
                const char *begin = strstr(run->output->str, titles[i]);
                g_autoptr(GString) missing = g_string_new(NULL);
                g_auto(GStrv) lines = g_strsplit(begin ?: "", "\n", -1);

                for (char **line = lines; *line && **line; line++) {
                        g_auto(GStrv) words = g_strsplit_set(g_strchug(*line), " ", 2);

                        if (g_str_has_prefix(words[0], "--") &&
                            strcmp(words[0], "--workspace") != 0 &&
                            !cJSON_GetObjectItemCaseSensitive(group, words[0] + 2))
                                g_string_append_printf(missing, "%s ", words[0]);
                }
                is(missing->str, "", "no option of %s is missing", titles[i]);
        }
}

static void test_agreement(void) {
        g_autoptr(KitRun) run = call(WORDS("doctor", "--json"));
        cJSON *report = cJSON_Parse(run->output->str);
        const cJSON *manager = manager_of(report, kit_manager());

        is(run->errors->str, "", "doctor has nothing to say on stderr");
        ok(report && strchr(run->output->str, '\n') == run->output->str + run->output->len - 1,
           "it answers with one line of JSON");
        is(text_at(report, "default"), kit_manager(), "CORDON_MANAGER says which one counts");
        cmp_ok(run->status, "==", is_true_at(report, "ok") ? 0 : 1, "its status is its verdict");
        ok(is_true_at(manager, "reachable") && is_true_at(manager, "usable"),
           "the manager can be used");
        ok(text_at(manager, "systemd_version")[0] != '\0', "its version is known");
        ok(is_true_at(report, "ok") ==
                   is_true_at(cJSON_GetObjectItemCaseSensitive(
                                      cJSON_GetObjectItemCaseSensitive(manager, "isolation"),
                                      "untrusted"),
                              "enforced"),
           "all is well when --untrusted is");
        note("%s", run->output->str);
        check_places("doctor");
        if (manager) {
                check_completeness(manager);
                check_group(manager, "limits");
                check_group(manager, "isolation");
        }
        cJSON_Delete(report);
}

static void test_words(void) {
        g_autofree char *option = g_strconcat("--", kit_manager(), NULL);
        g_autofree char *title = g_strconcat("\n", kit_manager(), " manager\n", NULL);
        g_autoptr(KitRun) run = call(WORDS("doctor", option));
        g_auto(GStrv) lines = g_strsplit(run->output->str, "\n", -1);
        bool is_narrow = true;

        for (char **line = lines; *line; line++)
                is_narrow = is_narrow && g_utf8_strlen(*line, -1) <= 80;
        ok(is_narrow, "words fit 80 columns");
        ok(strstr(run->output->str, title), "the manager that is named has its part");
        ok(strstr(run->output->str, "  timeout           enforced (RuntimeMaxUSec)\n"),
           "a limit that is kept everywhere is enforced");
        ok(run->status == 0 || run->status == 1, "its status is a verdict");
        is(run->errors->str, "", "it has nothing to say on stderr");
}

static void test_interrupted(void) {
        KitOrder order = { .program = kit_cordon(), .command = WORDS("doctor") };
        g_autoptr(KitRun) run = kit_start(&order);
        bool is_begun = kit_wait_until(is_place_there, NULL, kit_patience(10 * KIT_SEC));

        kit_signal(run, SIGTERM);
        kit_finish(run);
        ok(is_begun, "it has begun to try");
        cmp_ok(run->status, "==", 143, "a signal ends it");
        is(run->output->str, "", "without a report");
        check_places("interrupted");
}

/* The next one removes what it left. */
static void test_killed(void) {
        KitOrder order = { .program = kit_cordon(), .command = WORDS("doctor") };
        g_autoptr(KitRun) killed = kit_start(&order);
        bool is_begun = kit_wait_until(is_place_there, NULL, kit_patience(10 * KIT_SEC));

        kit_signal(killed, SIGKILL);
        kit_finish(killed);
        ok(is_begun && is_place_there(NULL), "one that is killed leaves its directory");

        g_autoptr(KitRun) run = call(WORDS("doctor"));

        ok(run->status == 0 || run->status == 1, "the next one does its work");
        check_places("after both");
}

int main(void) {
        plan(NO_PLAN);
        kit_init();
        test_agreement();
        test_words();
        test_interrupted();
        test_killed();
        leftover_check_guard("doctor");
        kit_clear();
        done_testing();
}
