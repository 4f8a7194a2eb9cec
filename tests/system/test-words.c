/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What -v says, and when: who runs it and what of the caller's world is missing while it runs, the evidence when it has
 * ended. What is always said is in the tests of what it is about. */

#include <signal.h>
#include <string.h>

#include "expect.h"
#include "leftover.h"

static const char *const callers[] = { "KEPT=yes",           "NOTIFY_SOCKET=/run/notify",
                                       "LISTEN_FDS=3",       "INVOCATION_ID=0123456789abcdef",
                                       "PATH=/usr/bin:/bin", NULL };

static char **environment(void) {
        g_auto(GStrv) ours = g_get_environ();
        GPtrArray *all = g_ptr_array_new();

        for (size_t i = 0; callers[i]; i++)
                g_ptr_array_add(all, g_strdup(callers[i]));
        for (char **variable = ours; *variable; variable++)
                if (g_str_has_prefix(*variable, "CORDON") ||
                    g_str_has_prefix(*variable, "XDG_RUNTIME_DIR="))
                        g_ptr_array_add(all, g_strdup(*variable));
        g_ptr_array_add(all, NULL);
        return (char **)g_ptr_array_free(all, FALSE);
}

static void test_verbose(void) {
        KitOrder order = { .options = WORDS("-v"),
                           .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n", .words = "*" };
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *beginning = g_strdup_printf("cordon: %s: %s manager, systemd ", run->id,
                                                     kit_manager());

        if (!kit_wait_line(run, "ready"))
                BAIL_OUT("no run starts: %s", run->errors->str);
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        expect(run, &expected, "-v");
        ok(g_str_has_prefix(run->errors->str, beginning), "-v says who runs it: %s",
           run->errors->str);
        ok(!strstr(run->errors->str, "systemd unknown"), "and which version that is");
        ok(strstr(strchr(run->errors->str, '\n'), "cordon: evidence: main process exited 0\n"),
           "then how its end is known");
        ok(!strstr(run->errors->str, "not passed on"),
           "nothing was lost, and nothing is said of it");
}

/* A program that lives until somebody has heard of it. */
static void test_while_it_runs(void) {
        g_autofree char *command = g_strdup_printf(
                "exec \"%s\" run -v --timeout 1m -- sh -c "
                "'while ! grep -q manager said; do :; done; echo heard' 2>said",
                kit_cordon());
        KitOrder shell = { .program = "/bin/sh", .command = WORDS("-c", command) };
        g_autoptr(KitRun) run = kit_run(&shell);

        is(run->output->str, "heard\n", "a program can read who runs it: %s", run->errors->str);
        cmp_ok(run->status, "==", 0, "-v says who runs it while it runs");
}

/* clang-format off */
static const struct {
        const char *const *options;
        const char *lost; /* NULL: nothing is said of it */
} rows[] = {
        { WORDS("-v"), "NOTIFY_SOCKET, LISTEN_FDS, INVOCATION_ID" },
        { WORDS("-v", "-E", "NOTIFY_SOCKET"), "LISTEN_FDS, INVOCATION_ID" },
        { WORDS("-v", "-E", "NOTIFY_SOCKET", "-E", "LISTEN_FDS=1", "-E", "INVOCATION_ID"),
          NULL },
        { WORDS("-v", "--clean-env"), NULL },
        { WORDS("-q"), NULL },
        { NULL, NULL },
};
/* clang-format on */

static void test_lost_variables(void) {
        g_auto(GStrv) variables = environment();

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                KitOrder order = { .options = rows[i].options,
                                   .environment = (const char *const *)variables,
                                   .command = VICTIM("end") };
                g_autofree char *name = rows[i].options ? g_strjoinv(" ", (char **)rows[i].options)
                                                        : g_strdup("no option");
                g_autofree char *line = g_strdup_printf(
                        "\ncordon: not passed on: %s, which describe the caller's own unit\n",
                        rows[i].lost);
                g_autoptr(KitRun) run = kit_run(&order);

                cmp_ok(run->status, "==", 0, "%s: it runs", name);
                ok(rows[i].lost ? strstr(run->errors->str, line) != NULL
                                : !strstr(run->errors->str, "not passed on"),
                   "%s: what is dropped is said in one line: %s", name, run->errors->str);
                leftover_check(run, name);
        }
}

static void test_quiet_and_verbose(void) {
        KitOrder quiet = { .options = WORDS("-v", "-q"), .command = VICTIM("raise", "KILL") };
        KitOrder verbose = { .options = WORDS("-q", "-v"), .command = VICTIM("raise", "KILL") };
        g_autoptr(KitRun) silent = kit_run(&quiet);
        g_autoptr(KitRun) talking = kit_run(&verbose);

        is(silent->errors->str, "", "-q behind -v: no words");
        ok(strstr(talking->errors->str, "manager, systemd ") &&
                   strstr(talking->errors->str, "cordon: killed (SIGKILL) ") &&
                   strstr(talking->errors->str, "cordon: evidence: "),
           "-v behind -q: all of them: %s", talking->errors->str);
        leftover_check(silent, "-v -q");
        leftover_check(talking, "-q -v");
}

int main(void) {
        kit_init();
        test_verbose();
        test_while_it_runs();
        test_lost_variables();
        test_quiet_and_verbose();
        kit_clear();
        done_testing();
}
