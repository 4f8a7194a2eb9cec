/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The three streams and nothing else: the program has the caller's very own, closed where the caller's are, and no
 * descriptor of ours or of the manager's. And its environment is nobody's business but its own. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define SECRET "hunter2-the-secret"

static int text_file(const char *name, const char *text) {
        g_autofree char *path = g_build_filename(kit_directory(), name, NULL);

        if (!g_file_set_contents(path, text, -1, NULL))
                BAIL_OUT("cannot write %s", path);
        return open(path, O_RDONLY | O_CLOEXEC);
}

/* Lines "NUMBER TARGET" of what the program has open. */
static char *open_numbers(const KitRun *run) {
        g_auto(GStrv) lines = g_strsplit(run->output->str, "\n", -1);
        g_autoptr(GString) numbers = g_string_new(NULL);

        for (char **line = lines; *line && **line; line++)
                g_string_append_printf(numbers, "%.*s ", (int)strcspn(*line, " "), *line);
        return g_string_free(g_steal_pointer(&numbers), FALSE);
}

static void prepare_strays(void) {
        if (dup2(STDOUT_FILENO, 30) < 0 || dup2(STDERR_FILENO, 31) < 0)
                _exit(125);
}

static void test_streams(void) {
        KitOrder order = { .prepare = prepare_strays, .command = VICTIM("fds") };
        g_autoptr(KitRun) run = kit_start(&order);
        struct stat output = { 0 }, errors = { 0 };
        bool is_known = fstat(run->fds[0], &output) == 0 && fstat(run->fds[1], &errors) == 0;

        kit_finish(run);

        g_autofree char *numbers = open_numbers(run), *one = kit_said(run, "1"),
                        *two = kit_said(run, "2"), *zero = kit_said(run, "0");
        g_autofree char *first = g_strdup_printf("pipe:[%ju]", (uintmax_t)output.st_ino);
        g_autofree char *second = g_strdup_printf("pipe:[%ju]", (uintmax_t)errors.st_ino);

        skip(kit_is_scope(), 1, "n/a: a child has all that the caller has open");
        is(numbers, "0 1 2 ", "the program has three descriptors and no other");
        end_skip;
        is(zero ?: "", "/dev/null", "stdin is the caller's");
        ok(is_known, "our ends of the pipes are known");
        is(one ?: "", first, "stdout is the caller's own");
        is(two ?: "", second, "stderr is the caller's own");
        leftover_check(run, "three streams");
}

static void close_input(void) {
        (void)close(STDIN_FILENO);
}

static void close_all(void) {
        (void)close(STDIN_FILENO);
        (void)close(STDOUT_FILENO);
        (void)close(STDERR_FILENO);
}

static void close_errors(void) {
        (void)close(STDERR_FILENO);
}

static void test_closed(void) {
        KitOrder no_input = { .prepare = close_input, .command = VICTIM("fds") };
        KitOrder nothing = { .prepare = close_all, .command = VICTIM("exit", "3") };
        KitOrder mute = { .prepare = close_errors,
                          .options = WORDS("--timeout", "200ms"),
                          .command = VICTIM("pause") };
        Expected exited = { .outcome = "exited", .status = 3, .exit_code = 3 };
        Expected timeout = { .outcome = "timeout",
                             .status = 124,
                             .exit_code = ABSENT,
                             .signal = SIGTERM,
                             .touched = "timeout" };
        g_autoptr(KitRun) first = kit_run(&no_input);
        g_autofree char *numbers = open_numbers(first);

        ok(g_str_has_prefix(numbers, "1 2 "), "a closed stdin stays closed");
        leftover_check(first, "a closed stdin");

        g_autoptr(KitRun) second = kit_run(&nothing);

        expect(second, &exited, "three closed streams");

        g_autoptr(KitRun) third = kit_run(&mute);

        expect(third, &timeout, "words that nobody can hear");
}

static void test_input(void) {
        int file = text_file("input", "some\ninput");
        KitOrder caller = { .input_fd = file, .command = VICTIM("copy") };
        KitOrder named = { .options = WORDS("--stdin", "input"), .command = VICTIM("copy") };
        KitOrder null = { .options = WORDS("--stdin", "null"),
                          .input_fd = file,
                          .command = VICTIM("copy", "link", "/proc/self/fd/0") };
        Expected expected = { .outcome = "exited", .said = "some\ninput" };
        Expected nothing = { .outcome = "exited", .said = "link /dev/null\n" };
        g_autoptr(KitRun) first = kit_run(&caller);
        g_autoptr(KitRun) second = kit_run(&named);
        g_autoptr(KitRun) third = kit_run(&null);

        expect(first, &expected, "stdin of the caller");
        expect(second, &expected, "--stdin FILE");
        expect(third, &nothing, "--stdin null");
        (void)close(file);
}

/* Reading stops early: as in a shell the program ends by SIGPIPE, and nobody says a word. */
static void test_pipe(void) {
        KitOrder order = { .command = VICTIM("say", "ready", "flood", "100000000") };
        Expected expected = { .outcome = "signaled",
                              .status = 141,
                              .exit_code = ABSENT,
                              .signal = SIGPIPE,
                              .message = "killed (SIGPIPE)",
                              .said = "ready\n*" };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        (void)close(run->fds[0]);
        run->fds[0] = -1;
        kit_finish(run);
        expect(run, &expected, "a reader that has had enough");
}

/* What the manager would tell anybody who asks */

static char **with_runtime_dir(const char *runtime_dir) {
        char **environment = g_get_environ();

        if (!g_str_equal(kit_manager(), "system"))
                environment = g_environ_setenv(environment, "XDG_RUNTIME_DIR", runtime_dir, TRUE);
        return g_environ_unsetenv(environment, "DBUS_SESSION_BUS_ADDRESS");
}

static void show(GString *shown, const char *runtime_dir, const char *verb, const char *unit) {
        g_auto(GStrv) environment = with_runtime_dir(runtime_dir);
        g_autofree char *program = g_find_program_in_path("systemctl");
        bool is_system = g_str_equal(kit_manager(), "system");
        KitOrder order = { .program = program,
                           .environment = (const char *const *)environment,
                           .command = WORDS(is_system ? "--system" : "--user", "--no-pager", verb,
                                            unit) };

        if (!program)
                return;

        g_autoptr(KitRun) run = kit_run(&order);

        g_string_append(shown, run->output->str);
}

static void add_files(GString *shown, const char *unit) {
        g_autoptr(GPtrArray) dirs = manager_transient_dirs();

        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *path = g_build_filename(g_ptr_array_index(dirs, i), unit, NULL);
                g_autofree char *text = NULL;

                if (g_file_get_contents(path, &text, NULL, NULL))
                        g_string_append(shown, text);
        }
}

static void test_secret(void) {
        KitOrder order = { .options = WORDS("-E", "PASSWORD=" SECRET),
                           .command = VICTIM("quit-on", "TERM", "pid", "say", "ready", "pause") };
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        g_autoptr(GString) shown = g_string_new(NULL);
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *unit = leftover_program_unit(run->id);
        g_autofree char *slice = leftover_unit(run->id, "slice");

        (void)kit_wait_line(run, "ready");
        if (dirs->len == 0) {
                g_ptr_array_unref(g_steal_pointer(&dirs));
                dirs = manager_runtime_dirs();
        }
        for (guint i = 0; i < dirs->len; i++) {
                show(shown, g_ptr_array_index(dirs, i), "show", unit);
                show(shown, g_ptr_array_index(dirs, i), "show", slice);
        }
        add_files(shown, unit);
        ok(strstr(shown->str, unit), "the manager shows the unit");
        ok(strstr(shown->str, "[Service]") || strstr(shown->str, "[Scope]"),
           "… and has a file of it");
        ok(!strstr(shown->str, SECRET), "the manager does not know the environment");
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGTERM);
        kit_finish(run);
        cmp_ok(run->status, "==", 0, "a run that was looked at goes on");
        leftover_check(run, "a run with a secret");
}

int main(void) {
        kit_init();
        test_streams();
        test_closed();
        test_input();
        test_pipe();
        test_secret();
        kit_clear();
        done_testing();
}
