/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* As people have it: a shell in a real terminal (tmux), keys in, screen out. The shell is bash with its jobs, cordon is one
 * of them, and what runs under it are programs that take all of the screen, and another shell with jobs of its own. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "seat.h"

#define ROWS    "24"
#define COLUMNS "80"

static struct {
        char *program, *socket;
        KitRun *server;
} tmux;

/* What tmux answers; the caller's. */
static char *ask(const char *const *words) {
        const char *verb = words[0];
        g_autoptr(GPtrArray) command = g_ptr_array_new();
        KitOrder order = { .program = tmux.program };

        g_ptr_array_add(command, (char *)"-S");
        g_ptr_array_add(command, tmux.socket);
        for (; *words; words++)
                g_ptr_array_add(command, (char *)*words);
        g_ptr_array_add(command, NULL);
        order.command = (const char *const *)command->pdata;

        g_autoptr(KitRun) run = kit_run(&order);

        if (run->status != 0)
                diag("tmux %s: status %d, %s", verb, run->status, run->errors->str);
        return g_strdup(run->output->str);
}

static void tell(const char *const *words) {
        g_free(ask(words));
}

static void key(const char *name) {
        tell(WORDS("send-keys", "-t", "t", name));
}

static void type(const char *text) {
        tell(WORDS("send-keys", "-t", "t", "-l", text));
}

static void enter(const char *line) {
        type(line);
        key("Enter");
}

/* The screen */

static char *screen_text(void) {
        return g_strchomp(ask(WORDS("capture-pane", "-p", "-J", "-t", "t")));
}

static bool shows(const void *pattern) {
        g_autofree char *screen = screen_text();

        return g_pattern_match_simple(pattern, screen);
}

static void see(const char *pattern, const char *name) {
        if (ok(kit_wait_until(shows, pattern, kit_patience(10 * KIT_SEC)), "%s", name))
                return;

        g_autofree char *screen = screen_text();

        diag("this is not \"%s\":\n%s", pattern, screen);
}

static bool is_cursor_at(const void *place) {
        g_autofree char *now = ask(
                WORDS("display-message", "-p", "-t", "t", "#{cursor_x},#{cursor_y}"));

        return g_str_has_prefix(now, place);
}

static bool file_has(const void *path) {
        g_autofree char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) && strlen(text) > 0;
}

/* The prompt of an empty screen. */
static void begin(void) {
        enter("clear; echo be''gun");
        see("begun\n$", "a prompt");
}

static char *cordon_line(const char *id, const char *command) {
        return g_strdup_printf("./cordon run %s --id %s -- %s",
                               kit_is_scope() ? "--scope" : "--pty", id, command);
}

static void enter_cordon(const char *id, const char *command) {
        g_autofree char *line = cordon_line(id, command);

        enter(line);
}

/* The shell goes on as before, and nothing of the run is left. */
static void check_back(const char *id, int status, const char *name) {
        g_autofree char *pattern = g_strdup_printf("*status %d.\n$", status);
        g_autofree char *words = g_strdup_printf("%s: its status, and a prompt", name);
        KitRun run = { .id = (char *)id };

        see("*\n$", name);
        enter("echo sta''tus $?.");
        see(pattern, words);
        leftover_check(&run, name);
}

static bool is_there(const char *program) {
        g_autofree char *path = g_find_program_in_path(program);

        return path;
}

/* What takes all of the screen */

static void test_screen(void) {
        begin();
        enter_cordon("tmux-screen", "./sitter screen");
        see("a screen of 80 by 24\n*\nthe last line", "a program has all of the screen");
        ok(kit_wait_until(is_cursor_at, "10,4", kit_patience(5 * KIT_SEC)), "and a cursor");
        key("Right");
        key("Right");
        key("Down");
        ok(kit_wait_until(is_cursor_at, "12,5", kit_patience(5 * KIT_SEC)), "which keys move");
        tell(WORDS("resize-window", "-t", "t", "-x", "100", "-y", "30"));
        see("a screen of 100 by 30\n*\nthe last line", "the screen grows under it");
        tell(WORDS("resize-window", "-t", "t", "-x", COLUMNS, "-y", ROWS));
        see("a screen of 80 by 24\n*\nthe last line", "and shrinks");
        key("q");
        see("begun\n$ *tmux-screen*\n$", "and then it is what it was before");
        check_back("tmux-screen", 0, "a program with all of the screen");
}

static void test_pager(void) {
        skip(!is_there("less"), 8, "n/a: no less here");
        begin();
        enter("seq 1 500 >numbers");
        enter_cordon("tmux-less", "less numbers");
        see("1\n2\n*\n23\nnumbers*", "less shows a page");
        key("Space");
        see("24\n25\n*\n46\n:*", "and the next one");
        enter("/^321");
        see("321\n322\n*\n343\n:*", "and finds a line");
        key("G");
        see("478\n*\n500\n(END)*", "and the last page");
        key("q");
        check_back("tmux-less", 0, "less");
        end_skip;
}

static void test_editor(void) {
        g_autofree char *path = g_build_filename(kit_directory(), "letter", NULL), *text = NULL;

        skip(!is_there("vi"), 5, "n/a: no vi here");
        begin();
        enter_cordon("tmux-vi", "vi -u NONE letter");
        see("*\n~*\n~*", "vi has the screen");
        type("iDear all,");
        key("Enter");
        type("yours");
        key("Escape");
        enter(":wq");
        ok(kit_wait_until(file_has, path, kit_patience(10 * KIT_SEC)), "vi writes a file");
        check_back("tmux-vi", 0, "vi");
        (void)g_file_get_contents(path, &text, NULL, NULL);
        is(text ?: "", "Dear all,\nyours\n", "which has what was typed");
        end_skip;
}

/* Shells */

/* Not a shell's own waiting: some lose a SIGINT that comes while they start what they wait for. */
#define WAITING "./victim say rea''dy pause"

static void test_shell(void) {
        begin();
        enter_cordon("tmux-shell", "env PS1='in> ' bash --norc --noprofile");
        see("*in>", "a shell inside");
        enter(WAITING);
        see("*\nready", "a job of its own");
        key("C-z");
        see("*Stopped*pause\nin>", "Ctrl-Z stops it");
        enter("clear; jobs");
        see("*Stopped*pause\nin>", "the shell knows of it");
        enter("clear; fg");
        see("./*pause", "and goes on with it");
        key("C-c");
        see("./*pause\n*\nin>", "until Ctrl-C");
        enter("clear; tty; exit 5");
        check_back("tmux-shell", 5, "a shell inside");
}

/* cordon shell, with a home in which nothing comes in between. */
static void test_login(void) {
        g_autofree char *profile = g_build_filename(kit_directory(), ".bash_profile", NULL);
        g_autofree char *line = g_strdup_printf(
                "HOME=$PWD SHELL=/bin/bash ./cordon shell --id tmux-login --tasks 50 --timeout 1h%s",
                kit_is_scope() ? "" : " --service");

        (void)g_file_set_contents(profile, "PS1='in> '\n", -1, NULL);
        begin();
        enter("clear");
        enter(line);
        see(kit_is_scope()
                    ? "*\ncordon: shell tmux-login under timeout=1h tasks=50 (scope, *)\nin>"
                    : "*\ncordon: shell tmux-login under timeout=1h tasks=50 (service, *)\nin>",
            "what it is held to stands above its first prompt");
        key("C-c");
        see("*in> ^C\nin>", "Ctrl-C at its prompt does not end it");
        enter(WAITING);
        see("*\nready", "a job in it");
        key("C-z");
        see("*Stopped*pause\nin>", "Ctrl-Z stops the job");
        enter("clear; fg");
        see("./*pause", "it goes on");
        key("C-c");
        see("./*pause\n*\nin>",
            "and Ctrl-C ends it alone"); /* it may come while bash has no echo */
        enter("clear; exit 5");
        check_back("tmux-login", 5, "a login shell");
}

/* The terminal is the outer shell's again, whatever the inner one had made of it. */
static void test_login_timeout(void) {
        g_autofree char *line = g_strdup_printf(
                "HOME=$PWD SHELL=/bin/bash ./cordon shell --id tmux-late -q --timeout %s%s",
                kit_is_slow() ? "20s" : "1s", kit_is_scope() ? "" : " --service");

        begin();
        enter(line);
        see("*in>", "a prompt");
        see("*in>*\n$", "is over when its time is");
        check_back("tmux-late", 124, "a login shell whose time is over");
        enter("clear; stty -a | tr ' ' '\\n' | grep -x 'opost\\|icanon\\|echo\\|isig' | sort | xargs");
        see("echo icanon isig opost\n$", "the terminal has its modes after it");
}

static void test_interrupt(void) {
        begin();
        enter_cordon("tmux-interrupt", WAITING);
        see("*\nready", "a program that waits");
        key("C-c");
        see("*cordon: killed (SIGINT) after *", "Ctrl-C ends it");
        check_back("tmux-interrupt", 130, "Ctrl-C");
}

/* The shell goes on with a loop unless what it waited for ended by the signal. */
static void test_loop(void) {
        g_autofree char *line = cordon_line("tmux-loop", WAITING);
        g_autofree char *loop = g_strdup_printf("while :; do %s; done", line);

        begin();
        enter(loop);
        see("*\nready", "a program in a loop of the shell's");
        key("C-c");
        see("*cordon: killed (SIGINT) after *\n$", "Ctrl-C ends the loop, too");
        check_back("tmux-loop", 130, "Ctrl-C in a loop");
}

static void test_escape(void) {
        begin();
        enter_cordon("tmux-escape", "sh -c 'stty raw -echo; echo rea''dy; sleep 1000'");
        see("*\nready", "a program that takes all keys");
        key("C-c");
        /* At once: within a second, also where every process takes a part of it. */
        tell(WORDS("send-keys", "-t", "t", "C-]", "C-]", "C-]"));
        see("*cordon: cancelled: killed (SIGTERM) after *", "Ctrl-] three times ends it");
        check_back("tmux-escape", 143, "Ctrl-]");
}

static void test_killed(void) {
        begin();
        enter_cordon("tmux-killed", "sh -c 'stty raw -echo; kill -KILL $$'");
        see("*cordon: killed (SIGKILL) after *", "a program that is killed in raw mode");
        check_back("tmux-killed", 137, "killed in raw mode");
        enter("clear; stty -a | tr ' ' '\\n' | grep -x 'opost\\|icanon\\|echo\\|isig' | sort | xargs");
        see("echo icanon isig opost\n$", "the terminal has its modes");
}

/* In a scope the program itself is the shell's job, as far as that can see. */
static void test_job(void) {
        begin();
        enter_cordon("tmux-job", "sh -c 'echo rea''dy; exec cat'");
        see("*\nready", "a program that waits for keys");
        key("C-z");
        see("*Stopped*\n$", "Ctrl-Z stops it, and cordon");
        enter("clear; echo still he''re");
        see("still here\n$", "the shell has its terminal");
        enter("clear; fg");
        see("./*cat'", "both go on");
        enter("hello");
        see("*hello\nhello", "and the keys are the program's");
        key("C-c");
        see("*cordon: killed (SIGINT) after *", "Ctrl-C, too");
        check_back("tmux-job", 130, "a program that was stopped");
}

/* What a program makes of Ctrl-Z is its own business. */
static void test_handled_stop(void) {
        begin();
        enter_cordon("tmux-handled", "./sitter watch");
        see("*\nready", "a program that does not stop");
        key("C-z");
        see("*got TSTP", "is told of Ctrl-Z");
        enter("hello");
        see("*heard hello", "and goes on, and so does cordon");
        enter("quit");
        check_back("tmux-handled", 0, "a program that does not stop");
}

/* Whose input ends when cordon has ended. The first line comes when cordon knows the terminal, the last word goes when the
 * pager has it. */
static void test_pipe(void) {
        static const char pager[] = "read line; stty -icanon </dev/tty; echo >go; cat\n"
                                    "stty -a </dev/tty | tr ' ;' '\\n\\n' | grep icanon\n"
                                    "stty icanon </dev/tty\n";
        g_autofree char *path = g_build_filename(kit_directory(), "pager", NULL);
        g_autofree char *line = cordon_line("tmux-pipe", "sh -c 'echo ready; read word <go'");
        g_autofree char *pipeline = g_strconcat(line, " | sh pager", NULL);

        if (!g_file_set_contents(path, pager, -1, NULL))
                BAIL_OUT("cannot make %s", path);
        begin();
        enter("mkfifo go; clear");
        enter(pipeline);
        see("*\n-icanon\n$", "a pager behind it keeps its terminal");
        check_back("tmux-pipe", 0, "a pager behind it");
}

/* A shell that suspends itself is stopped alone, and nobody else would tell the shell outside. */
static void test_suspend(void) {
        begin();
        enter_cordon("tmux-suspend", "env PS1='in> ' bash --norc --noprofile");
        see("*in>", "a shell inside");
        enter("suspend");
        see("*Stopped*noprofile\n$", "it suspends itself, and cordon stops with it");
        enter("clear; fg");
        enter("echo ba''ck");
        see("*back\nin>", "it is back in the foreground");
        enter("clear; kill -KILL $$");
        see("*cordon: killed (SIGKILL) after *", "a shell that is killed");
        check_back("tmux-suspend", 137, "a shell that was killed");
}

/* Cordon as a job of the shell's */

static pid_t child_of_shell(void) {
        g_autofree char *shell = ask(WORDS("display-message", "-p", "-t", "t", "#{pane_pid}"));
        g_autofree char *path = g_strdup_printf("/proc/%s/task/%s/children", g_strstrip(shell),
                                                shell);
        g_autofree char *children = NULL;

        (void)g_file_get_contents(path, &children, NULL, NULL);
        return children ? (pid_t)g_ascii_strtoll(children, NULL, 10) : -1;
}

static void test_stop(void) {
        begin();
        enter_cordon("tmux-stop", "./sitter watch");
        see("*\nready", "a program that watches");
        (void)kill(child_of_shell(), SIGTSTP);
        see("*Stopped*watch\n$", "cordon is stopped");
        enter("clear; echo still he''re");
        see("still here\n$", "the shell has its terminal");
        enter("clear; fg");
        see("*watch", "cordon goes on");
        enter("hello");
        see("*\nhello\nheard hello", "and so do the keys");
        enter("quit");
        check_back("tmux-stop", 0, "cordon that was stopped");
}

static void test_background(void) {
        begin();
        enter_cordon("tmux-background", "./sitter watch &");
        see("*ready*", "in the background the program is shown");
        enter("clear; echo still he''re");
        see("still here\n$", "and the keys are the shell's");
        enter("clear; fg");
        see("*watch", "brought to the foreground");
        enter("hello");
        see("*heard hello", "the keys are the program's");
        key("C-c");
        see("*got INT", "Ctrl-C, too");
        enter("quit");
        check_back("tmux-background", 0, "cordon in the background");
}

/* Last: it takes the terminal along. */
static void test_closed(void) {
        KitRun run = { .id = (char *)"tmux-closed" };

        begin();
        enter_cordon("tmux-closed", "sh -c 'trap \"\" HUP; echo rea''dy; sleep 1000'");
        see("*\nready", "a program that ignores SIGHUP");
        tell(WORDS("kill-session", "-t", "t"));
        leftover_check(&run, "a terminal that is closed");
}

static bool is_listening(const void *unused) {
        return access(tmux.socket, F_OK) == 0;
}

/* By names that are as long everywhere: a line that ends with the screen's last column is joined with the next. */
static void name_programs(void) {
        const struct {
                const char *target, *name;
        } programs[] = {
                { kit_cordon(), "cordon" },
                { kit_victim(), "victim" },
                { seat_victim(), "sitter" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(programs); i++) {
                g_autofree char *path = g_build_filename(kit_directory(), programs[i].name, NULL);
                g_autofree char *target = g_canonicalize_filename(programs[i].target, NULL);

                if (symlink(target, path) < 0)
                        BAIL_OUT("cannot make %s", path);
        }
}

static void open_terminal(void) {
        g_autofree char *shell = g_strdup_printf(
                "cd '%s' && exec env PS1='$ ' PROMPT_COMMAND= LESS= LC_ALL=C bash --norc --noprofile -i",
                kit_directory());
        KitOrder order = { .program = tmux.program };

        tmux.socket = g_build_filename(kit_directory(), "tmux", NULL);
        order.command = WORDS("-S", tmux.socket, "-f", "/dev/null", "-D");
        tmux.server = kit_start(&order);
        (void)kit_wait_until(is_listening, NULL, kit_patience(10 * KIT_SEC));
        tell(WORDS("set-option", "-g", "default-terminal", "screen"));
        tell(WORDS("set-option", "-g", "escape-time", "0"));
        tell(WORDS("new-session", "-d", "-s", "t", "-x", COLUMNS, "-y", ROWS, shell));
        if (!kit_wait_until(shows, "$", kit_patience(10 * KIT_SEC)))
                BAIL_OUT("tmux shows no shell");
}

static void close_terminal(void) {
        tell(WORDS("kill-server"));
        kit_finish(tmux.server);
        kit_run_free(tmux.server);
        g_free(tmux.socket);
}

int main(void) {
        kit_init();
        tmux.program = g_find_program_in_path("tmux");
        if (!tmux.program) {
                plan(SKIP_ALL, "no tmux here: ./dev deps");
                return 0;
        }
        name_programs();
        open_terminal();
        test_screen();
        test_pager();
        test_editor();
        test_shell();
        test_login();
        test_login_timeout();
        test_interrupt();
        test_loop();
        test_killed();
        if (kit_is_scope()) {
                test_job();
                test_handled_stop();
                test_pipe();
                test_suspend();
        } else {
                test_escape();
                test_stop();
                test_background();
        }
        test_closed();
        close_terminal();
        leftover_check_guard("after all terminals");
        g_free(tmux.program);
        kit_clear();
        done_testing();
}
