/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is said of each option, without a manager: that none is forgotten, that it is narrow, and that what a rehearsal has
 * found stands in it. */

#include <cjson/cJSON.h>
#include <string.h>
#include <tap.h>

#include "launcher/explain/explanation.h"
#include "launcher/explain/lines.h"
#include "launcher/explain/object.h"
#include "launcher/request.h"

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })

static bool is_isolation(const char *key) {
        for (int i = 0; i < _ISOLATION_MAX; i++)
                if (strcmp(isolation_info((Isolation)i)->key, key) == 0)
                        return true;
        return false;
}

static void test_rows(void) {
        const OptionInfo *info;
        Limit limit;

        for (size_t i = 0; (info = option_at(i)); i++)
                if (option_is_of(info, NULL) || option_is_of(info, VERB_SHELL))
                        ok(explanation_has_row(info->name) + limit_from_key(info->name, &limit) +
                                           is_isolation(info->name) ==
                                   1,
                           "--%s is explained in one place", info->name);
}

typedef struct {
        Options options;
        Spec *spec;
        Machine machine;
        Rehearsal rehearsal;
        Explanation explanation;
} Case;

static Case *case_new(char **words) {
        static char *environment[] = { NULL };
        g_autoptr(GError) error = NULL;
        Case *one = g_new0(Case, 1);

        options_init(&one->options);
        if (!options_parse(&one->options, words, &error))
                BAIL_OUT("%s", error->message);
        one->spec = request_spec(&one->options, environment);
        one->machine = (Machine)MACHINE_INIT;
        one->machine.controllers.unified = g_strsplit("cpu memory pids", " ", -1);
        rehearsal_refuse(NULL, NULL, &one->rehearsal);
        one->rehearsal.manager = MANAGER_USER;
        one->rehearsal.is_ready = true;
        one->rehearsal.readback.is_read = true;
        for (int i = 0; i < _LIMIT_MAX; i++)
                one->rehearsal.readback.limits[i] = (Effective){
                        .is_known = true,
                        .is_enforced = true,
                        .effective = one->spec->limits.value[i]
                };
        for (int i = 0; i < _ISOLATION_MAX; i++)
                one->rehearsal.readback.isolation[i] = true;
        return one;
}

static void refuse(Case *one, const char *option, const char *message) {
        Refusal *refusal = g_new0(Refusal, 1);

        refusal->option = option;
        refusal->code = g_strdup("unenforceable");
        refusal->message = g_strdup(message);
        g_ptr_array_add(one->rehearsal.refusals, refusal);
}

static void case_explain(Case *one) {
        explanation_init(&one->explanation, &one->options, one->spec, &one->machine,
                         &one->rehearsal);
        explanation_add_limits(&one->explanation);
        explanation_add_isolation(&one->explanation);
        explanation_add_world(&one->explanation);
}

static void case_free(Case *one) {
        explanation_clear(&one->explanation);
        rehearsal_clear(&one->rehearsal);
        machine_clear(&one->machine);
        spec_free(one->spec);
        options_clear(&one->options);
        g_free(one);
}

static const Clause *find(const Case *one, const char *key) {
        for (guint i = 0; i < one->explanation.clauses->len; i++) {
                const Clause *clause = g_ptr_array_index(one->explanation.clauses, i);

                if (strcmp(clause->key, key) == 0)
                        return clause;
        }
        return NULL;
}

static void check_narrow(const Case *one, const char *name) {
        g_autofree char *text = explanation_to_text(&one->explanation);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        const char *wide = "";

        for (char **line = lines; *line; line++)
                if (g_utf8_strlen(*line, -1) > 80 || g_str_has_suffix(*line, " "))
                        wide = *line;
        is(wide, "", "%s: no line is too wide or has a space at its end", name);
}

static void test_clauses(void) {
        Case *one = case_new(WORDS("--memory", "64M", "--cpus", "0", "--nofile", "64", "--tasks",
                                   "infinity", "--disk", "1G", "--net", "host", "--hide", "/srv",
                                   "--id", "told", "-p", "LimitNPROC=5:9", "-E", "WORD=secret",
                                   "true"));
        const Clause *clause;

        one->rehearsal.readback.limits[LIMIT_MEMORY].effective = UINT64_C(32) << 20;
        refuse(one, "cpus", "--cpus cannot be enforced here: as it is");
        case_explain(one);
        clause = find(one, "memory");
        ok(clause->standing == STANDING_HOLDS && strcmp(clause->effective, "32M") == 0,
           "a limit that holds says which is in force");
        is(clause->how, "MemoryMax of its slice, in the kernel memory.max of its control group",
           "and where");
        clause = find(one, "swap");
        is(clause->origin, "--memory", "what comes with another says so");
        clause = find(one, "cpus");
        ok(clause->standing == STANDING_REFUSED &&
                   strcmp(clause->reason, "--cpus cannot be enforced here: as it is") == 0,
           "what is refused has the run's words");
        clause = find(one, "nofile");
        is(clause->how, "LimitNOFILE of its unit, in the kernel RLIMIT_NOFILE of each process",
           "a limit of processes is an rlimit");
        ok(find(one, "disk")->standing == STANDING_OWN && !find(one, "disk")->by,
           "what cordon keeps alone needs no property");
        is(find(one, "tasks")->value, "infinity", "a limit that is lifted is told");
        ok(!standing_word(find(one, "tasks")->standing), "and that nobody keeps it");
        is(find(one, "net")->value, "host", "and so is the caller's network");
        ok(!standing_word(find(one, "net")->standing), "of which nothing is kept either");
        ok(!standing_word(find(one, "property")->standing),
           "whether a property is in force nobody looks");
        is(find(one, "hide")->value, "/srv", "a path has a clause of its own");
        is(find(one, "property")->value, "LimitNPROC=5:9", "a property is as unit files have it");
        is(find(one, "setenv")->value, "WORD", "a variable is told without its value");
        is(find(one, "id")->words, "the unit is cordon-told.service, its slice cordon-told.slice",
           "an id is told by what it names");
        is(rehearsal_verdict(&one->rehearsal, &one->options),
           "--cpus cannot be enforced here: as it is", "the run is refused for that");
        check_narrow(one, "many options");
        case_free(one);
}

static void test_best_effort(void) {
        Case *one = case_new(WORDS("--best-effort", "--cpus", "0", "true"));
        g_autofree char *text = NULL;

        one->rehearsal.readback.limits[LIMIT_CPUS] = (Effective){ .is_known = true,
                                                                  .is_stand_in = true };
        refuse(one, "cpus", "--cpus cannot be enforced here: as it is");
        case_explain(one);
        text = explanation_to_text(&one->explanation);
        ok(!rehearsal_verdict(&one->rehearsal, &one->options), "with --best-effort it is not");
        is(find(one, "cpus")->by, "CPUAffinity", "what stands in is named");
        ok(strstr(text, "not enforced here: CPUAffinity in its place"), "and that it is weaker");
        case_free(one);
}

/* It does not help against all there is. */
static void test_best_effort_fails(void) {
        Case *one = case_new(WORDS("--best-effort", "--private-tmp", "true"));
        g_autofree char *text = NULL;

        refuse(one, "private-tmp", "--private-tmp: as it is");
        one->rehearsal.code = g_strdup("directory");
        one->rehearsal.message = g_strdup("--private-tmp: as it is");
        case_explain(one);
        text = explanation_to_text(&one->explanation);
        ok(strstr(text, "The run would be refused: --private-tmp: as it is") &&
                   strstr(text, "refused here: --private-tmp: as it is"),
           "what refuses a run in spite of --best-effort is refused");
        ok(!strstr(text, "the run goes on:"), "and no run goes on");
        case_free(one);
}

/* A scope has no Limit*= of its own. */
static void test_scope(void) {
        Case *one = case_new(WORDS("--scope", "--cpu-time", "10s", "--nofile", "64", "true"));

        case_explain(one);
        is(find(one, "nofile")->how,
           "its first process sets RLIMIT_NOFILE, for itself and all it starts",
           "a scope's first process sets its rlimits");
        is(find(one, "cpu-time")->how,
           "cordon's own watch of its CPU time; RLIMIT_CPU, which its first process sets, is the "
           "backstop",
           "the backstop among them");
        case_free(one);
}

/* A whole command line of escapes, and no manager. */
static void test_unreached(void) {
        Case *one = case_new(WORDS("--label", "a=\033[31m", "--tasks", "5", "true"));
        cJSON *object;
        g_autofree char *text = NULL, *json = NULL;

        rehearsal_clear(&one->rehearsal);
        rehearsal_refuse("manager-unreachable", "no user manager: it is gone", &one->rehearsal);
        case_explain(one);
        text = explanation_to_text(&one->explanation);
        json = explanation_to_json(&one->explanation, false);
        object = cJSON_Parse(json);
        ok(!strchr(text, '\033') && g_utf8_validate(text, -1, NULL),
           "nothing a terminal would obey");
        ok(strstr(text, "none can be reached: no user manager: it is gone"), "it says why");
        ok(find(one, "tasks")->standing == STANDING_UNTRIED, "what was not tried is not in force");
        ok(object && g_utf8_validate(json, -1, NULL) &&
                   !cJSON_GetObjectItemCaseSensitive(object, "manager") &&
                   cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "refused")),
           "its JSON has no manager, and is refused");
        check_narrow(one, "without a manager");
        cJSON_Delete(object);
        case_free(one);
}

int main(void) {
        plan(NO_PLAN);
        test_rows();
        test_clauses();
        test_best_effort();
        test_best_effort_fails();
        test_scope();
        test_unreached();
        done_testing();
}
