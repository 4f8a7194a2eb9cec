/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What --explain says is held against what the same run comes to: what is in force there is in force here, what is refused
 * there is refused here with the same words, and of what was explained nothing has been done. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define MARK "explained-was-run"

static char *mark_path(void) {
        return g_build_filename(kit_directory(), MARK, NULL);
}

static const char *text_at(const cJSON *object, const char *key) {
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key)) ?: "";
}

static const cJSON *error_of(const cJSON *object) {
        return cJSON_GetObjectItemCaseSensitive(object, "error");
}

static GPtrArray *words_new(const char *first, const char *const *more) {
        GPtrArray *words = g_ptr_array_new();

        g_ptr_array_add(words, (char *)first);
        for (; more && *more; more++)
                g_ptr_array_add(words, (char *)*more);
        g_ptr_array_add(words, NULL);
        return words;
}

/* A program that would leave a mark. */
static KitRun *explain(const char *const *options, bool is_json) {
        g_autofree char *path = mark_path();
        g_autoptr(GPtrArray) words = words_new("--explain", options);
        KitOrder order = { .command = WORDS("touch", path) };

        if (is_json)
                g_ptr_array_insert(words, 0, (char *)"--json");
        order.options = (const char *const *)words->pdata;
        return kit_run(&order);
}

static void check_nothing_done(const KitRun *run, const char *name) {
        g_autofree char *path = mark_path();

        ok(!g_file_test(path, G_FILE_TEST_EXISTS), "%s: the program was not run", name);
        is(run->record_text->str, "", "%s: no record was written", name);
        leftover_check(run, name);
}

static const cJSON *find(const cJSON *explanation, const char *key, const char *value) {
        const cJSON *options = cJSON_GetObjectItemCaseSensitive(explanation, "options"), *option;

        cJSON_ArrayForEach(option, options) if (strcmp(text_at(option, "option"), key) == 0 &&
                                                (!value || strcmp(text_at(option, "value"),
                                                                  value) == 0)) return option;
        return NULL;
}

/* Each entry that the record has of the run: the same carrier, in force or not in both. A limit that is cordon's own is
 * always in force. */
static bool agrees(const cJSON *explanation, const cJSON *entry) {
        const cJSON *option = find(explanation, entry->string, NULL);
        const char *state = text_at(option, "state");
        bool is_in_force = strcmp(state, "in-force") == 0 || strcmp(state, "kept-by-cordon") == 0;
        bool is_enforced = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "enforced"));

        if (is_in_force == is_enforced && strcmp(text_at(option, "by"), text_at(entry, "by")) == 0)
                return true;
        diag("%s: state \"%s\", by \"%s\"; but in the run by \"%s\", enforced: %s", entry->string,
             state, text_at(option, "by"), text_at(entry, "by"), is_enforced ? "yes" : "no");
        return false;
}

static void check_executed(const cJSON *explanation, const KitRun *run, const char *name) {
        static const char *const groups[] = { "limits", "isolation" };
        bool all = true;

        for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
                const cJSON *group = record_at(run, groups[i]), *entry;

                cJSON_ArrayForEach(entry, group) all = agrees(explanation, entry) && all;
        }
        ok(all, "%s: what is said to be in force is so in a run, and nothing else", name);
}

static void check_refused(const cJSON *explanation, const KitRun *run, const char *name) {
        const cJSON *error = error_of(explanation);

        is(text_at(error, "message"), record_text(run, "error.message"),
           "%s: it is refused with a run's words", name);
        is(text_at(error, "code"), record_text(run, "error.code"), "%s: and its code", name);
}

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options;
} rows[] = {
        { "nothing asked", WORDS("-q") },
        { "limits of the tree", WORDS("--memory", "64M", "--tasks", "20", "--cpu", "50%") },
        { "limits of a process", WORDS("--nofile", "64", "--fsize", "1M", "--stack", "8M", "--address-space", "1G") },
        { "limits of ours", WORDS("--timeout", "20s", "--cpu-time", "10s", "--grace", "1s", "--disk", "10M") },
        { "slowed down", WORDS("--memory-high", "64M") },
        { "CPUs", WORDS("--cpus", "0") },
        { "CPUs, at best", WORDS("--best-effort", "--cpus", "0", "--memory-high", "64M") },
        { "swap", WORDS("--swap", "5M") },
        { "many that may not hold", WORDS("--memory-high", "64M", "--cpus", "0", "--swap", "3M", "--tasks", "9") },
        { "a pool", WORDS("--pool", "explained", "--pool-tasks", "99", "--max-parallel", "3") },
        { "an own /tmp", WORDS("--private-tmp", "-C", "/") },
        { "no network", WORDS("--net", "none") },
        { "some of a network", WORDS("--net", "allow=127.0.0.1") },
        { "files", WORDS("--fs", "strict") },
        { "paths", WORDS("--ro", "/usr", "--hide", "/srv", "--scratch", "/mnt:8M", "-C", "/") },
        { "not trusted", WORDS("--untrusted", "-C", "/", "--workspace", "work") },
        { "a property", WORDS("-p", "OOMScoreAdjust=500") },
        { "a property of new managers", WORDS("-p", "PrivatePIDs=yes", "--tasks", "9") },
        { "a property that needs BPF", WORDS("-p", "IPAddressDeny=any") },
};
/* clang-format on */

/* What needs no manager to be refused is told in one line, as the run tells it. */
static void check_mistake(const KitRun *explained, const KitRun *run, const char *name) {
        is(explained->errors->str, run->errors->str, "%s: it is refused in a run's line", name);
        is(record_text(run, "outcome"), "refused", "%s: which is refused", name);
        cmp_ok(explained->status, "==", 125, "%s: with its status", name);
        check_nothing_done(explained, name);
        leftover_check(run, name);
}

static void check_explained(const KitRun *explained, const KitRun *run, const char *name) {
        cJSON *explanation = cJSON_Parse(explained->output->str);
        bool is_refused = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(explanation, "refused"));

        is(explained->errors->str, "", "%s: there is nothing to say on stderr", name);
        if (!ok(explanation && is_refused == (strcmp(record_text(run, "outcome"), "refused") == 0),
                "%s: it says whether a run is refused", name))
                diag("%s\n%s", explained->output->str, run->record_text->str);
        cmp_ok(explained->status, "==", is_refused ? 125 : 0, "%s: so does its status", name);
        is(text_at(explanation, "manager"), kit_manager(), "%s: it names the manager", name);
        if (is_refused)
                check_refused(explanation, run, name);
        else
                check_executed(explanation, run, name);
        check_nothing_done(explained, name);
        leftover_check(run, name);
        cJSON_Delete(explanation);
}

static void test_agreement(void) {
        g_autofree char *work = g_build_filename(kit_directory(), "work", NULL);

        if (g_mkdir_with_parents(work, 0777) < 0)
                BAIL_OUT("cannot make %s", work);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                KitOrder order = { .options = rows[i].options, .command = WORDS("true") };
                g_autoptr(KitRun) explained = explain(rows[i].options, true);
                g_autoptr(KitRun) run = kit_run(&order);

                if (explained->output->len > 0 || !kit_is_scope())
                        check_explained(explained, run, rows[i].name);
                else
                        check_mistake(explained, run, rows[i].name);
        }
}

/* Each that is refused has the reason that a run with it alone gives, however many they are. */
static void test_every_refusal(void) {
        g_autoptr(KitRun) explained = explain(WORDS("--memory-high", "64M", "--cpus", "0", "--swap",
                                                    "3M", "--tasks", "9"),
                                              true);
        cJSON *explanation = cJSON_Parse(explained->output->str);
        static const char *const asked[][2] = {
                { "memory-high", "64M" }, { "cpus", "0" }, { "swap", "3M" }, { "tasks", "9" }
        };

        for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
                g_autofree char *option = g_strconcat("--", asked[i][0], NULL);
                KitOrder order = { .options = WORDS(option, asked[i][1]),
                                   .command = WORDS("true") };
                g_autoptr(KitRun) run = kit_run(&order);

                is(text_at(error_of(find(explanation, asked[i][0], NULL)), "message"),
                   record_text(run, "error.message"), "%s alone: the same reason, or none", option);
        }
        cJSON_Delete(explanation);
}

static bool is_narrow(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++)
                if (g_utf8_strlen(*line, -1) > 80 || g_str_has_suffix(*line, " "))
                        return false;
        return true;
}

static void check_shown(const KitRun *run, const char *pattern) {
        g_autofree char *joined = g_strdup(run->output->str);
        g_auto(GStrv) words = g_strsplit_set(joined, " \n", -1);
        g_autoptr(GString) line = g_string_new(NULL);

        for (char **word = words; *word; word++)
                if (**word)
                        g_string_append_printf(line, "%s ", *word);
        if (!ok(g_pattern_match_simple(pattern, line->str), "it says \"%s\"", pattern))
                diag("%s%s", run->output->str, run->errors->str);
}

static void test_words(void) {
        g_autofree char *manager = g_strdup_printf("* would do this here manager %s*",
                                                   kit_manager());
        g_autoptr(KitRun)
                run = explain(WORDS("--tasks", "20", "--timeout", "5s", "--nofile", "64", "--net",
                                    "none", "--label", "a=b", "-E", "SECRET=hidden", "--wait",
                                    "tree", "--best-effort", "-p", "CPUWeight=50"),
                              false);

        cmp_ok(run->status, "==", 0, "its status is its verdict");
        is(run->errors->str, "", "it has nothing to say on stderr");
        ok(is_narrow(run->output->str), "words fit 80 columns");
        check_shown(run, manager);
        check_shown(run,
                    "* --timeout 5s end it after this much wall-clock time cordon's own timer; "
                    "RuntimeMaxSec of its unit is the backstop, a little later *");
        check_shown(run, "* --setenv SECRET this variable is set for the program *");
        check_shown(run, "* --wait tree it ends with the last process that it leaves *");
        check_shown(run, "* --property CPUWeight=50 a property of its unit*");
        ok(!strstr(run->output->str, "hidden"), "it does not repeat what a variable is set to");
        check_nothing_done(run, "words");

        g_autoptr(KitRun) plain = explain(WORDS("--tasks", "20", "--net", "none"), false);

        cmp_ok(plain->status, "==", 0, "what can be had is not refused");
        check_shown(plain, "* --tasks 20 processes and threads at a time TasksMax of its slice, in "
                           "the kernel *pids.max of its control group in force here *");
        check_shown(plain, kit_is_scope()
                                   ? "* --net none no network at all its first process makes "
                                     "a network namespace of its own * in force here *"
                                   : "* --net none no network at all PrivateNetwork of its "
                                     "unit: a network namespace of its own in force here *");
        check_shown(plain, "* Nothing was run: *");
}

/* A job's words are told as the job has them. */
static void test_job(void) {
        g_autofree char *path = g_build_filename(kit_directory(), "job.json", NULL);

        if (!g_file_set_contents(path,
                                 "{\"limits\":{\"tasks\":20,\"nofile\":50},\"wait\":\"tree\"}", -1,
                                 NULL))
                BAIL_OUT("cannot make %s", path);

        g_autoptr(KitRun) run = explain(WORDS("--job", path, "--nofile", "64"), false);

        cmp_ok(run->status, "==", 0, "a job can be explained");
        check_shown(run, "* $.limits.tasks 20 processes and threads at a time *");
        check_shown(run, "* --nofile 64 open files of each process *");
        check_shown(run, "* $.wait tree *");
        check_nothing_done(run, "a job");
}

static void test_shell(void) {
        KitOrder order = { .program = kit_cordon(),
                           .command = WORDS("shell", "--explain", "--tasks", "20") };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 0, "a shell can be explained");
        is(run->errors->str, "", "without a word before a prompt");
        check_shown(run, "cordon shell would do this here *");
        check_shown(run, "* --scope by default: the program is a child of the caller's*");
}

/* As the run that is there would not let another one be. */
static void test_id_in_use(void) {
        KitOrder order = { .command = VICTIM("say", "ready", "pause"), .id = "explain-twice" };
        g_autoptr(KitRun) run = kit_start(&order);
        bool is_there = kit_wait_line(run, "ready");
        KitOrder again = { .command = WORDS("true"),
                           .options = WORDS("--explain"),
                           .id = "explain-twice" };
        g_autoptr(KitRun) explained = kit_run(&again);

        ok(is_there, "there is a run");
        cmp_ok(explained->status, "==", 125, "another one of its id would be refused");
        check_shown(explained, "* The run would be refused: --id: \"explain-twice\" is in use *");
        kit_signal(run, SIGTERM);
        kit_finish(run);
        leftover_check(run, "the run whose id it was");
}

static void test_mistakes(void) {
        static const char *const mistakes[][2] = { { "--memory", "12Q" },
                                                   { "--dry-run", "--explain" },
                                                   { "--uid", "no-such-user" } };

        for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
                g_autoptr(KitRun) run = explain(WORDS(mistakes[i][0], mistakes[i][1]), false);

                cmp_ok(run->status, "==", 125, "%s %s is a mistake", mistakes[i][0],
                       mistakes[i][1]);
                is(run->output->str, "", "of which nothing is explained");
                ok(g_str_has_prefix(run->errors->str, "cordon: ") &&
                           strchr(run->errors->str, '\n') ==
                                   run->errors->str + run->errors->len - 1,
                   "but in one line");
        }
}

/* Nobody is there: that, too, is told as a run tells it. */
static void test_no_manager(void) {
        static const char *const environment[] = { "XDG_RUNTIME_DIR=/nowhere", "PATH=/bin:/usr/bin",
                                                   NULL };
        KitOrder order = { .options = WORDS("--user", "--explain", "--json"),
                           .command = WORDS("true"),
                           .environment = environment };
        KitOrder earnest = { .options = WORDS("--user"),
                             .command = WORDS("true"),
                             .environment = environment };

        g_autoptr(KitRun) run = kit_run(&earnest);

        skip(run->status == 0, 3, "n/a: there is a user manager");
        g_autoptr(KitRun) explained = kit_run(&order);
        cJSON *explanation = cJSON_Parse(explained->output->str);

        cmp_ok(explained->status, "==", 125, "without a manager there is no run");
        check_refused(explanation, run, "without a manager");
        cJSON_Delete(explanation);
        end_skip;
}

/* It waits for what the program would read, which nobody writes. */
static void test_interrupted(void) {
        g_autofree char *fifo = g_build_filename(kit_directory(), "nobody-writes", NULL);
        KitOrder order = { .options = WORDS("--explain", "--stdin", fifo),
                           .command = WORDS("true") };

        if (mkfifo(fifo, 0600) < 0)
                BAIL_OUT("cannot make %s", fifo);

        g_autoptr(KitRun) run = kit_start(&order);

        kit_signal(run, SIGTERM);
        kit_finish(run);
        cmp_ok(run->status, "==", 143, "a signal ends it");
        is(run->output->str, "", "without a word of what was not tried");
}

int main(void) {
        plan(NO_PLAN);
        kit_init();
        test_agreement();
        test_every_refusal();
        test_words();
        test_job();
        test_shell();
        test_id_in_use();
        test_mistakes();
        test_no_manager();
        test_interrupted();
        leftover_check_guard("explain");
        kit_clear();
        done_testing();
}
