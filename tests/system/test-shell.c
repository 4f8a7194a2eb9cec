/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon shell: which shell it is, as what it runs, what it says first, and how it ends: from a file and at a terminal. The
 * test runs twice: as a service, and in a scope, which it is by itself. What jobs and keys do is seen in test-pty-tmux. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "seat.h"

#define BASH  "/bin/bash"
#define READY "ready 1\r"

/* How the kit has it: --service or --scope. */
static const char *mode_option(void) {
        return kit_is_scope() ? "--scope" : "--service";
}

static const char *mode_word(void) {
        return kit_is_scope() ? "scope" : "service";
}

static char *path_of(const char *name) {
        return g_build_filename(kit_directory(), name, NULL);
}

static void put_file(const char *name, const char *text, mode_t mode) {
        g_autofree char *path = path_of(name);

        if (!g_file_set_contents(path, text, -1, NULL) || chmod(path, mode) < 0)
                BAIL_OUT("cannot write %s", path);
}

/* What it says of what it does not know better. */
static char *greeting(const char *bounds) {
        return g_strdup_printf("cordon: shell test-* under %s (%s, %s manager); the record goes to "
                               "fd:9",
                               bounds, mode_word(), kit_manager());
}

static KitRun *shell_start(KitOrder *order, const char *shell) {
        KitRun *run;

        order->verb = "shell";
        run = kit_start(order);
        run->command = g_strdupv((char **)WORDS(shell));
        return run;
}

/* Reads a script as its standard input. */
static KitRun *shell_read(const char *const *options, const char *shell, const char *script) {
        KitOrder order = { .options = options };
        g_autofree char *path = path_of("script");
        KitRun *run;

        put_file("script", script, 0644);
        order.input_fd = open(path, O_RDONLY | O_CLOEXEC);
        run = shell_start(&order, shell);
        (void)close(order.input_fd);
        kit_finish(run);
        return run;
}

/* By itself */

/* clang-format off */
static const struct {
        const char *const *options;
        const char *mode, *bounds;
} choices[] = {
        { WORDS("--memory", "64M", "--tasks", "50"), "scope", "memory=64M swap=0 tasks=50" },
        { WORDS("-p", "CPUWeight=50", "-p", "MemoryLow=1%", "-p", "CPUQuotaPeriodSec=50ms", "-p", "After=basic.target"), "scope", "no limits" },
        { WORDS("--scope"),                          "scope", "no limits" },
        { WORDS("--grace", "2s", "--core", "1M"),    "scope", "grace=2s core=1M" },
        { WORDS("--service"),                        "service", "no limits" },
        { WORDS("--pty"),                            "service", "no limits" },
        { WORDS("-p", "CPUWeight=50", "-p", "UMask=0027"), "service", "no limits" },
        { WORDS("--untrusted", "--fs", "host", "-C", "/", "--timeout", "1h"), "service", "timeout=1h memory=512M swap=0 cpu=100% tasks=128 nofile=4096*, untrusted private-tmp net=none" },
};
/* clang-format on */

static void test_choice(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(choices); i++) {
                g_autoptr(KitRun) run = shell_read(choices[i].options, BASH, "exit 7\n");
                g_autofree char *words = g_strdup_printf(
                        "cordon: shell test-* under %s (%s, %s manager); the record goes to fd:9\n",
                        choices[i].bounds, choices[i].mode, kit_manager());

                cmp_ok(run->status, "==", 7, "%s: its status", choices[i].bounds);
                is(record_text(run, "mode"), choices[i].mode, "in a %s", choices[i].mode);
                if (!ok(g_pattern_match_simple(words, run->errors->str), "and it is told so"))
                        diag("not \"%s\": %s", words, run->errors->str);
                leftover_check(run, choices[i].bounds);
        }
}

/* clang-format off */
static const struct {
        const char *const *words;
        const char *message;
} refusals[] = {
        { WORDS("--", "ls"),            "shell takes nothing but options, not \"ls\"; for a command use cordon run; *" },
        { WORDS("ls", "-l"),            "shell takes nothing but options, not \"ls\"; for a command use cordon run; *" },
        { WORDS("--job", "command"),    "--job: $.command: shell runs a shell; for a command use cordon run; *" },
        { WORDS("--job", "detach"),     "--job: $.detach: cordon shell has no such option; *" },
        { WORDS("--job", "-"),          "--job: standard input is the shell's; a file is needed; *" },
        { WORDS("--capture"),           "--capture: cordon shell has no such option, cordon run has; *" },
        { WORDS("--output=1M"),         "--output: cordon shell has no such option, cordon run has; *" },
        { WORDS("--detach"),            "--detach: cordon shell has no such option, cordon run has; *" },
        { WORDS("--stdin", "null"),     "--stdin: cordon shell has no such option, cordon run has; *" },
        { WORDS("--no-pty"),            "--no-pty: cordon shell has no such option, cordon run has; *" },
        { WORDS("--scope", "--pty"),    "--pty: not with --scope, *" },
        { WORDS("--scope", "--untrusted", "-C", "/usr", "--fs", "host"), "--untrusted cannot be had with --scope, *use --service" },
        { WORDS("--memory", "x"),       "--memory: \"x\" is not *" },
        { WORDS("-E", "SHELL=sh"),      "SHELL: \"sh\" is not an absolute path; *" },
        { WORDS("--uid", "nobody-has-this-name"), "--uid: there is no user *" },
};
/* clang-format on */

static void test_refusals(void) {
        put_file("command", "{\"command\": [\"ls\"]}", 0644);
        put_file("detach", "{\"detach\": true}", 0644);
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                g_autoptr(KitRun) run = shell_read(refusals[i].words, BASH, "{}\n");

                cmp_ok(run->status, "==", 125, "it is refused: %s", refusals[i].message);
                is(record_text(run, "outcome"), "refused", "so says its record");
                if (!ok(g_pattern_match_simple(refusals[i].message, record_text(run, "message")),
                        "and why"))
                        diag("%s", record_text(run, "message"));
                leftover_check(run, "a shell that was refused");
        }
}

/* In each mode */

static void check_reads(const KitRun *run, int status, const char *bounds, const char *said,
                        const char *name) {
        g_autofree char *first = greeting(bounds), *words = g_strconcat(first, "\n", NULL);
        Expected expected = { .outcome = "exited",
                              .status = status,
                              .exit_code = status,
                              .words = words,
                              .said = said };

        expect(run, &expected, name);
}

static void test_script(void) {
        g_autoptr(KitRun) run = shell_read(WORDS(mode_option(), "--memory", "64M"), BASH,
                                           "echo name $0\nshopt -q login_shell && echo login\n"
                                           "echo profile $PROFILE\nexit 7\n");

        check_reads(run, 7, "memory=64M swap=0", "name -bash\nlogin\nprofile mine\n",
                    "a login shell that reads a script");
}

static void test_quiet(void) {
        g_autoptr(KitRun) run = shell_read(WORDS(mode_option(), "-q"), BASH, "exit 3\n");
        Expected expected = { .outcome = "exited", .status = 3, .exit_code = 3 };

        expect(run, &expected, "-q");
}

static void test_job(void) {
        g_autoptr(KitRun) run = NULL;

        put_file("job", "{\"limits\": {\"tasks\": 40}, \"env\": {\"WHO\": \"me\"}}", 0644);
        run = shell_read(WORDS(mode_option(), "--job", "job"), BASH, "echo $WHO\n");
        check_reads(run, 0, "tasks=40", "me\n", "a job without a command");
}

/* Which */

static const char *own_shell(void) {
        static char path[4096];
        g_autofree char *own = path_of("own-shell");

        put_file("own-shell", "#!/bin/sh\necho own\nexit 4\n", 0755);
        g_strlcpy(path, own, sizeof path);
        return path;
}

/* -E wins; else it is $SHELL; else what the user data base has. */
static void test_which(void) {
        g_autofree char *option = g_strconcat("SHELL=", own_shell(), NULL), *of_user = NULL;
        Expected own = { .outcome = "exited", .status = 4, .exit_code = 4, .said = "own\n" };
        Expected none = { .outcome = "not-started",
                          .status = 127,
                          .exit_code = ABSENT,
                          .error = "command-not-found",
                          .words = "cordon: \"/no/shell\": command not found\n" };
        g_autoptr(KitRun)
                chosen = shell_read(WORDS(mode_option(), "-q", "-E", option), own_shell(), "");
        g_autoptr(KitRun) missing = shell_read(WORDS(mode_option(), "-E", "SHELL=/no/shell"),
                                               "/no/shell", "");
        g_autoptr(KitRun) callers = NULL, of_base = NULL;

        expect(chosen, &own, "-E SHELL");
        is(record_text(missing, "error.code"), none.error, "a shell that is not there");
        cmp_ok(missing->status, "==", none.status, "and its status");
        leftover_check(missing, "a shell that is not there");

        g_setenv("SHELL", own_shell(), TRUE);
        callers = shell_read(WORDS(mode_option(), "-q"), own_shell(), "");
        expect(callers, &own, "the caller's SHELL");
        of_base = shell_read(WORDS(mode_option(), "-q", "--clean-env"), BASH, "exit 4\n");
        g_setenv("SHELL", BASH, TRUE);
        of_user = g_strdup(
                cJSON_GetStringValue(cJSON_GetArrayItem(record_at(of_base, "command"), 0)));
        ok(of_user && of_user[0] == '/' && !g_str_equal(of_user, own_shell()),
           "without one it is another: %s", of_user ?: "none");
        leftover_check(of_base, "the user data base's");
}

static void test_user(void) {
        skip(geteuid() != 0, 4, "n/a: needs root");

        g_autoptr(KitRun) run = shell_read(WORDS(mode_option(), "--uid", "nobody", "-C", "/", "-E",
                                                 "SHELL=" BASH),
                                           BASH, "echo $(id -un) $USER $LOGNAME $0\n");

        check_reads(run, 0, "no limits", "nobody nobody nobody -bash\n", "another user's shell");
        end_skip;
}

/* At a terminal */

static KitRun *shell_sit(const Seat *seat, const char *const *options) {
        KitOrder order = { .terminal_fd = seat->fd, .options = options };

        return shell_start(&order, BASH);
}

static void test_terminal(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = shell_sit(&seat, WORDS(mode_option(), "--tasks", "50"));
        g_autofree char *first = greeting("tasks=50");
        g_autofree char *said = g_strconcat(first, "\r\n*" READY "\n*", NULL);
        Expected expected = { .outcome = "exited", .status = 7, .exit_code = 7, .said = said };

        (void)kit_wait_line(run, READY);
        seat_type(&seat, "echo na\"\"me $0; tty >/dev/tty\n");
        ok(kit_wait_line(run, "name -bash\r"), "it is a login shell");
        seat_type(&seat, "echo half");
        (void)kit_wait_shown(run, "*ready 2\r\n*in> echo half");
        seat_type(&seat, "\x18");
        (void)kit_wait_shown(run, "*^X*");
        /* Bash may act upon the signal at one of the next keys, and take that for its own. */
        seat_type(&seat, "\x15\n echo al\"\"ive\n");
        ok(kit_wait_line(run, "alive\r"), "the key for SIGINT at its prompt does not end it");
        seat_type(&seat, "exit 7\n");
        kit_finish(run);
        expect(run, &expected, "a shell at a terminal");
        seat_check(&seat, "a shell at a terminal");
        seat_close(&seat);
}

/* At its prompt it ignores SIGTERM, and has a history to save. */
static void test_timeout(void) {
        Seat seat = seat_new(31, 97);
        const char *limit = kit_is_slow() ? "40s" : "2s";
        g_autofree char *history = path_of(".bash_history"), *kept = NULL;
        g_autoptr(KitRun)
                run = shell_sit(&seat, WORDS(mode_option(), "--timeout", limit, "--grace", "1h"));
        Expected expected = { .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGHUP,
                              .said = "cordon: shell *cordon: timeout limit hit: killed (SIGHUP) "
                                      "after *s [timeout=*]\r\n",
                              .touched = "timeout" };

        (void)unlink(history);
        (void)kit_wait_line(run, READY);
        seat_type(&seat, "echo to-be-kept\n");
        (void)kit_wait_line(run, "to-be-kept\r");
        kit_finish(run);
        expect(run, &expected, "a shell whose time is over");
        seat_check(&seat, "a shell whose time is over");
        (void)g_file_get_contents(history, &kept, NULL, NULL);
        ok(kept && strstr(kept, "to-be-kept"), "it has saved its history");
        seat_close(&seat);
}

/* On a mixed machine the memory controller is in version 1: then nobody kills the whole group. */
static bool is_unified(void) {
        g_autofree char *controllers = NULL;

        return g_file_get_contents("/sys/fs/cgroup/cgroup.controllers", &controllers, NULL, NULL) &&
               strstr(controllers, "memory");
}

/* Its child is killed for memory, and so is all of it; with version 1 the child alone, and it is told in the end. */
static void test_memory(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = shell_sit(&seat, WORDS(mode_option(), "--memory", "32M"));
        g_autofree char *line = g_strdup_printf("%s eat 200\nexit 5\n", kit_victim());
        Expected whole = { .outcome = "memory",
                           .status = 137,
                           .exit_code = ABSENT,
                           .signal = SIGKILL,
                           .said = "*memory limit hit: killed (SIGKILL) after *[memory=32M]\r\n",
                           .touched = "memory" };
        Expected single = { .outcome = "memory",
                            .status = 137,
                            .exit_code = 5,
                            .said = "*memory limit hit: exited with 5 *[memory=32M]\r\n",
                            .touched = "memory" };

        (void)kit_wait_line(run, READY);
        seat_type(&seat, line);
        kit_finish(run);
        expect(run, is_unified() ? &whole : &single, "a shell whose child eats too much");
        seat_check(&seat, "a shell whose child eats too much");
        seat_close(&seat);
}

static void test_memory_of_shell(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = shell_sit(&seat, WORDS(mode_option(), "--memory", "32M"));
        g_autofree char *line = g_strdup_printf("exec %s eat 200\n", kit_victim());
        Expected expected = { .outcome = "memory",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .said = "*memory limit hit: killed (SIGKILL) after *[memory=32M]\r\n",
                              .touched = "memory" };

        (void)kit_wait_line(run, READY);
        seat_type(&seat, line);
        kit_finish(run);
        expect(run, &expected, "a shell that eats too much");
        seat_check(&seat, "a shell that eats too much");
        seat_close(&seat);
}

/* A home of its own, in which nothing comes in between. */
static void make_home(void) {
        put_file(".bash_profile",
                 "PROFILE=mine\nPS1='in> '\nPROMPT_COMMAND='echo ready $((++prompts))'\n", 0644);
        put_file(".inputrc", "set enable-bracketed-paste off\n", 0644);
        g_setenv("HOME", kit_directory(), TRUE);
        g_setenv("SHELL", BASH, TRUE);
        g_setenv("TERM", "dumb", TRUE); /* for others a profile of 262 writes what is not seen */
        for (const char *const *name =
                     WORDS("BASH_ENV", "ENV", "HISTFILE", "INPUTRC", "PROFILE", "prompts");
             *name; name++)
                g_unsetenv(*name);
}

int main(void) {
        kit_init();
        make_home();
        if (!kit_is_scope()) {
                test_choice();
                test_refusals();
        }
        test_script();
        test_quiet();
        test_job();
        test_which();
        test_user();
        test_terminal();
        test_timeout();
        test_memory();
        test_memory_of_shell();
        leftover_check_guard("after all shells");
        kit_clear();
        done_testing();
}
