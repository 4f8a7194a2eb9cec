/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The same request in its other forms (a JSON job, another user, a property of the unit), and one that is only shown. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define NOBODY 65534

static char *write_job(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

static char *write_job(const char *name, const char *format, ...) {
        g_autofree char *path = g_build_filename(kit_directory(), name, NULL);
        va_list arguments;

        va_start(arguments, format);

        g_autofree char *text = g_strdup_vprintf(format, arguments);

        va_end(arguments);
        if (!g_file_set_contents(path, text, -1, NULL))
                BAIL_OUT("cannot write %s", path);
        return g_steal_pointer(&path);
}

static void test_job(void) {
        g_autofree char *path = write_job(
                "job.json",
                "{\"command\": [\"%s\", \"where\", \"cat\", \"/proc/self/environ\", \"exit\", \"3\"],\n"
                " \"env\": {\"LINES\": \"one\\ntwo\"}, \"clean-env\": true, \"labels\": {\"who\": \"me\"},\n"
                " \"directory\": \"/usr\", \"limits\": {\"memory\": \"64M\", \"tasks\": 7, \"timeout\": 90.5}}\n",
                kit_victim());
        KitOrder order = { .options = WORDS("--job", path, "--tasks", "9", "--label", "x=y") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *directory = kit_said(run, "directory");

        cmp_ok(run->status, "==", 3, "a job is run: %s", run->errors->str);
        is(record_text(run, "outcome"), "exited", "a job has its record");
        is(directory ?: "", "/usr", "a job has its directory");
        ok(memmem(run->output->str, run->output->len, "LINES=one\ntwo", sizeof "LINES=one\ntwo"),
           "a job has its environment");
        is(record_text(run, "labels.who"), "me", "a job has its labels");
        is(record_text(run, "labels.x"), "y", "and those of the command line");
        expect_limit(run, "memory", 64 << 20, 64 << 20, "MemoryMax");
        expect_limit(run, "timeout", 90500000, 90500000, "RuntimeMaxUSec");
        expect_limit(run, "tasks", 9, 9, "TasksMax");
        leftover_check(run, "a job");
}

static void test_job_from_stdin(void) {
        g_autofree char *path = write_job(
                "stdin.json", "{\"command\": [\"%s\", \"say\", \"from stdin\", \"copy\"]}",
                kit_victim());
        int input = open(path, O_RDONLY | O_CLOEXEC);
        KitOrder order = { .options = WORDS("--job", "-"), .input_fd = input };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 0, "a job from stdin is run: %s", run->errors->str);
        is(run->output->str, "from stdin\n", "its program has an empty stdin");
        leftover_check(run, "a job from stdin");
        (void)close(input);
}

static void test_bad_job(void) {
        g_autofree char *path = write_job("bad.json",
                                          "{\"command\": [\"true\"], \"colour\": \"red\"}");
        KitOrder order = { .options = WORDS("--job", path) };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 125, "a job with an unknown key is refused");
        is(record_text(run, "outcome"), "refused", "its record says so");
        ok(strstr(run->errors->str, "colour") &&
                   strchr(run->errors->str, '\n') == strrchr(run->errors->str, '\n'),
           "one line names the key: %s", run->errors->str);
        leftover_check(run, "a bad job");
}

/* What is refused late, when nobody thinks of the job any more, is still named as the job has it. */
static void test_bad_values(void) {
        static const struct {
                const char *member, *words, *code;
        } rows[] = {
                { "\"stdin\": \"/no/such\"", "$.stdin: cannot open \"/no/such\": No such file*",
                  "bad-value" },
                { "\"directory\": \"/no/such\"",
                  "$.directory: cannot use the directory \"/no/such\": No such file*",
                  "directory" },
                { "\"directory\": \"/dev/null\"", "$.directory: *: Not a directory*", "directory" },
                { "\"uid\": \"no-such-user\"", "$.uid: there is no user \"no-such-user\"*",
                  "no-such-account" },
                { "\"gid\": \"no-such-group\"", "$.gid: there is no group *", "no-such-account" },
                { "\"on-output\": \"kill\"", "$.on-output needs --capture *", "usage" },
                { "\"limits\": {\"output\": 5}", "$.limits.output needs --capture *", "usage" },
                { "\"limits\": {\"cpus\": \"8191\"}", "$.limits.cpus *", "unenforceable" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *path = write_job("values.json", "{%s}", rows[i].member);
                g_autofree char *words = g_strdup_printf("cordon: --job: %s\n", rows[i].words);
                KitOrder order = { .options = WORDS("--job", path), .command = VICTIM("end") };
                Expected refused = { .outcome = "refused",
                                     .status = 125,
                                     .exit_code = ABSENT,
                                     .error = rows[i].code,
                                     .words = words };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &refused, rows[i].member);
        }

        g_autofree char *path = write_job("over.json", "{\"directory\": \"/no/such\"}");
        KitOrder order = { .options = WORDS("--job", path, "-C", "/not/there"),
                           .command = VICTIM("end") };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "directory",
                             .words = "cordon: -C: cannot use the directory \"/not/there\": *\n" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &refused, "an option in place of the job's");
}

static void test_user(void) {
        KitOrder order = { .options = WORDS("--uid", "65534", "--gid", "65534"),
                           .directory = "/",
                           .command = WORDS("/bin/sh", "-c",
                                            "id -u; id -g; id -G; echo \"$HOME $USER\"") };
        Expected expected = { .outcome = "exited", .said = "65534\n65534\n65534\n*nobody\n" };

        skip(geteuid() != 0, 4, "n/a: only root runs programs as somebody else");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "another user");
        end_skip;
}

static void test_unknown_user(void) {
        KitOrder order = { .options = WORDS("--uid", "no-such-user-anywhere"),
                           .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 125, "an unknown user is refused");
        is(record_text(run, "outcome"), "refused", "its record says so");
        ok(strstr(run->errors->str, "no-such-user-anywhere"), "and names it: %s", run->errors->str);
        leftover_check(run, "an unknown user");
}

static void test_property(void) {
        KitOrder order = { .options = WORDS("-p", "OOMScoreAdjust=700"),
                           .command = VICTIM("cat", "/proc/self/oom_score_adj") };
        KitOrder owned = { .options = WORDS("-p", "Slice=other.slice"), .command = VICTIM("end") };
        Expected expected = { .outcome = "exited", .said = "700\n" };
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "bad-value",
                             .words = "cordon: -p: \"Slice\" belongs to the sandbox*\n" };
        g_autoptr(KitRun) none = kit_run(&owned);

        expect(none, &refused, "a property that is ours");
        skip(kit_is_scope(), 4, "n/a: a scope has no such property");
        {
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, "a property of the unit");
        }
        end_skip;
}

static void test_labels(void) {
        KitOrder order = { .options = WORDS("--label", "agent=builder", "--label", "agent=tester",
                                            "--label", "empty=", "--label", "odd key=a=b\n"),
                           .command = VICTIM("end") };
        Expected expected = { .outcome = "exited" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "labels");
        is(record_text(run, "labels.agent"), "tester", "the last label of a name counts");
        ok(record_at(run, "labels.empty"), "a label may be empty");
        is(record_text(run, "labels.odd key"), "a=b\n", "a label may be odd");
}

/* Nothing is asked of any manager. */
static void test_dry_run(void) {
        KitOrder order = { .options = WORDS("--dry-run", "--memory", "64M", "--timeout", "5s"),
                           .command = VICTIM("say", "ran") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *slice = leftover_unit(run->id, "slice");
        const char *const shown[] = { "systemd-run", "MemoryMax=67108864", "TimeoutStop",
                                      "RuntimeMax", kit_is_scope() ? "--core=0:0" : "LimitCORE" };

        cmp_ok(run->status, "==", 0, "--dry-run succeeds: %s", run->errors->str);
        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++)
                ok(strstr(run->output->str, shown[i]), "--dry-run shows %s", shown[i]);
        ok(strstr(run->output->str, slice), "--dry-run shows the slice");
        ok(!strstr(run->output->str, "\nran\n"), "--dry-run runs nothing");
        leftover_check(run, "--dry-run");
}

/* In a scope the manager has no part in it, and no property says it. */
static void test_dry_isolation(void) {
        KitOrder order = { .options = WORDS("--dry-run", "--net", "none", "--hide", "/srv", "-C",
                                            "/"),
                           .command = VICTIM("say", "ran") };
        g_autoptr(KitRun) run = kit_run(&order);
        const char *const shown[] = {
                kit_is_scope() ? "--net none" : "PrivateNetwork=yes",
                kit_is_scope() ? "--hide /srv" : "TemporaryFileSystem=/srv",
        };

        cmp_ok(run->status, "==", 0, "--dry-run with walls succeeds: %s", run->errors->str);
        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++)
                ok(strstr(run->output->str, shown[i]), "--dry-run shows %s", shown[i]);
}

int main(void) {
        kit_init();
        test_job();
        test_job_from_stdin();
        test_bad_job();
        test_bad_values();
        test_user();
        test_unknown_user();
        test_property();
        test_labels();
        test_dry_run();
        test_dry_isolation();
        kit_clear();
        done_testing();
}
