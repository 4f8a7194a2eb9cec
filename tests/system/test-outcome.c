/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a program ended, when no limit ended it: its own status and signals, and what could not be started at all. A
 * status never tells a cause: 124, 137 and 203 are a program's right. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "expect.h"
#include "leftover.h"

/* clang-format off */
static const struct {
        int status;
        bool is_extra; /* left out where it is slow */
        const char *why;
} naturals[] = {
        { 0, false, "success" },
        { 1, false, "failure" },
        { 3, true, "any other" },
        { 124, false, "is no timeout" },
        { 125, true, "is no failure of ours" },
        { 126, true, "was executable" },
        { 127, false, "was found" },
        { 137, false, "was not killed for memory" },
        { 143, true, "was not cancelled" },
        { 203, false, "is not the manager's exec failure" },
        { 255, true, "is the highest" },
};

static const struct {
        const char *signal;
        int number;
        bool is_extra;
} signals[] = {
        { "TERM", SIGTERM, false },
        { "KILL", SIGKILL, false },
        { "SEGV", SIGSEGV, false },
        { "INT", SIGINT, true },
        { "HUP", SIGHUP, true },
        { "XFSZ", SIGXFSZ, true },
        { "XCPU", SIGXCPU, true },
        { "ABRT", SIGABRT, true },
};

static const struct {
        const char *command; /* relative to the test's directory; NULL: the empty word */
        int status;
        const char *code, *words;
} failures[] = {
        { "no-such-command-anywhere", 127, "command-not-found", "\"no-such-command-anywhere\": command not found" },
        { "./missing", 127, "command-not-found", "\"./missing\": command not found" },
        { "./plain/below", 127, "command-not-found",
          "\"./plain/below\": command not found: part of its path is not a directory" },
        { "./plain", 126, "permission-denied", "\"./plain\": permission denied" },
        { "./folder", 126, "not-executable", "\"./folder\": is a directory" },
        { "./noise", 126, "not-executable", "\"./noise\": not a program this machine can execute" },
        { "./empty", 126, "not-executable", "\"./empty\": not a program this machine can execute" },
        { "./no-interpreter", 126, "not-executable", "\"./no-interpreter\": its interpreter is missing" },
        { "", 127, "command-not-found", "\"\": command not found" },
};
/* clang-format on */

static void test_naturals(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(naturals); i++) {
                int status = naturals[i].status;
                g_autofree char *number = g_strdup_printf("%d", status);
                g_autofree char *message = g_strdup_printf("exited with %d", status);
                g_autofree char *name = g_strdup_printf("exit %d %s", status, naturals[i].why);
                KitOrder order = { .command = VICTIM("exit", number) };
                Expected expected = { .outcome = "exited",
                                      .status = status,
                                      .exit_code = status,
                                      .message = message };

                if (naturals[i].is_extra && kit_is_brief())
                        continue;

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, name);
        }
}

static void test_signals(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
                const char *signal = signals[i].signal;
                g_autofree char *message = g_strdup_printf("killed (SIG%s)", signal);
                g_autofree char *words = g_strdup_printf("cordon: %s after *s\n", message);
                g_autofree char *name = g_strdup_printf("SIG%s by itself", signal);
                KitOrder order = { .command = VICTIM("raise", signal, "pause") };
                Expected expected = { .outcome = "signaled",
                                      .status = 128 + signals[i].number,
                                      .exit_code = ABSENT,
                                      .signal = signals[i].number,
                                      .message = message,
                                      .words = words };

                if (signals[i].is_extra && kit_is_brief())
                        continue;

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, name);
                ok(!record_is_true(run, "core_dumped"), "%s: no core is dumped by default", name);
        }
}

static void make_file(const char *name, const char *text, mode_t mode) {
        g_autofree char *path = g_build_filename(kit_directory(), name, NULL);

        if (!g_file_set_contents(path, text, -1, NULL) || chmod(path, mode) < 0)
                BAIL_OUT("cannot make %s", path);
}

static void make_failures(void) {
        g_autofree char *folder = g_build_filename(kit_directory(), "folder", NULL);

        make_file("plain", "#!/bin/sh\n", 0644);
        make_file("noise", "\x01\x02 this is no program\n", 0755);
        make_file("empty", "", 0755);
        make_file("no-interpreter", "#!/no/such/interpreter\n", 0755);
        if (mkdir(folder, 0755) < 0)
                BAIL_OUT("cannot make %s", folder);
}

static void test_failures(void) {
        make_failures();
        for (size_t i = 0; i < G_N_ELEMENTS(failures); i++) {
                g_autofree char *words = g_strdup_printf("cordon: %s\n", failures[i].words);
                g_autofree char *name = g_strdup_printf("\"%s\" is not started",
                                                        failures[i].command);
                KitOrder order = { .command = WORDS(failures[i].command) };
                Expected expected = { .outcome = "not-started",
                                      .status = failures[i].status,
                                      .exit_code = ABSENT,
                                      .error = failures[i].code,
                                      .message = failures[i].words,
                                      .words = words };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, name);
        }
}

/* A program that PATH finds behind one that may not be executed; as shells do it. */
static void test_path(void) {
        g_autofree char *first = g_build_filename(kit_directory(), "first", NULL);
        g_autofree char *second = g_build_filename(kit_directory(), "second", NULL);
        g_autofree char *path = g_strdup_printf("PATH=%s:%s", first, second);
        KitOrder order = { .options = WORDS("-E", path), .command = WORDS("tool") };
        Expected found = { .outcome = "exited", .said = "second\n" };
        Expected denied = { .outcome = "not-started",
                            .status = 126,
                            .exit_code = ABSENT,
                            .error = "permission-denied",
                            .message = "\"tool\": permission denied",
                            .words = "cordon: \"tool\": permission denied\n" };

        if (mkdir(first, 0755) < 0 || mkdir(second, 0755) < 0)
                BAIL_OUT("cannot make %s", first);
        make_file("first/tool", "#!/bin/sh\necho first\n", 0644);
        make_file("second/tool", "#!/bin/sh\necho second\n", 0644);

        g_autoptr(KitRun) none = kit_run(&order);

        expect(none, &denied, "a name that PATH finds only where it may not be executed");
        make_file("second/tool", "#!/bin/sh\necho second\n", 0755);

        g_autoptr(KitRun) one = kit_run(&order);

        expect(one, &found, "a name that PATH finds behind one that may not be executed");
}

/* Without --id the id is made up, and the record tells it. */
static void test_id(void) {
        KitOrder order = { .id = "", .command = VICTIM("end") };
        Expected expected = { .outcome = "exited" };
        g_autoptr(KitRun) first = kit_run(&order);
        g_autoptr(KitRun) second = kit_run(&order);

        expect(first, &expected, "a run without an id");
        ok(g_regex_match_simple("^[a-z][a-z0-9]{5}$", first->id ?: "", 0, 0),
           "an id that was made up is short and plain: %s", first->id ?: "none");
        isnt(first->id ?: "", second->id ?: "", "two runs have two ids");
        leftover_check(second, "the second run without an id");
}

static void test_outlived(void) {
        KitOrder order = { .command = VICTIM("child", "leave", "ignore", "TERM", "ignore", "HUP",
                                             "say", "there", "pause", "then", "nap", "100", "exit",
                                             "7") };
        Expected expected = { .outcome = "exited",
                              .status = 7,
                              .exit_code = 7,
                              .message = "exited with 7",
                              .said = "there\n" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a grandchild that holds stdout");
        cmp_ok(record_number(run, "outlived"), "==", 1, "the one that outlived it is counted");
}

static void test_output(void) {
        KitOrder order = { .command = VICTIM("say", "out", "complain", "err", "say", "more", "exit",
                                             "1") };
        Expected expected = { .outcome = "exited",
                              .status = 1,
                              .exit_code = 1,
                              .said = "out\nmore\n",
                              .words = "err\n" };
        KitOrder flood = { .command = VICTIM("flood", "3000000") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(KitRun) big = kit_run(&flood);

        expect(run, &expected, "output passes through");
        cmp_ok(big->output->len, "==", 3000000, "three megabytes pass through");
        leftover_check(big, "three megabytes");
}

/* A look that sees nothing where there is something would prove nothing. */
static void test_look(void) {
        KitOrder order = { .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");

        g_autofree char *pid = kit_said(run, "pid");
        g_autofree char *found = leftover_look(run), *unit = leftover_program_unit(run->id);
        g_autofree char *process = g_strdup_printf("process %s victim\n", pid ?: "?");

        ok(strstr(found, "unit cordon-") && strstr(found, unit), "a look sees the units");
        ok(strstr(found, "cgroup /sys/fs/cgroup/"), "a look sees the cgroups");
        ok(strstr(found, process), "a look sees the processes");
        ok(strstr(found, "file /"), "a look sees the files");
        (void)kill((pid_t)kit_said_number(run, "pid"), SIGUSR1);
        kit_finish(run);
        leftover_check(run, "a run that was looked at");
}

int main(void) {
        kit_init();
        test_look();
        test_naturals();
        test_signals();
        test_failures();
        test_path();
        test_id();
        test_outlived();
        test_output();
        leftover_check_guard("after every end");
        kit_clear();
        done_testing();
}
