/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* -p StateDirectory= and its like: where a user of the manager would look for them, and told to the program. */

#include <glib/gstdio.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define GONE_USEC (1 * KIT_SEC)

/* Below "~" is what a user has, of systemd 254 and later the second where there are two. */
static const struct {
        const char *property, *variable;
        const char *of_system;
        const char *of_user[2];
        bool stays;
        bool may_be_else; /* the manager does not mind what else is there */
} rows[] = {
        { "RuntimeDirectory", "RUNTIME_DIRECTORY", "/run", { "*", "*" }, false },
        { "StateDirectory", "STATE_DIRECTORY", "/var/lib", { "~/.config", "~/.local/state" }, true },
        { "CacheDirectory", "CACHE_DIRECTORY", "/var/cache", { "~/.cache", "~/.cache" }, true },
        { "LogsDirectory",
          "LOGS_DIRECTORY",
          "/var/log",
          { "~/.config/log", "~/.local/state/log" },
          true },
        { "ConfigurationDirectory",
          "CONFIGURATION_DIRECTORY",
          "/etc",
          { "~/.config", "~/.config" },
          true,
          true },
};

static void prepare_variables(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                (void)setenv(rows[i].variable, "/of/the/caller", 1);
}

static char *pattern_for(const char *base, const char *name) {
        const char *home = getpwuid(geteuid())->pw_dir;

        return base[0] == '~' ? g_strconcat(home, base + 1, "/", name, NULL)
                              : g_strconcat(base, "/", name, NULL);
}

static bool is_expected(size_t i, const char *name, const char *directory) {
        bool is_system = g_str_equal(kit_manager(), "system");
        g_autofree char *first = pattern_for(is_system ? rows[i].of_system : rows[i].of_user[0],
                                             name);
        g_autofree char *second = pattern_for(is_system ? rows[i].of_system : rows[i].of_user[1],
                                              name);

        return g_pattern_match_simple(first, directory) ||
               g_pattern_match_simple(second, directory);
}

/* All of them: none may be there twice. */
static char *variable_of(const KitRun *run, const char *name) {
        GString *values = g_string_new(NULL);
        g_autofree char *prefix = g_strconcat(name, "=", NULL);

        for (size_t i = 0; i < run->output->len; i += strlen(run->output->str + i) + 1)
                if (g_str_has_prefix(run->output->str + i, prefix))
                        g_string_append(values, run->output->str + i + strlen(prefix));
        return g_string_free(values, FALSE);
}

static bool is_gone(const void *directory) {
        return !g_file_test(directory, G_FILE_TEST_EXISTS);
}

/* Where the directory should be is a file. */
static void test_obstacle(size_t i, const char *option, const char *path) {
        g_autofree char *words = g_strdup_printf(
                "cordon: the unit did not start (status *): its %s= cannot be made\n",
                rows[i].property);
        KitOrder order = { .options = WORDS("-p", option), .command = VICTIM("end") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "gate",
                             .words = words };

        if (!g_file_set_contents(path, "", 0, NULL))
                BAIL_OUT("cannot write %s", path);

        g_autoptr(KitRun) run = kit_run(&order);

        /* A user manager of 257 and later does not mind. */
        if (run->status == 0 && !g_str_equal(kit_manager(), "system"))
                leftover_check(run, option);
        else
                expect(run, &refused, option);
        (void)g_unlink(path);
}

static void test_row(size_t i) {
        g_autofree char *name = g_strdup_printf("cordon-test-%d", (int)getpid());
        g_autofree char *option = g_strconcat(rows[i].property, "=", name, NULL);
        KitOrder order = { .prepare = prepare_variables,
                           .options = WORDS("-p", option),
                           .command = VICTIM("cat", "/proc/self/environ") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *directory = variable_of(run, rows[i].variable);

        cmp_ok(run->status, "==", 0, "%s= is taken: %s", rows[i].property, run->errors->str);
        ok(is_expected(i, name, directory), "%s=%s", rows[i].variable, directory);
        ok(rows[i].stays ? !is_gone(directory)
                         : kit_wait_until(is_gone, directory, kit_patience(GONE_USEC)),
           "it %s", rows[i].stays ? "stays" : "goes with the run");
        (void)g_rmdir(directory);
        leftover_check(run, rows[i].property);
        if (rows[i].stays && !rows[i].may_be_else && run->status == 0)
                test_obstacle(i, option, directory);
}

/* Nothing that -p asks for: the caller's stay. */
static void test_none(void) {
        KitOrder order = { .prepare = prepare_variables,
                           .command = VICTIM("cat", "/proc/self/environ") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *directory = variable_of(run, "STATE_DIRECTORY");

        is(directory, "/of/the/caller", "without -p the caller's variables arrive");
        leftover_check(run, "no directories");
}

int main(void) {
        kit_init();
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(i);
        test_none();
        kit_clear();
        done_testing();
}
