/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Output in the record: all of it up to the limit, whatever the program does with its streams, and never in the
 * program's way. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options; /* beside --capture */
        const char *const *command; /* of the victim */
        Expected expected;
        const char *output, *errors; /* what the record must have */
        bool is_output_cut, is_extra;
} cases[] = {
        { "both streams", NULL, WORDS("say", "one", "complain", "two", "say", "three", "exit", "4"),
          { .outcome = "exited", .status = 4, .exit_code = 4 }, "one\nthree\n", "two\n" },
        { "nothing at all", NULL, WORDS("end"), { .outcome = "exited" }, "", "" },
        { "characters of many kinds", NULL, WORDS("say", "\"quoted\" \\ \t\x01\x7f \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
          { .outcome = "exited" }, "\"quoted\" \\ \t\x01\x7f \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n", "", .is_extra = true },
        { "every control character", NULL, WORDS("say", "\x01\x02\b\f\v\n\r\x1f/"),
          { .outcome = "exited" }, "\x01\x02\b\f\v\n\r\x1f/\n", "", .is_extra = true },
        { "a closed stdout", NULL, WORDS("close", "1", "complain", "still", "exit", "3"),
          { .outcome = "exited", .status = 3, .exit_code = 3 }, "", "still\n" },
        { "more than the limit", WORDS("--output", "10"), WORDS("say", "0123456789abcdef", "exit", "5"),
          { .outcome = "exited", .status = 5, .exit_code = 5, .touched = "output" }, "0123456789", "", .is_output_cut = true },
        { "just the limit", WORDS("--output", "10"), WORDS("say", "012345678"),
          { .outcome = "exited" }, "012345678\n", "", .is_extra = true },
        { "no output is kept", WORDS("--output", "0"), WORDS("say", "hello"),
          { .outcome = "exited", .touched = "output" }, "", "", .is_output_cut = true, .is_extra = true },
        { "a cut between the bytes of a character", WORDS("--output", "5"), WORDS("say", "abcd\xe2\x82\xac"),
          { .outcome = "exited", .touched = "output" }, "abcd", "", .is_output_cut = true },
        { "one who stays behind with the streams", NULL,
          WORDS("child", "leave", "ignore", "HUP", "pause", "then", "say", "gone", "exit", "6"),
          { .outcome = "exited", .status = 6, .exit_code = 6 }, "gone\n", "" },
        { "what was said before a deadline", WORDS("--timeout", "1500ms", "--grace", "0"), WORDS("say", "early", "pause"),
          { .outcome = "timeout", .status = 124, .exit_code = ABSENT, .signal = SIGKILL, .touched = "timeout grace",
            .words = "cordon: timeout limit hit: killed (SIGKILL) after *s [timeout=1.5s]\n" }, "early\n", "" },
        { "what was said before a kill for memory", WORDS("--memory", "32M"), WORDS("say", "hungry", "eat", "200"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .words = "cordon: memory limit hit: killed (SIGKILL) *\n" }, "hungry\n", "" },
        { "what was said before a signal of its own", NULL, WORDS("say", "bye", "raise", "KILL"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .words = "cordon: killed (SIGKILL) after *s\n" }, "bye\n", "", .is_extra = true },
};
/* clang-format on */

static char **with_capture(const char *const *options) {
        GPtrArray *all = g_ptr_array_new();

        g_ptr_array_add(all, g_strdup("--capture"));
        for (; options && *options; options++)
                g_ptr_array_add(all, g_strdup(*options));
        g_ptr_array_add(all, NULL);
        return (char **)g_ptr_array_free(all, FALSE);
}

static void test_cases(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GStrv) options = with_capture(cases[i].options);
                g_auto(GStrv) command = kit_victim_argv(cases[i].command);
                KitOrder order = { .options = (const char *const *)options,
                                   .command = (const char *const *)command };

                if (cases[i].is_extra && kit_is_brief())
                        continue;

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &cases[i].expected, cases[i].name);
                is(record_text(run, "stdout"), cases[i].output, "%s: stdout", cases[i].name);
                is(record_text(run, "stderr"), cases[i].errors, "%s: stderr", cases[i].name);
                ok(record_at(run, "stdout") && record_at(run, "stderr"), "%s: both are there",
                   cases[i].name);
                ok(record_at(run, "stdout_truncated") &&
                           record_is_true(run, "stdout_truncated") == cases[i].is_output_cut &&
                           !record_is_true(run, "stderr_truncated"),
                   "%s: what was cut is said", cases[i].name);
        }
}

static void test_passing(void) {
        KitOrder order = { .command = VICTIM("say", "hello") };
        g_autoptr(KitRun) run = kit_run(&order);

        ok(!record_at(run, "stdout") && !record_at(run, "stdout_truncated") &&
                   !record_at(run, "limits.output"),
           "without --capture the record has no output");
        leftover_check(run, "without --capture");
}

static void test_binary(void) {
        KitOrder order = { .options = WORDS("--capture"), .command = VICTIM("flood", "1000") };
        g_autoptr(KitRun) run = kit_run(&order);
        gsize size = 0;
        g_autofree guchar *bytes = g_base64_decode(record_text(run, "stdout_base64"), &size);

        cmp_ok(size, "==", 1000, "what is no text is in base64, all of it");
        ok(size == 1000 && bytes[0] == 0 && bytes[999] == 0, "and is what was written");
        ok(!record_at(run, "stdout"), "and is not there as text");
        leftover_check(run, "binary output");
}

/* The default limit, and that it bounds our own memory too. */
static void test_flood(void) {
        const char *bytes = kit_is_slow() ? "5000000" : "500000000";
        KitOrder order = { .options = WORDS("--capture"), .command = VICTIM("flood", bytes) };
        Expected expected = { .outcome = "exited", .touched = "output" };
        g_autoptr(KitRun) run = kit_run(&order);
        gsize size = 0;
        g_autofree guchar *kept = g_base64_decode(record_text(run, "stdout_base64"), &size);

        expect(run, &expected, "a flood");
        expect_limit(run, "output", 1 << 20, 1 << 20, NULL);
        cmp_ok(size, "==", 1 << 20, "a flood: a megabyte is kept");
        ok(kept && record_is_true(run, "stdout_truncated"), "a flood: the record says it was cut");
        skip(kit_is_sanitized(), 1, "n/a: a sanitizer needs memory of its own");
        cmp_ok(run->max_rss_bytes, "<", INT64_C(32) << 20, "a flood: cordon stays below 32 MB");
        end_skip;
}

/* Six bytes of the record for each byte of output: none of them is held. */
static void test_control(void) {
        const char *const size = kit_is_slow() ? "4M" : "48M";
        g_autofree char *script = g_strdup_printf("head -c %s /dev/zero | tr '\\0' '\\1'", size);
        KitOrder order = { .options = WORDS("--capture", "--output", "256M"),
                           .command = WORDS("sh", "-c", script),
                           .record = "/dev/null" };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 0, "a record larger than memory should hold is written");
        is(run->errors->str, "", "and nothing is said of it");
        skip(kit_is_sanitized(), 1, "n/a: a sanitizer needs memory of its own");
        cmp_ok(run->max_rss_bytes, "<", INT64_C(160) << 20,
               "cordon holds the output, but not a second time");
        end_skip;
        leftover_check(run, "a large record");
}

/* Our pipes are the user's who is to write to them, also by name. */
static void test_user(void) {
        KitOrder order = { .options = WORDS("--capture", "--uid", "nobody", "-C", "/"),
                           .command = WORDS("sh", "-c",
                                            "echo one >/dev/stdout && echo two >/dev/stderr") };
        Expected expected = { .outcome = "exited" };

        skip(geteuid() != 0, 6, "n/a: needs root");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "another user who opens /dev/stdout");
        is(record_text(run, "stdout"), "one\n", "another user: stdout");
        is(record_text(run, "stderr"), "two\n", "another user: stderr");
        end_skip;
}

static void test_kill(void) {
        KitOrder order = { .options = WORDS("--capture", "--output", "100", "--on-output", "kill"),
                           .command = VICTIM("ignore", "TERM", "say", "first", "flood", "1000000",
                                             "pause") };
        Expected expected = {
                .outcome = "output",
                .status = 137,
                .exit_code = ABSENT,
                .signal = SIGKILL,
                .message = "output limit hit: killed (SIGKILL) [limits: output=100]",
                .words = "cordon: output limit hit: killed (SIGKILL) after *s [output=100B]\n",
                .touched = "output"
        };
        g_autoptr(KitRun) run = kit_run(&order);
        gsize size = 0;
        g_autofree guchar *kept = g_base64_decode(record_text(run, "stdout_base64"), &size);

        expect(run, &expected, "--on-output kill");
        ok(size == 100 && memcmp(kept, "first\n", 6) == 0,
           "--on-output kill: the beginning is kept");
        ok(record_has_evidence(run, "captured output outgrew its limit *"),
           "--on-output kill: the evidence names it");
}

/* One JSON object and nothing else on stdout. */
static void test_json(void) {
        KitOrder order = { .record = "",
                           .options = WORDS("--json"),
                           .command = VICTIM("say", "inside", "exit", "9") };
        g_autoptr(KitRun) run = kit_run(&order);

        run->record = kit_parse_record(run->output->str, NULL);
        cmp_ok(run->status, "==", 9, "--json changes no status");
        is(record_text(run, "stdout"), "inside\n", "--json captures");
        is(record_text(run, "outcome"), "exited", "--json writes the record to stdout");
        ok(g_str_has_prefix(run->output->str, "{\"schema\":1,") &&
                   strchr(run->output->str, '\n') == strrchr(run->output->str, '\n'),
           "--json: one line");
        is(run->errors->str, "", "--json: no words for a plain exit");
        leftover_check(run, "--json");
}

int main(void) {
        kit_init();
        test_cases();
        test_passing();
        test_binary();
        test_flood();
        test_control();
        test_user();
        test_kill();
        test_json();
        kit_clear();
        done_testing();
}
