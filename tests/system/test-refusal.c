/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is refused: in one line that names the option, the text and what would be accepted; with 125; with a record
 * where one was asked for; and without having started anything. */

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define HELP "; see cordon run --help"
#define DURATION \
        "is not a duration; accepted: seconds, or numbers with ms, s, m (min), h, d such as 1m30s or 250ms, or infinity" HELP
#define SIZE  "is not a size; accepted: a number with B, K, M, G or T (1024-based), or infinity" HELP
#define COUNT "is not a count; accepted: a whole number, or infinity" HELP
#define SHARE \
        "is not a CPU share; accepted: percent of one CPU such as 150%, or CPUs such as 1.5, or infinity" HELP
#define LIST "is not a CPU list; accepted: CPU numbers and ranges such as 0,2-3, or infinity" HELP
#define HELP "; see cordon run --help"

/* clang-format off */
static const struct {
        const char *const *options;
        const char *message; /* "*": anything */
        const char *code;
} refusals[] = {
        /* each limit with something that it is not */
        { WORDS("--timeout", "soon"), "--timeout: \"soon\" " DURATION, "bad-value" },
        { WORDS("--grace", "-1"), "--grace: \"-1\" " DURATION, "bad-value" },
        { WORDS("--memory", "12Q"), "--memory: \"12Q\" " SIZE, "bad-value" },
        { WORDS("--swap", "some"), "--swap: \"some\" " SIZE, "bad-value" },
        { WORDS("--memory-high", ""), "--memory-high: \"\" " SIZE, "bad-value" },
        { WORDS("--address-space", "1G1"), "--address-space: \"1G1\" " SIZE, "bad-value" },
        { WORDS("--cpu", "fast"), "--cpu: \"fast\" " SHARE, "bad-value" },
        { WORDS("--cpu-time", "1x"), "--cpu-time: \"1x\" " DURATION, "bad-value" },
        { WORDS("--tasks", "1.5"), "--tasks: \"1.5\" " COUNT, "bad-value" },
        { WORDS("--fsize", "0x10"), "--fsize: \"0x10\" " SIZE, "bad-value" },
        { WORDS("--nofile", "ten"), "--nofile: \"ten\" " COUNT, "bad-value" },
        { WORDS("--stack", "8MM"), "--stack: \"8MM\" " SIZE, "bad-value" },
        { WORDS("--core", "-1"), "--core: \"-1\" " SIZE, "bad-value" },
        { WORDS("--cpus", "3-2"), "--cpus: \"3-2\" " LIST, "bad-value" },
        { WORDS("--output", "much"), "--output: \"much\" " SIZE, "bad-value" },
        /* nothing where nothing makes no sense, and more than there is */
        { WORDS("--timeout", "0"), "--timeout: \"0\" is out of range; accepted: 1ms to *, or infinity" HELP, "bad-value" },
        { WORDS("--cpu-time", "0"), "--cpu-time: \"0\" is out of range; accepted: 1ms to *, or infinity" HELP, "bad-value" },
        { WORDS("--memory", "0"), "--memory: \"0\" is out of range; accepted: *, or infinity" HELP, "bad-value" },
        { WORDS("--cpu", "0"), "--cpu: \"0\" is out of range; accepted: 1% to *, or infinity" HELP, "bad-value" },
        { WORDS("--tasks", "0"), "--tasks: \"0\" is out of range; accepted: 1 to *, or infinity" HELP, "bad-value" },
        { WORDS("--memory", "99999999999999999999"), "--memory: \"99999999999999999999\" is out of range; *", "bad-value" },
        { WORDS("--timeout=1s", "--memory=x", "--tasks=y"), "--memory: \"x\" " SIZE, "bad-value" },
        /* names */
        { WORDS("--id", "a b"), "--id: \"a b\" is not an id; accepted: *", "bad-value" },
        { WORDS("--id", ""), "--id: \"\" is not an id; accepted: *", "bad-value" },
        { WORDS("--id", "-a"), "--id: \"-a\" is not an id; accepted: *", "bad-value" },
        { WORDS("--id", "../etc"), "--id: \"../etc\" is not an id; accepted: *", "bad-value" },
        { WORDS("--id", "pool"), "--id: \"pool\" is reserved; accepted: any other id" HELP, "bad-value" },
        /* options */
        { WORDS("--frobnicate"), "unknown option --frobnicate" HELP, "usage" },
        { WORDS("--memroy=1G"), "unknown option --memroy (did you mean --memory?)" HELP, "usage" },
        { WORDS("-timeout"), "unknown option -t (did you mean --timeout?)" HELP, "usage" },
        { WORDS("--job=/x", "--job=/y"), "--job is given twice: one run has one job" HELP, "usage" },
        { WORDS("-Z"), "unknown option -Z" HELP, "usage" },
        { WORDS("--capture=yes"), "--capture takes no value" HELP, "usage" },
        { WORDS("--label", "novalue"), "--label: \"novalue\" is not KEY=VALUE" HELP, "bad-value" },
        { WORDS("-E", "=x"), "-E: \"=x\" is not NAME or NAME=VALUE" HELP, "bad-value" },
        { WORDS("--capture", "--on-output", "eat"), "--on-output: \"eat\" is not accepted; accepted: truncate, kill" HELP, "bad-value" },
        { WORDS("--stdin", "/no/such/file"), "--stdin: cannot open \"/no/such/file\": *", NULL },
        { WORDS("-C", "/no/such/directory"), "-C: cannot use the directory \"/no/such/directory\": *", "directory" },
        { WORDS("-C", "/dev/null"), "-C: cannot use the directory \"/dev/null\": Not a directory*", "directory" },
};
/* clang-format on */

/* No manager is asked for any of it: none need be there. */
static void test_refusals(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                g_autofree char *words = g_strdup_printf("cordon: %s\n", refusals[i].message);
                g_autofree char *name = g_strjoinv(" ", (char **)refusals[i].options);
                bool has_id = g_str_equal(refusals[i].options[0], "--id");
                KitOrder order = { .options = refusals[i].options,
                                   .command = VICTIM("say", "ran") };
                Expected expected = { .outcome = "refused",
                                      .status = 125,
                                      .exit_code = ABSENT,
                                      .error = refusals[i].code,
                                      .message = refusals[i].message,
                                      .words = words };

                if (kit_is_brief() && i % 3 != 0)
                        continue;
                if (has_id)
                        order.id = "";

                g_autoptr(KitRun) run = kit_run(&order);

                if (!refusals[i].code)
                        expected.error = record_text(run, "error.code");
                expect(run, &expected, name);
                ok(!record_at(run, "manager") && !record_at(run, "unit"),
                   "%s: no manager was asked", name);
        }
}

static void test_no_command(void) {
        KitOrder order = { 0 };
        KitOrder value = { .options = WORDS("--memory") };
        Expected expected = { .outcome = "refused",
                              .status = 125,
                              .exit_code = ABSENT,
                              .error = "usage",
                              .message = "no command given" HELP,
                              .words = "cordon: no command given" HELP "\n" };
        Expected needs = { .outcome = "refused",
                           .status = 125,
                           .exit_code = ABSENT,
                           .error = "usage",
                           .message = "--memory needs a value" HELP,
                           .words = "cordon: --memory needs a value" HELP "\n" };
        g_autoptr(KitRun) none = kit_run(&order);
        g_autoptr(KitRun) half = kit_run(&value);

        expect(none, &expected, "no command");
        expect(half, &needs, "an option without its value");
}

static void test_quiet(void) {
        KitOrder order = { .options = WORDS("-q", "--memory", "x"), .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 125, "-q changes no status");
        is(run->errors->str, "", "-q says nothing");
        is(record_text(run, "outcome"), "refused", "-q still writes the record");
}

/* The record goes where it was asked for, whatever stands before or behind it. */
static void test_record_places(void) {
        static const char *const places[] = { "before.json", "behind.json" };

        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
                g_autofree char *path = g_build_filename(kit_directory(), places[i], NULL);
                g_autofree char *text = NULL;
                KitOrder order = { .options = i == 0 ? WORDS("--record", path, "--memory", "x")
                                                     : WORDS("--memory", "x", "--record", path),
                                   .record = "",
                                   .command = VICTIM("end") };
                g_autoptr(KitRun) run = kit_run(&order);

                cmp_ok(run->status, "==", 125, "a record to a file: refused");
                ok(g_file_get_contents(path, &text, NULL, NULL) && kit_is_record(text) &&
                           strstr(text, "\"outcome\":\"refused\"") && g_str_has_suffix(text, "}\n"),
                   "the record of a refusal is in %s", places[i]);
                cmp_ok(run->record_text->len, "==", 0, "and nowhere else");
        }

        KitOrder order = { .record = "-", .command = VICTIM("say", "hello") };
        g_autoptr(KitRun) run = kit_run(&order);

        ok(g_regex_match_simple("^hello\n\\{\"schema\":1,.*\\}\n$", run->output->str, 0, 0),
           "--record - writes behind the program's output: %s", run->output->str);
        ok(kit_is_record(strchr(run->output->str, '{')), "--record -: it is one");
        leftover_check(run, "--record -");

        KitOrder nowhere = { .record = "/no/such/place", .command = VICTIM("say", "ran") };
        g_autoptr(KitRun) lost = kit_run(&nowhere);

        cmp_ok(lost->status, "==", 125, "a record that cannot be written is refused");
        is(lost->output->str, "", "before anything is started");
        is(lost->errors->str,
           "cordon: --record: cannot write to \"/no/such/place\": No such file or directory" HELP
           "\n",
           "in one line");
        leftover_check(lost, "a record that cannot be written");
}

static void test_id_in_use(void) {
        KitOrder first = { .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected unharmed = { .outcome = "exited", .said = "pid *\nready\n" };
        g_autoptr(KitRun) holder = kit_start(&first);

        if (!kit_wait_line(holder, "ready"))
                BAIL_OUT("the first of two runs does not start");

        KitOrder second = { .id = holder->id, .command = VICTIM("say", "ran") };
        g_autoptr(KitRun) late = kit_run(&second);

        cmp_ok(late->status, "==", 125, "an id in use: refused");
        is(record_text(late, "outcome"), "refused", "an id in use: the outcome");
        is(record_text(late, "error.code"), "id-in-use", "an id in use: the code");
        is(late->output->str, "", "an id in use: nothing is started");
        ok(strstr(late->errors->str, holder->id) &&
                   strchr(late->errors->str, '\n') == strrchr(late->errors->str, '\n'),
           "an id in use: one line names it: %s", late->errors->str);

        (void)kill((pid_t)kit_said_number(holder, "pid"), SIGUSR1);
        kit_finish(holder);
        expect(holder, &unharmed, "the one that has the id");

        g_autoptr(KitRun) again = kit_run(&second);

        cmp_ok(again->status, "==", 0, "an id is free again afterwards");
        leftover_check(again, "an id that was used twice");
}

/* Whoever is refused an id must not take its owner along, however it ends. */
static void test_id_in_use_killed(void) {
        KitOrder first = { .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected unharmed = { .outcome = "exited", .said = "pid *\nready\n" };
        int rounds = kit_rounds(20, 4);
        g_autoptr(KitRun) holder = kit_start(&first);

        if (!kit_wait_line(holder, "ready"))
                BAIL_OUT("the first of two runs does not start");
        for (int i = 0; i < rounds; i++) {
                KitOrder second = { .id = holder->id, .command = VICTIM("say", "ran") };
                g_autoptr(KitRun) late = kit_start(&second);

                (void)kit_wait_process(late->pidfd, kit_patience((uint64_t)i * KIT_MSEC));
                kit_signal(late, SIGKILL);
                kit_finish(late);
        }

        /* Were it to be ended, it would be by now. */
        ok(!kit_wait_process(holder->pidfd, kit_patience(500 * KIT_MSEC)),
           "an id in use: its owner lives when those who wanted it are killed");
        (void)kill((pid_t)kit_said_number(holder, "pid"), SIGUSR1);
        kit_finish(holder);
        expect(holder, &unharmed, "an id that others wanted");
}

/* What the manager sets up before it executes anything of ours can hang, here at a FIFO that nobody writes to. It has done
 * its part by then, and would wait for ever. */
static void test_hanging_start(void) {
        g_autofree char *fifo = g_build_filename(kit_directory(), "nobody-writes", NULL);
        g_autofree char *property = g_strconcat("NetworkNamespacePath=", fifo, NULL);
        KitOrder order = { .options = WORDS("-p", property), .command = VICTIM("say", "ran") };
        Expected expected = {
                .outcome = "refused",
                .status = 125,
                .exit_code = ABSENT,
                .error = "gate",
                .message = "the unit was started, but what is set up before its program hangs",
                .words = "cordon: the unit was started, but what is set up before its program hangs\n"
        };

        if (kit_is_brief() || kit_is_scope() || g_str_equal(kit_manager(), "user"))
                return;
        g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);

        g_autoptr(KitRun) run = kit_start(&order);

        ok(kit_wait_process(run->pidfd, kit_patience(45 * KIT_SEC)),
           "a start that hangs is given up after half a minute");
        kit_finish(run);
        expect(run, &expected, "a start that hangs");
}

int main(void) {
        kit_init();
        test_refusals();
        test_no_command();
        test_quiet();
        test_record_places();
        test_id_in_use();
        test_id_in_use_killed();
        test_hanging_start();
        kit_clear();
        done_testing();
}
