/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The profiles that come with cordon, each met by a program; and a profile of one's own, below job and command line. Two
 * runs take as long as a tool call may: they begin first and are looked at last. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "batch.h"
#include "expect.h"
#include "leftover.h"

#define MIB          (INT64_C(1) << 20)
#define GIB          (INT64_C(1) << 30)
#define LONGEST_USEC (45 * KIT_SEC) /* of half a minute and what comes with it */

/* clang-format off */
static const struct {
        const char *name;
        const char *const *options;
        const char *const *command; /* of the victim */
        Expected expected;
} cases[] = {
        { "tool: memory", WORDS("--profile", "tool"), WORDS("eat", "300"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .message = "memory limit hit: killed (SIGKILL) [limits: memory=268435456]",
            .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=256M]\n" } },
        { "tool: less memory", WORDS("--profile", "tool"), WORDS("eat", "200"),
          { .outcome = "exited", .said = "eat all\n" } },
        { "tool: fsize", WORDS("--profile", "tool"), WORDS("write", "large", "60000000"),
          { .outcome = "fsize", .status = 153, .exit_code = ABSENT, .signal = SIGXFSZ, .touched = "fsize",
            .message = "fsize limit hit: killed (SIGXFSZ) [limits: fsize=52428800]",
            .words = "cordon: fsize limit hit: killed (SIGXFSZ) after *s [fsize=50M]\n" } },
        { "tool: nofile", WORDS("--profile", "tool"), WORDS("open", "100"),
          { .outcome = "exited", .said = "open 61 EMFILE\n" } },
        { "agent: memory", WORDS("--profile", "agent"), WORDS("eat", "600"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=512M]\n" } },
        { "agent: tasks", WORDS("--profile", "agent"), WORDS("forks", "100"),
          { .outcome = "exited", .touched = "tasks", .said = "forks 63 EAGAIN\n" } },
        { "judge: deep recursion is no reason to end", WORDS("--profile", "judge"), WORDS("recurse", "204800"),
          { .outcome = "exited", .said = "recurse all\n" } },
        { "judge: but memory is", WORDS("--profile", "judge"), WORDS("eat", "300"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=256M]\n" } },
        { "judge: output that passes through is not counted", WORDS("--profile", "judge"), WORDS("flood", "100000"),
          { .outcome = "exited", .said = "*" } },
        { "judge: the deadline leaves no time", WORDS("--profile", "judge", "--timeout", "200ms"), WORDS("ignore", "TERM", "pause"),
          { .outcome = "timeout", .status = 124, .exit_code = ABSENT, .signal = SIGKILL, .touched = "timeout grace",
            .words = "cordon: timeout limit hit: killed (SIGKILL) after *s [timeout=200ms]\n" } },
        { "the command line wins over a profile", WORDS("--profile", "tool", "--memory", "64M"), WORDS("eat", "100"),
          { .outcome = "memory", .status = 137, .exit_code = ABSENT, .signal = SIGKILL, .touched = "memory",
            .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=64M]\n" } },
        { "infinity lifts what a profile sets", WORDS("--profile", "tool", "--memory", "infinity", "--nofile", "infinity"), WORDS("eat", "300", "open", "100"),
          { .outcome = "exited", .said = "eat all\nopen 100 all\n" } },
};

/* What is in force, limit by limit. */
static const struct {
        const char *profile, *key;
        int64_t value;
        const char *by;
} limits[] = {
        { "tool", "timeout", 30 * 1000000, "RuntimeMaxUSec" },
        { "tool", "memory", 256 * MIB, "MemoryMax" },
        { "tool", "cpu-time", 10 * 1000000, "LimitCPU" },
        { "tool", "fsize", 50 * MIB, "LimitFSIZE" },
        { "tool", "nofile", 64, "LimitNOFILE" },
        { "agent", "grace", 5 * 1000000, "TimeoutStopUSec" },
        { "agent", "memory", 512 * MIB, "MemoryMax" },
        { "agent", "cpu", 1000000, "CPUQuotaPerSecUSec" },
        { "agent", "tasks", 64, "TasksMax" },
        { "judge", "timeout", 30 * 1000000, "RuntimeMaxUSec" },
        { "judge", "cpu-time", 10 * 1000000, "LimitCPU" },
        { "judge", "memory", 256 * MIB, "MemoryMax" },
        { "judge", "swap", 0, "MemorySwapMax" },
        { "judge", "stack", 256 * MIB, "LimitSTACK" },
        { "judge", "cpu", 1000000, "CPUQuotaPerSecUSec" },
        { "build", "memory", 2 * GIB, "MemoryMax" },
};

/* What one sees of the machine: a shell's script, and what it says. */
static const struct {
        const char *name, *profile, *script, *said;
} views[] = {
        { "agent: no network but a loopback", "agent", "grep -c : /proc/net/dev", "1\n" },
        { "agent: its workspace is writable", "agent", "echo a >inside && cat inside", "a\n" },
        { "agent: the system is not", "agent", "(: >/usr/x) 2>/dev/null || echo no", "no\n" },
        { "agent: nor is anybody's home to be seen", "agent", "ls -A /home /root /srv 2>/dev/null | grep -c '^[^/]'", "0\n" },
        { "judge: no network but a loopback", "judge", "grep -c : /proc/net/dev", "1\n" },
        { "build: a /tmp of its own", "build", "ls -A /tmp; : >/tmp/x && ls -A /tmp", "x\n" },
        { "tool: the caller's network", "tool", "readlink /proc/self/ns/net", "net:*\n" },
};
/* clang-format on */

/* An agent sees the system alone, and the victim is none of it; nor is it in a /tmp of a build's own, if it is in /tmp. */
static char **with_victim(const char *const *options) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        g_strv_builder_addv(builder, (const char **)options);
        if (strcmp(options[1], "agent") == 0 || strcmp(options[1], "build") == 0)
                g_strv_builder_add_many(builder, "--ro", kit_victim(), NULL);
        return g_strv_builder_end(builder);
}

static void test_cases(void) {
        g_autofree char *large = g_build_filename(kit_directory(), "large", NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(GStrv) command = kit_victim_argv(cases[i].command);
                g_auto(GStrv) options = with_victim(cases[i].options);
                KitOrder order = { .options = (const char *const *)options,
                                   .command = (const char *const *)command };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &cases[i].expected, cases[i].name);
                is(record_text(run, "profile"), cases[i].options[1], "%s: the record names it",
                   cases[i].name);
                (void)unlink(large);
        }
}

/* In a build's own /tmp there is no directory of the test's. */
static const char *place_of(const char *profile) {
        return strcmp(profile, "build") == 0 ? "/" : NULL;
}

static void test_limits(void) {
        const char *profile = NULL;
        g_autoptr(KitRun) run = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
                if (g_strcmp0(profile, limits[i].profile) != 0) {
                        KitOrder order = { .options = WORDS("--profile", limits[i].profile),
                                           .directory = place_of(limits[i].profile),
                                           .command = WORDS("/bin/true") };

                        g_clear_pointer(&run, kit_run_free);
                        run = kit_run(&order);
                        profile = limits[i].profile;
                        cmp_ok(run->status, "==", 0, "%s: a program that does nothing: %s", profile,
                               run->errors->str);
                }
                expect_limit(run, limits[i].key, limits[i].value, limits[i].value, limits[i].by);
        }
}

static void test_views(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
                KitOrder order = { .options = WORDS("--profile", views[i].profile),
                                   .directory = place_of(views[i].profile),
                                   .command = WORDS("/bin/sh", "-c", views[i].script) };
                g_autoptr(KitRun) run = kit_run(&order);

                skip(place_of(views[i].profile) && g_str_has_prefix(kit_victim(), "/tmp/"), 1,
                     "n/a: what is built below /tmp shows where cordon's gate is");
                ok(g_pattern_match_simple(views[i].said, run->output->str), "%s: %s", views[i].name,
                   run->output->str);
                end_skip;
        }
}

/* A judge's output is bounded where it goes into the record. */
static void test_output(void) {
        KitOrder order = { .options = WORDS("--profile", "judge", "--capture"),
                           .command = VICTIM("flood", "4000000000") };
        Expected expected = { .outcome = "output",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .touched = "output grace",
                              .words = "cordon: output limit hit: killed (SIGKILL) after *s "
                                       "[output=64K]\n" };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "judge: output");
}

/* The real gigabyte, in blocks that nobody has to write. */
static void test_disk(void) {
        KitOrder order = { .options = WORDS("--profile", "agent"),
                           .command = WORDS("/bin/sh", "-c",
                                            "fallocate -l 1100M growth; exec sleep 300") };
        Expected expected = { .outcome = "disk",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .touched = "disk",
                              .words = "cordon: disk limit hit: killed (SIGKILL) after *s, grew by "
                                       "* [disk=1G]\n" };
        g_autofree char *probe = g_build_filename(kit_directory(), "probe", NULL);
        int fd = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        bool is_able = fd >= 0 && fallocate(fd, 0, 0, 1 << 16) == 0;
        struct statvfs space;

        if (fd >= 0)
                (void)close(fd);
        (void)unlink(probe);
        skip(!is_able || statvfs(kit_directory(), &space) < 0 ||
                     space.f_bavail * space.f_frsize < 3 * (uint64_t)GIB,
             4, "n/a: three gigabytes that can be allocated are needed");
        {
                g_autofree char *growth = g_build_filename(kit_directory(), "growth", NULL);
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, "agent: disk");
                (void)unlink(growth);
        }
        end_skip;
}

static int64_t available_bytes(void) {
        g_autofree char *text = NULL;
        const char *line = g_file_get_contents("/proc/meminfo", &text, NULL, NULL)
                                   ? strstr(text, "MemAvailable:")
                                   : NULL;

        return line ? g_ascii_strtoll(line + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
}

static void test_build_memory(void) {
        g_auto(GStrv) options = with_victim(WORDS("--profile", "build"));
        KitOrder order = { .options = (const char *const *)options,
                           .directory = place_of("build"),
                           .command = VICTIM("eat", "2200") };
        Expected expected = { .outcome = "memory",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .touched = "memory",
                              .words = "cordon: memory limit hit: killed (SIGKILL) *[memory=2G]\n" };

        skip(kit_is_slow() || available_bytes() < 4 * GIB, 4,
             "n/a: a machine with four gigabytes to spare is needed");
        {
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, "build: memory");
        }
        end_skip;
}

/* The long ones */

static KitRun *begin(const char *profile, const char *option, const char *const *command) {
        g_auto(GStrv) options = with_victim(WORDS("--profile", profile, option));
        KitOrder order = { .options = (const char *const *)options, .command = command };

        return kit_start(&order);
}

static void end(KitRun *run, const Expected *expected, const char *name) {
        ok(kit_wait_process(run->pidfd, LONGEST_USEC), "%s: it ends", name);
        kit_finish(run);
        expect(run, expected, name);
        kit_run_free(run);
}

/* Real half minutes: where time is not dear. */
static void test_long_ones(void) {
        Expected timeout = { .outcome = "timeout",
                             .status = 124,
                             .exit_code = ABSENT,
                             .signal = SIGTERM,
                             .touched = "timeout",
                             .words = "cordon: timeout limit hit: killed (SIGTERM) after 3*s "
                                      "[timeout=30s]\n" };
        Expected cpu_time = { .outcome = "cpu-time",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .touched = "cpu-time",
                              .words = "cordon: cpu-time limit hit: killed (SIGTERM) after *s, cpu "
                                       "10*s [cpu-time=10s]\n" };
        Expected grace = { .outcome = "timeout",
                           .status = 124,
                           .exit_code = ABSENT,
                           .signal = SIGKILL,
                           .touched = "timeout grace",
                           .words = "cordon: timeout limit hit: killed (SIGKILL) after *s "
                                    "[timeout=200ms]\n" };
        KitRun *waiting, *spinning, *stubborn;
        int64_t wall;

        if (kit_is_slow())
                return;
        waiting = begin("tool", "--timeout=30s", VICTIM("pause"));
        spinning = begin("tool", "--timeout=infinity", VICTIM("spin"));
        stubborn = begin("agent", "--timeout=200ms", VICTIM("ignore", "TERM", "pause"));

        ok(kit_wait_process(stubborn->pidfd, LONGEST_USEC), "agent: whoever does not end is ended");
        kit_finish(stubborn);
        wall = record_number(stubborn, "usage.wall_usec");
        expect(stubborn, &grace, "agent: grace");
        cmp_ok(wall, ">=", 5 * 1000000, "agent: after five seconds");
        kit_run_free(stubborn);
        skip(!kit_wait_process(spinning->pidfd, LONGEST_USEC), 4,
             "n/a: this machine has no ten seconds of CPU time to spare");
        kit_finish(spinning);
        expect(spinning, &cpu_time, "tool: cpu-time");
        end_skip;
        kit_signal(spinning, SIGKILL);
        kit_run_free(spinning);
        end(waiting, &timeout, "tool: timeout");
}

/* One's own */

static char *config; /* XDG_CONFIG_HOME */

static void put(const char *name, const char *text) {
        g_autofree char *directory = g_build_filename(config, "cordon", "profiles", NULL);
        g_autofree char *path = g_build_filename(directory, name, NULL);

        if (g_mkdir_with_parents(directory, 0755) < 0 ||
            !g_file_set_contents(path, text, -1, NULL) || chmod(path, 0644) < 0)
                BAIL_OUT("cannot write %s: %s", path, strerror(errno));
}

static void test_layers(void) {
        g_autofree char *path = batch_file(
                "job.json", "{\"profile\": \"mine\", \"limits\": {\"tasks\": 20, \"nofile\": 40}}");
        KitOrder order = { .options = WORDS("--job", path, "--nofile", "50"),
                           .command = VICTIM("cat", "/proc/self/environ") };
        Expected expected = { .outcome = "exited", .said = "*" };

        put("mine.conf", "[Profile]\nInherit=tool\n[Limits]\ntasks=10\nnofile=30\nmemory=128M\n"
                         "[Run]\nsetenv=FROM=a profile\nclean-env=yes\nlabel=who=mine\n");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a job with a profile of one's own");
        is(record_text(run, "profile"), "mine", "the record names it");
        expect_limit(run, "memory", 128 * MIB, 128 * MIB, "MemoryMax");
        expect_limit(run, "fsize", 50 * MIB, 50 * MIB, "LimitFSIZE");
        expect_limit(run, "tasks", 20, 20, "TasksMax");
        expect_limit(run, "nofile", 50, 50, "LimitNOFILE");
        is(record_text(run, "labels.who"), "mine", "a profile has labels");
        ok(run->output->len == sizeof "FROM=a profile" &&
                   memcmp(run->output->str, "FROM=a profile", sizeof "FROM=a profile") == 0,
           "and variables");
}

static void test_refused(void) {
        static const struct {
                const char *name, *text, *code, *words;
        } rows[] = {
                { "broken", "[Limits]\nmemroy=1G\n", "bad-profile",
                  "cordon: --profile: */broken.conf:2: unknown key \"memroy\" (did you mean "
                  "\"memory\"?)\n" },
                { "away", "[Isolation]\nprivate-tmp=yes\n", "directory",
                  "cordon: */away.conf:2: private-tmp: the working directory \"*\" is not there "
                  "inside; *\n" },
                { "late", "[Run]\ndirectory=/no/such\n", "directory",
                  "cordon: */late.conf:2: directory: cannot use the directory \"/no/such\": *\n" },
                { "unenforceable", "[Limits]\ncpus=8191\n", "unenforceable",
                  "cordon: */unenforceable.conf:2: cpus *\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *file = g_strconcat(rows[i].name, ".conf", NULL);
                KitOrder order = { .options = WORDS("--profile", rows[i].name),
                                   .command = VICTIM("say", "ran") };
                Expected refused = { .outcome = "refused",
                                     .status = 125,
                                     .exit_code = ABSENT,
                                     .error = rows[i].code,
                                     .words = rows[i].words };

                put(file, rows[i].text);

                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &refused, rows[i].name);
                is(record_text(run, "profile"), rows[i].name, "%s: the record names it",
                   rows[i].name);
        }
}

static double limit_of(const cJSON *record, const char *key) {
        const cJSON *limit = cJSON_GetObjectItem(cJSON_GetObjectItem(record, "limits"), key);
        const cJSON *effective = cJSON_GetObjectItem(limit, "effective");

        return effective ? effective->valuedouble : ABSENT;
}

/* In a batch the job wins over the command line, and a profile is below both. */
static void test_batch(void) {
        g_autoptr(GString) jobs = g_string_new(NULL);

        put("other.conf", "[Limits]\ntasks=30\n");
        batch_add(jobs, "plain", NULL, VICTIM("end"));
        batch_add(jobs, "own", ", \"limits\": {\"nofile\": 99}", VICTIM("end"));
        batch_add(jobs, "other", ", \"profile\": \"other\"", VICTIM("end"));
        batch_add(jobs, "none", ", \"profile\": \"nope\"", VICTIM("end"));
        batch_add(jobs, "long", NULL, VICTIM("eat", "300"));

        g_autoptr(KitRun) run = batch_run(WORDS("--profile", "tool", "--tasks", "40"), jobs->str);
        g_autoptr(GPtrArray) records = batch_records(run->output->str);
        const cJSON *plain = batch_find(records, "plain"), *own = batch_find(records, "own");
        const cJSON *other = batch_find(records, "other"), *none = batch_find(records, "none");

        cmp_ok(run->status, "==", 0, "a batch with a profile: %s", run->errors->str);
        cmp_ok(records->len, "==", 5, "has all records");
        is(batch_text(plain, "profile"), "tool", "a job has the profile of all");
        cmp_ok(limit_of(plain, "nofile"), "==", 64, "and its limits");
        cmp_ok(limit_of(plain, "tasks"), "==", 40, "and those of the command line");
        cmp_ok(limit_of(own, "nofile"), "==", 99, "a job wins");
        is(batch_text(other, "profile"), "other", "a job has a profile of its own");
        cmp_ok(limit_of(other, "tasks"), "==", 40, "below the command line");
        cmp_ok(limit_of(other, "nofile"), "==", ABSENT, "and in place of the other");
        is(batch_text(none, "outcome"), "refused", "a job with one that is not there is refused");
        like(batch_text(none, "message"), "^line 4: \\$\\.profile: there is no profile \"nope\"",
             "in words");
        is(batch_text(batch_find(records, "long"), "outcome"), "memory", "and a limit is met");
        batch_check_nothing_left(records, "a batch with profiles");
}

int main(void) {
        kit_init();
        config = g_build_filename(kit_directory(), ".config", NULL);
        if (!g_setenv("XDG_CONFIG_HOME", config, TRUE))
                BAIL_OUT("no environment");
        test_cases();
        test_limits();
        test_views();
        test_output();
        test_disk();
        test_build_memory();
        test_layers();
        test_refused();
        test_batch();
        test_long_ones();
        g_free(config);
        kit_clear();
        done_testing();
}
