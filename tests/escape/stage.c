/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The place outside: a directory with a secret and a workspace beside it, which an untrusted program's user may write. */

#include "stage.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "prospect.h"

#define SEEN_USEC (2 * KIT_SEC)
#define WORDS_MAX 256

static GHashTable *known;
static char *attempt;

void stage_know(const char *key, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_hash_table_replace(known, g_strdup(key), g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

const char *stage_known(const char *key) {
        const char *value = g_hash_table_lookup(known, key);

        if (!value)
                BAIL_OUT("the stage knows no %s", key);
        return value;
}

static char *make_place(const char *name, mode_t mode) {
        char *path = g_build_filename(kit_directory(), name, NULL);

        if (mkdir(path, 0755) < 0 || chmod(path, mode) < 0)
                BAIL_OUT("cannot make %s", path);
        return path;
}

static void make_places(void) {
        g_autofree char *workspace = make_place("workspace", 0777);
        g_autofree char *outside = make_place("outside", 0755);
        g_autofree char *secret = g_build_filename(outside, "secret", NULL);

        stage_know("workspace", "%s", workspace);
        stage_know("outside", "%s", outside);
        stage_know("secret", "escape-secret-%d", (int)getpid());
        stage_know("secret-file", "%s", secret);
        if (!g_file_set_contents(secret, stage_known("secret"), -1, NULL) ||
            chmod(secret, 0600) < 0)
                BAIL_OUT("cannot write %s", secret);
}

void stage_begin(void) {
        g_autofree char *real = NULL;

        kit_init();
        known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        attempt = kit_program("attempt");
        stage_know("attempt", "%s", attempt);
        real = realpath(kit_directory(), NULL);
        stage_know("directory", "%s", real);
        /* for who is not the caller must pass through it */
        (void)chmod(kit_directory(), 0755);
        make_places();
}

void stage_end(void) {
        leftover_check_guard("all runs are over");
        g_hash_table_unref(known);
        g_free(attempt);
        kit_clear();
}

const char *stage_name(Stage stage) {
        static const char *const names[] = { "plain", "--net none", "--untrusted" };

        return names[stage];
}

/* Running */

static const char *const *options_of(Stage stage) {
        static const char *const extra[][8] = {
                [STAGE_PLAIN] = { NULL },
                [STAGE_NO_NETWORK] = { "--net", "none", NULL },
                [STAGE_UNTRUSTED] = { "--untrusted", "--workspace", "@workspace", "--ro",
                                      "@attempt", NULL },
        };

        return extra[stage];
}

static void add_words(GPtrArray *words, const char *const *more) {
        for (; more && *more; more++)
                g_ptr_array_add(words,
                                (char *)((*more)[0] == '@' ? stage_known(*more + 1) : *more));
}

static GPtrArray *all_options(Stage stage, const char *const *limits) {
        GPtrArray *words = g_ptr_array_new();

        add_words(words, limits);
        add_words(words, WORDS("-C", "@workspace"));
        add_words(words, options_of(stage));
        g_ptr_array_add(words, NULL);
        return words;
}

static KitRun *start(Stage stage, const char *const *limits, GPtrArray *command, const char *id,
                     int input_fd) {
        g_autoptr(GPtrArray) options = all_options(stage, limits);

        g_ptr_array_add(command, NULL);

        KitOrder order = { .options = (const char *const *)options->pdata,
                           .command = (const char *const *)command->pdata,
                           .id = id,
                           .input_fd = input_fd };

        return kit_start(&order);
}

static void add_trial(GPtrArray *command, const Trial *trial) {
        g_ptr_array_add(command, (char *)trial->name);
        add_words(command, trial->arguments);
}

/* Judging */

bool stage_told_secret(const KitRun *run, const char *verdict) {
        return strstr(verdict, stage_known("secret"));
}

static bool is_there(const void *path) {
        return g_file_test(path, G_FILE_TEST_EXISTS);
}

bool stage_file_appears(const char *path) {
        return kit_wait_until(is_there, path, kit_patience(SEEN_USEC));
}

/* A private manager that is not root's lives in a user namespace: more is held there than a user can count on. */
static Prospects expected_of_user(const Prospect *prospect) {
        bool is_inside = g_str_equal(kit_manager(), "private");

        return is_inside && prospect->user == PROSPECT_ESCAPES ? PROSPECT_DEPENDS : prospect->user;
}

/* The record must say it, where it may be. Who is another user than the caller does not reach the caller's. */
static bool is_residual(const char *name, const KitRun *run) {
        const Residual *residual = residual_find(name);
        const cJSON *words = record_at(run, "isolation.untrusted.residuals"), *word;

        if (!residual || !residual_may_be(residual, kit_manager()) || geteuid() == 0)
                return false;
        cJSON_ArrayForEach(word, words) {
                if (g_strcmp0(cJSON_GetStringValue(word), residual->word) == 0)
                        return true;
        }
        return false;
}

static Prospects expected_of(Stage stage, const Prospect *prospect, const KitRun *run) {
        switch (stage) {
        case STAGE_PLAIN:
                return geteuid() == 0 ? prospect->root : expected_of_user(prospect);
        case STAGE_NO_NETWORK:
                return prospect->without_network;
        default:
                return is_residual(prospect->name, run) ? PROSPECT_ESCAPES : PROSPECT_HELD;
        }
}

void stage_judge(Stage stage, const KitRun *run, const char *name, bool is_said, bool is_seen) {
        const Prospect *prospect = prospect_find(name);
        Prospects expected = prospect ? expected_of(stage, prospect, run) : PROSPECT_HELD;
        bool is_escape = is_said || is_seen;
        const char *words[] = { "is held", "escapes", "may escape" };

        if (!prospect)
                fail("%s is in the table", name);
        else if (!ok(is_said == is_seen && (expected == PROSPECT_DEPENDS ||
                                            is_escape == (expected == PROSPECT_ESCAPES)),
                     "%s: %s %s", stage_name(stage), name, words[expected]))
                diag("it says that it %s; from outside it %s", is_said ? "escaped" : "was held",
                     is_seen ? "did" : "did not");
}

typedef struct {
        char *verdict;
        bool is_said, is_seen;
} Sight;

static Sight look_at(const KitRun *run, const Trial *trial) {
        Sight sight = { .verdict = kit_said(run, trial->name) };
        const char *verdict = sight.verdict ?: "";

        sight.is_said = g_str_has_prefix(verdict, "escaped");
        sight.is_seen = trial->is_seen ? trial->is_seen(run, verdict) : sight.is_said;
        if (g_str_has_prefix(verdict, "perhaps"))
                sight.is_said = sight.is_seen;
        return sight;
}

static void judge(Stage stage, const KitRun *run, const Trial *trial, const Sight *sight) {
        const char *verdict = sight->verdict ?: "nothing";

        if (!sight->verdict) {
                fail("%s: %s has a verdict", stage_name(stage), trial->name);
        } else if (g_str_has_prefix(verdict, "untried")) {
                skip(1, 1, "%s", verdict + strlen("untried: "));
                end_skip;
        } else {
                stage_judge(stage, run, trial->name, sight->is_said, sight->is_seen);
        }
        note("%s: %s: %s", stage_name(stage), trial->name, verdict);
}

static void check_end(Stage stage, const KitRun *run, const char *theme) {
        if (!ok(run->status == 0 && g_str_equal(record_text(run, "outcome"), "exited"),
                "%s: %s: the run ends as it says", stage_name(stage), theme))
                diag("status %d: %s%s", run->status, run->errors->str, run->record_text->str);
        leftover_check(run, theme);
}

void stage_try(Stage stage, const char *theme, const Trial *trials, size_t n) {
        static const char *const limits[] = { "--timeout", "3m",  "--memory", "256M",
                                              "--tasks",   "100", "--nofile", "256",
                                              "--fsize",   "64M", NULL };
        g_autofree char *id = g_strdup_printf("escape-%d-%s-%d", (int)getpid(), theme, (int)stage);
        g_autofree char *slice = leftover_unit(id, "slice");
        g_autofree Sight *sights = g_new0(Sight, n);
        g_autoptr(GPtrArray) command = g_ptr_array_new();
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        stage_know("slice", "%s", slice);
        g_ptr_array_add(command, attempt);
        for (size_t i = 0; i < n; i++)
                add_trial(command, &trials[i]);

        g_autoptr(KitRun) run = start(stage, limits, command, id, ends[0]);

        (void)close(ends[0]);
        (void)kit_wait_line(run, "tried");
        for (size_t i = 0; i < n; i++)
                sights[i] = look_at(run, &trials[i]);
        (void)close(ends[1]);
        kit_finish(run);
        for (size_t i = 0; i < n; i++) {
                judge(stage, run, &trials[i], &sights[i]);
                g_free(sights[i].verdict);
        }
        check_end(stage, run, theme);
}

KitRun *stage_start_with(Stage stage, const Trial *trial, const char *const *options,
                         int input_fd) {
        g_autoptr(GPtrArray) command = g_ptr_array_new();

        g_ptr_array_add(command, attempt);
        g_ptr_array_add(command, (char *)"alone");
        add_trial(command, trial);
        return start(stage, options, command, NULL, input_fd);
}

KitRun *stage_start_alone(Stage stage, const Trial *trial, const char *const *options) {
        g_autofree char *number = NULL;
        KitRun *run;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        run = stage_start_with(stage, trial, options, ends[0]);
        number = g_strdup_printf("%d", (int)run->pid);
        (void)!write(ends[1], number, strlen(number));
        (void)close(ends[0]);
        (void)close(ends[1]);
        return run;
}

void stage_covers(const char *theme, const Trial *trials, size_t n) {
        for (const Prospect *prospect = prospects; prospect->name; prospect++) {
                bool is_tried = !g_str_equal(prospect->theme, theme);

                for (size_t i = 0; i < n; i++)
                        is_tried = is_tried || g_str_equal(prospect->name, trials[i].name);
                if (!is_tried)
                        fail("%s of the table is tried", prospect->name);
        }
        pass("the table's prospects of %s are tried", theme);
}
