/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* --untrusted as its own user sees it: who the program is, what it has and has not, that programs still run in there and
 * that their ends are told as ever. What it is to stop is tests/escape's. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define DYNAMIC_FIRST      61184 /* users that systemd makes up */
#define DYNAMIC_LAST       65519
#define NOBODY             65534
#define EXPOSURE_MOST      0.5
#define EXPOSURE_MOST_USER 1.5 /* what remains there is in docs/escape.md */
#define SCOPE_ABI          6   /* of Landlock */

static char *workspace, *victims;

static bool is_system(void) {
        return g_str_equal(kit_manager(), "system");
}

/* Where the build is not installed, --fs strict does not show it. An emulated machine is throttled by a bound on its CPU. */
static KitOrder order_there(GPtrArray *words, const char *const *options,
                            const char *const *command) {
        const char *const before[] = { "--untrusted", "--workspace", workspace, "-C",
                                       workspace,     "--ro",        victims };

        for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
                g_ptr_array_add(words, (char *)before[i]);
        if (kit_is_slow())
                g_ptr_array_add(words, (char *)"--cpu=200%");
        for (; options && *options; options++)
                g_ptr_array_add(words, (char *)*options);
        g_ptr_array_add(words, NULL);
        return (KitOrder){ .options = (const char *const *)words->pdata, .command = command };
}

static KitRun *run_there(const char *const *options, const char *const *command) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        KitOrder order = order_there(words, options, command);

        return kit_run(&order);
}

/* Who it is */

static bool is_nobody(long uid) {
        if (is_system())
                return uid >= DYNAMIC_FIRST && uid <= DYNAMIC_LAST;
        return uid == (geteuid() == 0 ? NOBODY : (long)geteuid());
}

static void test_identity(void) {
        g_autoptr(KitRun) run = run_there(NULL, WORDS("id", "-u"));

        if (!ok(is_nobody(strtol(run->output->str, NULL, 10)), "it owns nothing of others'"))
                diag("%s%s", run->output->str, run->errors->str);
        ok(record_is_true(run, "isolation.untrusted.requested"), "the record has what was asked");
        ok(record_is_true(run, "isolation.untrusted.enforced"), "and that it held");
        ok(record_is_true(run, "isolation.private-tmp.enforced"), "with the rest: /tmp");
        is(record_text(run, "isolation.net.requested"), "none", "no network");
        is(record_text(run, "isolation.fs.requested"), "strict", "own files");
        is(record_text(run, "isolation.fs.workspace"), workspace, "and the workspace");
        leftover_check(run, "who it is");
}

static bool has_residual(const cJSON *residuals, const char *word) {
        const cJSON *one;

        cJSON_ArrayForEach(one, residuals) {
                if (g_strcmp0(cJSON_GetStringValue(one), word) == 0)
                        return true;
        }
        return false;
}

/* Named where something stays open, and only there. */
static void expect_residuals(const char *name, const char *const *options) {
        KitOrder order = { .options = options, .command = WORDS("readlink", "/proc/self/ns/pid") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *ours = g_file_read_link("/proc/self/ns/pid", NULL);
        const cJSON *residuals = record_at(run, "isolation.untrusted.residuals");
        bool is_own = !g_str_has_prefix(run->output->str, ours);
        bool is_new = strtol(record_text(run, "systemd_version"), NULL, 10) >= 257;
        bool is_scoped = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U) >= SCOPE_ABI;
        bool is_user = !is_system() && geteuid() != 0;
        const struct {
                const char *word;
                bool is_wanted;
        } words[] = {
                { "signals", !is_own && !is_system() && !is_scoped },
                { "processes", !is_own && is_user },
                { "tmp", is_system() && !is_new },
                { "sockets", !is_scoped && g_str_equal(name, "the caller's network") },
                { "files", is_user && g_str_equal(name, "the caller's files") },
        };
        int count = 0;

        ok(is_own == is_new, "%s: a pid namespace of its own where that can be had", name);
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                ok(has_residual(residuals, words[i].word) == words[i].is_wanted, "%s: %s %s", name,
                   words[i].word,
                   words[i].is_wanted ? "stays open, and the record says so" : "is closed");
                count += words[i].is_wanted;
        }
        cmp_ok(cJSON_GetArraySize(residuals), "==", count, "%s: nothing else stays open", name);
}

/* What it has */

static void test_limits(void) {
        g_autoptr(KitRun) bare = run_there(NULL, WORDS("true"));
        g_autoptr(KitRun)
                asked = run_there(WORDS("--memory", "64M", "--timeout", "infinity"), WORDS("true"));

        expect_limit(bare, "memory", 512 << 20, 512 << 20, "MemoryMax");
        expect_limit(bare, "swap", 0, 0, "MemorySwapMax");
        expect_limit(bare, "tasks", 128, 128, "TasksMax");
        expect_limit(bare, "cpu", kit_is_slow() ? 2000000 : 1000000,
                     kit_is_slow() ? 2000000 : 1000000, "CPUQuotaPerSecUSec");
        expect_limit(bare, "timeout", 300 * KIT_SEC, 300 * KIT_SEC, "RuntimeMaxUSec");
        cmp_ok(record_number(bare, "limits.disk.requested"), "==", 1 << 30, "disk: 1G");
        expect_limit(asked, "memory", 64 << 20, 64 << 20, "MemoryMax");
        ok(!record_at(asked, "limits.timeout"), "infinity lifts what it brings");
        ok(record_at(asked, "limits.tasks"), "and nothing else");
}

static void be_nice(void) {
        (void)!nice(5);
}

static void test_world(void) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        KitOrder order = order_there(words, WORDS("-E", "MINE=1"),
                                     WORDS("sh", "-c",
                                           "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; nice"));

        g_autofree char *wanted = g_strdup_printf(
                "HOME=/tmp\nLANG=C.UTF-8\nMINE=1\nPATH=/usr/local/bin:/usr/bin:/bin\n%d\n",
                getpriority(PRIO_PROCESS, 0) + 5);

        order.prepare = be_nice;

        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, wanted, "its environment is none of ours, its nice level is");
}

typedef struct {
        const char *name;
        const char *const *options;
        const char *script, *said;
} Sight;

#define TRY(command) command " 2>/dev/null && echo done || echo refused\n"

/* clang-format off */
static const Sight sights[] = {
        { "the machine's sockets", NULL, "find /run -type s | wc -l", "0\n" },
        { "control groups", NULL, TRY("echo $$ >/sys/fs/cgroup/cgroup.procs"), "refused\n" },
        { "/tmp", NULL, TRY("touch /tmp/x"), "done\n" },
        { "the workspace", NULL, TRY("touch x") TRY("rm x"), "done\ndone\n" },
        { "the system", NULL, TRY("touch /usr/x") TRY("touch /etc/x"), "refused\nrefused\n" },
        { "what the filter answers", NULL, TRY("unshare -m true") TRY("chroot / true"), "refused\nrefused\n" },
        { "shared memory", NULL, TRY("touch /dev/shm/x"), "done\n" },
};

static const struct {
        const char *name, *needs, *script, *said;
} programs[] = {
        { "a pipeline", "bash", "seq 5 | sort -r | head -n 1; (exit 3) & wait $!; echo $?", "5\n3\n" },
        { "python3", "python3", "python3 -c 'import subprocess,multiprocessing as m; subprocess.run([\"true\"],check=True); print(m.Pool(2).map(abs,[-1,2]))'", "[1, 2]\n" },
        { "perl", "perl", "perl -e 'print join(\",\", sort map { $_ * 2 } 1..3), \"\\n\"'", "2,4,6\n" },
        { "git", "git", "git init -q r && cd r && echo x >f && git add f && git -c user.name=n -c user.email=e commit -qm m && git log --format=%s && cd .. && rm -rf r", "m\n" },
        { "a compiler", "gcc", "printf 'int main(void){return 7;}' >a.c && gcc -O2 -o a a.c && ./a; echo $?; rm -f a a.c", "7\n" },
        { "make", "make", "printf 'all:\\n\\t@echo made\\n' >Makefile && make -s && rm Makefile", "made\n" },
        { "node", "node", "node -e 'require(\"child_process\").execSync(\"true\"); new (require(\"worker_threads\").Worker)(\"console.log(require(`os`).cpus().length > 0)\", {eval: true})'", "true\n" },
};
/* clang-format on */

static void test_sight(const Sight *sight) {
        g_autoptr(KitRun) run = run_there(sight->options, WORDS("sh", "-c", sight->script));

        is(run->output->str, sight->said, "%s", sight->name);
        cmp_ok(run->status, "==", 0, "%s: and its end is its own", sight->name);
}

/* Its own files are none then: what it may write is what its user may. */
static void test_host_files(void) {
        KitOrder order = {
                .options = WORDS("--untrusted", "--fs", "host", "-C", "/"),
                .command = WORDS("sh", "-c",
                                 "test -e /run/systemd/private && echo seen || echo hidden\n"
                                 "test -d /var/lib && echo seen || echo hidden\n" TRY(
                                         "touch /run/x") TRY("touch /var/lib/x"))
        };
        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, "hidden\nseen\nrefused\nrefused\n",
           "among the caller's files: no sockets");
        ok(record_is_true(run, "isolation.untrusted.enforced"), "and it is enforced");
        is(record_text(run, "isolation.fs.requested"), "", "as asked");
}

static void test_programs(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(programs); i++) {
                g_autofree char *path = g_find_program_in_path(programs[i].needs);

                skip(!path || !g_str_has_prefix(path, "/usr/"), 1, "n/a: no %s here",
                     programs[i].needs);
                g_autoptr(KitRun) run = run_there(NULL, WORDS("sh", "-c", programs[i].script));

                if (!is(run->output->str, programs[i].said, "%s runs", programs[i].name))
                        diag("%s", run->errors->str);
                end_skip;
        }
}

/* How it ends: as ever, also where it is not the first process of its namespace. */

static void test_end(const char *name, const char *const *options, const char *const *verbs,
                     const Expected *expected) {
        g_auto(GStrv) command = kit_victim_argv(verbs);
        g_autoptr(KitRun) run = run_there(options, (const char *const *)command);

        expect(run, expected, name);
}

static void test_ends(void) {
        test_end("a status", NULL, WORDS("exit", "7"),
                 &(Expected){ .outcome = "exited",
                              .status = 7,
                              .exit_code = 7,
                              .message = "exited with 7" });
        test_end("a signal to itself", NULL, WORDS("raise", "TERM"),
                 &(Expected){ .outcome = "signaled",
                              .status = 128 + SIGTERM,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .words = "cordon: killed (SIGTERM) *\n" });
        test_end("a deadline", WORDS("--timeout", kit_is_slow() ? "10s" : "300ms"), WORDS("pause"),
                 &(Expected){ .outcome = "timeout",
                              .status = 124,
                              .exit_code = ABSENT,
                              .signal = SIGTERM,
                              .words = "cordon: timeout limit hit: *\n",
                              .touched = "timeout" });
        test_end("memory", WORDS("--memory", "16M"), WORDS("eat", "64"),
                 &(Expected){ .outcome = "memory",
                              .status = 128 + SIGKILL,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .words = "cordon: memory limit hit: *\n",
                              .touched = "memory" });
}

static void test_stragglers(void) {
        g_auto(GStrv) command = kit_victim_argv(
                WORDS("child", "leave", "pause", "then", "nap", "100", "exit", "4"));
        g_autoptr(KitRun) run = run_there(NULL, (const char *const *)command);

        cmp_ok(record_number(run, "outlived"), "==", 1, "one outlived it, and only one is counted");
}

/* systemd's own judgement of the unit that runs. */
static void test_exposure(void) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        g_auto(GStrv) command = kit_victim_argv(WORDS("say", "ready", "pause"));
        KitOrder order = order_there(words, NULL, (const char *const *)command);

        order.id = "judged";
        bool is_user = g_str_equal(kit_manager(), "user");

        skip(!(is_system() || is_user) || kit_is_sanitized(), 1,
             "n/a: units of a private manager are not judged");
        g_autoptr(KitRun) run = kit_start(&order);
        g_autofree char *report = NULL, *overall = NULL;
        const char *argv[] = { "systemd-analyze", is_user ? "--user" : "--system", "security",
                               "--no-pager",      "cordon-judged.service",         NULL };

        (void)kit_wait_line(run, "ready");
        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &report,
                           NULL, NULL, NULL);
        overall = report ? g_strdup(strstr(report, "Overall exposure level")) : NULL;
        if (!ok(overall && strrchr(overall, ':') &&
                        g_ascii_strtod(strrchr(overall, ':') + 1, NULL) <=
                                (is_user ? EXPOSURE_MOST_USER : EXPOSURE_MOST),
                "systemd calls it safe"))
                diag("%s", report);
        else
                diag("%s", overall);
        kit_signal(run, SIGTERM);
        kit_finish(run);
        end_skip;
}

typedef struct {
        const char *name;
        const char *const *options;
        const char *words;
} Refusal;

/* clang-format off */
static const Refusal refusals[] = {
        { "root", WORDS("--uid", "root"), "cordon: --uid: with --untrusted not root; accepted: another; see cordon run --help\n" },
        { "its group", WORDS("--gid", "0"), "cordon: --gid: with --untrusted not root; accepted: another; see cordon run --help\n" },
        { "other groups", WORDS("-p", "SupplementaryGroups=daemon"), "cordon: -p: \"SupplementaryGroups\" is what --untrusted sets already: give one of them; see cordon run --help\n" },
        { "another kind of users", WORDS("-p", "PrivateUsers=identity"), "cordon: -p: \"PrivateUsersEx\" is what --untrusted sets already: give one of them; see cordon run --help\n" },
        { "a directory to begin from", WORDS("--stdin", "/"), "cordon: --untrusted: standard input is a directory, which would go round it; put a pipe or a file there\n" },
        { "the kernel's files", WORDS("--workspace", "/sys/fs/cgroup"), "cordon: --workspace: \"/sys/fs/cgroup\": not a workspace: --workspace (or -C) names another directory; see cordon run --help\n" },
};
/* clang-format on */

static void test_refusal(const Refusal *refusal) {
        g_autoptr(KitRun) run = run_there(refusal->options, WORDS("true"));

        cmp_ok(run->status, "==", 125, "%s: refused", refusal->name);
        is(run->errors->str, refusal->words, "%s: in words", refusal->name);
}

static void test_refused(void) {
        g_autoptr(KitRun) extra = run_there(WORDS("-p", "SystemCallFilter=mount"), WORDS("true"));
        KitOrder home = { .options = WORDS("--untrusted", "-C", "/"), .command = WORDS("true") };
        g_autoptr(KitRun) root = kit_run(&home);

        is(extra->errors->str,
           "cordon: -p: \"SystemCallFilter\" is what --untrusted sets already: give one of them; "
           "see cordon run --help\n",
           "-p cannot undo it");
        cmp_ok(extra->status, "==", 125, "and nothing runs");
        is(root->errors->str,
           "cordon: --untrusted: \"/\": not a workspace: --workspace (or -C) names another "
           "directory; see cordon run --help\n",
           "it needs a workspace");
}

/* As a person could paste it. */
static void test_dry_run(void) {
        static const char *const shown[] = { "'RestrictNamespaces=yes'", "'CapabilityBoundingSet='",
                                             "'NoNewPrivileges=yes'",
                                             "'SystemCallFilter=@basic-io " };
        g_autoptr(KitRun) run = run_there(WORDS("--dry-run"), WORDS("true"));

        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++)
                ok(strstr(run->output->str, shown[i]), "--dry-run shows %s", shown[i]);
}

/* Of the caller's own, which is shut to others. */
static void test_shut_workspace(void) {
        g_autofree char *shut = g_build_filename(workspace, "shut", NULL);
        KitOrder order = { .options = WORDS("--untrusted", "--workspace", shut, "-C", shut),
                           .command = WORDS("true") };
        bool is_another = is_system() || geteuid() == 0;

        if (mkdir(shut, 0700) < 0)
                BAIL_OUT("cannot make a directory");

        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", is_another ? 125 : 0, "a workspace that is shut to others");
        is(run->errors->str,
           is_another ? "cordon: the program cannot enter the working directory: Permission "
                        "denied; with --untrusted it is another user, for whom the directory is "
                        "not open: --uid names one for whom it is\n"
                      : "",
           "and what helps");
}

int main(void) {
        kit_init();
        victims = g_path_get_dirname(kit_victim());
        workspace = realpath(kit_directory(), NULL);
        if (chmod(workspace, 01777) < 0)
                BAIL_OUT("cannot open the workspace to others");

        test_identity();
        expect_residuals("nothing else asked", WORDS("--untrusted"));
        expect_residuals("the caller's network", WORDS("--untrusted", "--net", "host"));
        expect_residuals("the caller's files", WORDS("--untrusted", "--fs", "host", "-C", "/"));
        test_limits();
        test_world();
        for (size_t i = 0; i < (kit_is_brief() ? 2 : G_N_ELEMENTS(sights)); i++)
                test_sight(&sights[i]);
        if (!kit_is_brief()) {
                test_host_files();
                test_programs();
        }
        test_ends();
        test_stragglers();
        test_exposure();
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++)
                test_refusal(&refusals[i]);
        test_refused();
        test_dry_run();
        test_shut_workspace();
        leftover_check_guard("all runs are over");
        free(workspace);
        g_free(victims);
        kit_clear();
        done_testing();
}
