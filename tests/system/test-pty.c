/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A terminal of the program's own, and ours that it is shown on: a program cannot tell, keys and size get through, and
 * afterwards ours is as it was. Standard error is a pipe where its words are looked at. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "seat.h"

static int count_of(const char *text, const char *part) {
        int count = 0;

        for (const char *p = strstr(text, part); p; p = strstr(p + strlen(part), part))
                count++;
        return count;
}

/* Who looks */

static void check_said(const KitRun *run, const char *word, const char *expected) {
        g_autofree char *said = kit_said(run, word);

        is(said ? g_strchomp(said) : "", expected, "%s: %s", word, expected);
}

static void test_shape(void) {
        Seat seat = seat_new(31, 97);
        KitOrder order = { .terminal_fd = seat.fd, .command = SITTER("shape") };
        Expected expected = { .outcome = "exited", .said = "*" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "at a terminal");
        check_said(run, "terminals", "yes yes yes");
        check_said(run, "leader", "yes");
        check_said(run, "foreground", "yes");
        check_said(run, "canonical", "yes");
        check_said(run, "echo", "yes");
        check_said(run, "interrupt", "24");
        check_said(run, "size", "31 97");
        check_said(run, "kind", "vt220");
        seat_check(&seat, "at a terminal");
        seat_close(&seat);
}

static bool has_own(const KitRun *run, const Seat *seat) {
        char callers[64] = "";
        g_autofree char *name = kit_said(run, "name");

        (void)ptsname_r(seat->fd, callers, sizeof callers);
        return name && g_str_has_prefix(name, "/dev/pts/") &&
               !g_str_equal(g_strchomp(name), callers);
}

/* When it has one, and when not. */
static void test_choice(void) {
        static const struct {
                const char *name, *options[3];
                bool has_own;
        } rows[] = {
                { "by itself", { NULL }, true },
                { "--pty", { "--pty" }, true },
                { "--no-pty", { "--no-pty" }, false },
                { "--pty --no-pty", { "--pty", "--no-pty" }, false },
                { "--no-pty --pty", { "--no-pty", "--pty" }, true },
                { "a job that says no", { "--job", "no.json" }, false },
                { "a job that says no, and --pty", { "--job=no.json", "--pty" }, true },
        };
        g_autofree char *job = g_build_filename(kit_directory(), "no.json", NULL);

        (void)g_file_set_contents(job, "{\"pty\": false}", -1, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                Seat seat = seat_new(31, 97);
                g_autoptr(KitRun) run = seat_run(&seat, rows[i].options, SITTER("shape"));

                kit_finish(run);
                cmp_ok(run->status, "==", 0, "%s: it runs", rows[i].name);
                is(has_own(run, &seat) ? "own" : "the caller's",
                   rows[i].has_own ? "own" : "the caller's", "%s: whose terminal it has",
                   rows[i].name);
                seat_close(&seat);
        }
}

/* Its errors go where the caller has sent them, unless that is the terminal. */
static void test_errors(void) {
        Seat seat = seat_new(31, 97);
        KitOrder shown = { .terminal_fd = seat.fd,
                           .command = VICTIM("say", "one", "complain", "two") };
        Expected apart = { .outcome = "exited", .said = "one\r\n", .words = "two\n" };
        Expected together = { .outcome = "exited", .said = "one\r\ntwo\r\n" };
        g_autoptr(KitRun) first = seat_run(&seat, NULL, shown.command);
        g_autoptr(KitRun) second = NULL;

        kit_finish(first);
        expect(first, &apart, "errors into a pipe");
        second = kit_run(&shown);
        expect(second, &together, "errors to the terminal");
        seat_close(&seat);
}

/* Without a terminal to be shown on */

static void test_input(void) {
        static const struct {
                const char *name, *input, *said;
        } rows[] = {
                /* The program may have read the line before the rest is typed. */
                { "a line and a half", "one\nhalf", "one\r\n*one\r\n*half" },
                { "whole lines", "one\n", "one\r\none\r\n" },
                { "nothing", "", "" },
        };
        g_autofree char *path = g_build_filename(kit_directory(), "typed", NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                KitOrder order = { .options = WORDS("--pty", "--stdin", "typed"),
                                   .command = VICTIM("copy") };
                Expected expected = { .outcome = "exited", .said = rows[i].said };

                (void)g_file_set_contents(path, rows[i].input, -1, NULL);

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, rows[i].name);
        }
}

static void close_input(void) {
        (void)close(STDIN_FILENO);
}

static void test_no_terminal(void) {
        KitOrder order = { .options = WORDS("--pty"), .command = SITTER("shape") };
        KitOrder closed = { .options = WORDS("--pty"),
                            .prepare = close_input,
                            .command = VICTIM("copy", "exit", "4") };
        Expected expected = { .outcome = "exited", .status = 4, .exit_code = 4 };
        g_autoptr(KitRun) first = kit_run(&order);
        g_autoptr(KitRun) second = kit_run(&closed);

        check_said(first, "terminals", "yes yes no");
        check_said(first, "size", "24 80");
        check_said(first, "leader", "yes");
        leftover_check(first, "--pty where there is no terminal");
        expect(second, &expected, "--pty with standard input closed");
}

/* Keys */

static void test_keys(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, NULL, SITTER("watch"));
        Expected expected = { .outcome = "exited", .said = "*" };

        ok(kit_wait_line(run, "ready\r"), "it watches");
        ok(seat_is_raw(&seat), "our terminal is raw meanwhile");
        seat_type(&seat, "hello\n");
        ok(kit_wait_line(run, "heard hello\r"), "a line gets there");
        seat_type(&seat, "\x18");
        ok(kit_wait_line(run, "^Xgot INT\r"),
           "the key for SIGINT, which is another here, is the program's");
        seat_type(&seat, "\x1a");
        ok(kit_wait_line(run, "^Zgot TSTP\r"), "Ctrl-Z is the program's");
        seat_type(&seat, "\x1c");
        ok(kit_wait_line(run, "^\\got QUIT\r"), "Ctrl-\\ is the program's");
        seat_resize(&seat, 40, 120);
        ok(kit_wait_line(run, "size 40 120\r"), "it learns of another size");
        seat_type(&seat, "quit\n");
        kit_finish(run);
        expect(run, &expected, "keys");
        seat_check(&seat, "keys");
        seat_close(&seat);
}

static void test_interrupt(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, NULL, VICTIM("say", "ready", "pause"));
        Expected expected = { .outcome = "signaled",
                              .status = 130,
                              .exit_code = ABSENT,
                              .signal = SIGINT,
                              .words = "cordon: killed (SIGINT) after *s\n",
                              .said = "*" };

        (void)kit_wait_line(run, "ready\r");
        seat_type(&seat, "\x18");
        kit_finish(run);
        expect(run, &expected, "the key for SIGINT");
        seat_check(&seat, "the key for SIGINT");
        seat_close(&seat);
}

static void test_password(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, NULL, SITTER("password"));
        Expected expected = { .outcome = "exited",
                              .said = "Password: \r\nit has 6 characters\r\n" };

        (void)kit_wait_line(run, "Password: \r");
        seat_type(&seat, "secret\r");
        kit_finish(run);
        expect(run, &expected, "a password is not shown");
        seat_close(&seat);
}

/* Ctrl-] */

static void test_escape(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, NULL, SITTER("keys"));
        Expected expected = { .outcome = "cancelled",
                              .status = 143,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .message = "cancelled: killed (SIGTERM)",
                              .words = "cordon: cancelled: killed (SIGTERM) after *s\n",
                              .said = "*" };

        (void)kit_wait_line(run, "ready\r");
        seat_type(&seat, "\x1d\x1d.");
        ok(kit_wait_line(run, "key 46\r"), "two times Ctrl-] and another key are keys");
        cmp_ok(count_of(run->output->str, "key 29\r"), "==", 2, "all of them");
        seat_type(&seat, "\x1d\x1d");
        ok(!kit_wait_process(run->pidfd, 1100 * KIT_MSEC), "two times Ctrl-] end nothing");
        seat_type(&seat, "\x1d.");
        (void)kit_wait_line(run, "key 46\r");
        ok(!kit_wait_process(run->pidfd, 100 * KIT_MSEC), "nor does a third that comes too late");
        seat_type(&seat, "\x1d");
        seat_type(&seat, "\x1d");
        seat_type(&seat, "\x1d");
        kit_finish(run);
        expect(run, &expected, "Ctrl-] three times");
        seat_check(&seat, "Ctrl-] three times");
        seat_close(&seat);
}

/* Who holds the key down means it once; who comes back means it more. */
static void test_insistence(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun) run = seat_run(&seat, WORDS("--grace", "1h"),
                                         VICTIM("note", "TERM", "say", "ready", "pause"));
        Expected expected = { .outcome = "cancelled",
                              .status = 143,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .words = "cordon: cancelled: killed (SIGKILL) after *s\n",
                              .said = "*" };

        (void)kit_wait_line(run, "ready\r");
        seat_type(&seat, "\x1d\x1d\x1d\x1d\x1d\x1d\x1d\x1d");
        (void)kit_wait_words(run, "");
        ok(!kit_wait_process(run->pidfd, 1100 * KIT_MSEC), "a key that is held asks once");
        seat_type(&seat, "\x1d\x1d\x1d");
        kit_finish(run);
        ok(strstr(run->output->str, "got TERM\r"), "and it was told");
        expect(run, &expected, "Ctrl-] three times, again");
        seat_close(&seat);
}

/* In what is no terminal they are bytes like others. */
static void test_no_escape(void) {
        KitOrder order = { .options = WORDS("--pty", "--stdin", "escapes"),
                           .command = SITTER("keys") };
        Expected expected = { .outcome = "exited", .said = "*key 29\r\n*" };
        g_autofree char *path = g_build_filename(kit_directory(), "escapes", NULL);

        (void)g_file_set_contents(path, "\x1d\x1d\x1d\x1dq", -1, NULL);

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "Ctrl-] in a file");
}

/* What is left of the program's world */

static void test_descriptors(void) {
        Seat seat = seat_new(31, 97);
        KitOrder order = { .terminal_fd = seat.fd, .command = VICTIM("fds") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_auto(GStrv) lines = g_strsplit(run->output->str, "\r\n", -1);
        int terminals = 0, all = 0;

        for (char **line = lines; *line && **line; line++, all++)
                terminals += strstr(*line, " /dev/pts/") != NULL;
        cmp_ok(all, "==", 3, "three descriptors and no other");
        cmp_ok(terminals, "==", 3, "all of them the terminal");
        seat_close(&seat);
}

/* Another user opens his terminal by its names. */
static void test_user(void) {
        Seat seat = seat_new(31, 97);
        Expected expected = { .outcome = "exited", .said = "one\r\ntwo\r\n" };

        skip(geteuid() != 0, 4, "n/a: needs root");

        g_autoptr(KitRun) run = seat_run(&seat, WORDS("--uid", "nobody", "-C", "/"),
                                         WORDS("/bin/sh", "-c",
                                               "echo one >/dev/stdout && echo two >/dev/tty"));

        kit_finish(run);
        expect(run, &expected, "another user opens /dev/stdout and /dev/tty");
        end_skip;
        seat_close(&seat);
}

/* Where there is a process 1 of its own, too. */
static void test_untrusted(void) {
        Seat seat = seat_new(31, 97);
        g_autoptr(KitRun)
                run = seat_run(&seat,
                               /* more than the kernel's bookkeeping takes for all of one CPU */
                               WORDS("--untrusted", "--cpu", "400%", "--fs", "host", "-C", "/"),
                               WORDS("/bin/sh", "-c",
                                     "echo tty >/dev/tty; stty size; echo $TERM; kill -INT 0"));
        Expected expected = { .outcome = "signaled",
                              .status = 130,
                              .exit_code = ABSENT,
                              .signal = SIGINT,
                              .words = "cordon: killed (SIGINT) after *s\n",
                              .said = "tty\r\n31 97\r\nvt220\r\n" };

        kit_finish(run);
        expect(run, &expected, "--untrusted at a terminal");
        seat_close(&seat);
}

int main(void) {
        kit_init();
        g_setenv("TERM", "vt220", TRUE);
        test_shape();
        test_choice();
        test_errors();
        test_input();
        test_no_terminal();
        test_keys();
        test_interrupt();
        test_password();
        test_escape();
        test_insistence();
        test_no_escape();
        test_descriptors();
        test_user();
        test_untrusted();
        leftover_check_guard("after all terminals");
        kit_clear();
        done_testing();
}
