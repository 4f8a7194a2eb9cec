/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Isolation is shown twice: by what a program inside can and cannot do, and by the kernel from outside, in the
 * program's mount table and network namespace, while it waits. What cannot be had is refused, and nothing of it runs. */

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define SWEEP_USEC (10 * KIT_SEC)

/* Texts hold "@" for the directory that everything is in, and "#" for a port on which somebody listens. */
static char *arena;
static int listener = -1;
static unsigned port;

static char *fill_in(const char *text) {
        g_autofree char *number = g_strdup_printf("%u", port);
        g_auto(GStrv) parts = g_strsplit(text, "@", -1);
        g_autofree char *joined = g_strjoinv(arena, parts);
        g_auto(GStrv) rest = g_strsplit(joined, "#", -1);

        return g_strjoinv(number, rest);
}

static char **fill_in_all(const char *const *words) {
        char **filled = g_strdupv((char **)words);

        for (char **word = filled; *word; word++) {
                char *text = fill_in(*word);

                g_free(*word);
                *word = text;
        }
        return filled;
}

static void make(const char *text, bool is_directory) {
        g_autofree char *path = fill_in(text);

        if (is_directory ? mkdir(path, 0755) < 0 : !g_file_set_contents(path, "secret\n", -1, NULL))
                BAIL_OUT("cannot make %s: %s", path, strerror(errno));
}

static const char *const odd_names[] = {
        "sp ace", "col:on", "50%nŭ", "a;$HOME", "com,ma",
};

static void make_arena(void) {
        arena = realpath(kit_directory(), NULL);
        make("@/mark", false);
        make("@/data", true);
        make("@/data/open", true);
        make("@/secret", true);
        make("@/secret/key", false);
        make("@/secret/shown", true);
        make("@/file", false);
        make("@/scratch", true);
        for (size_t i = 0; i < G_N_ELEMENTS(odd_names); i++) {
                g_autofree char *path = g_strconcat("@/", odd_names[i], NULL);

                make(path, true);
        }
        listener = kit_listen(&port);
}

/* What it is like from inside */

typedef struct {
        const char *path, *flag, *type; /* NULL: not a mount of its own; NULL: any */
} Mount;

typedef struct {
        const char *name;
        const char *const *options;
        const char *script; /* for sh */
        const char *said;
        const Mount *mounts; /* as the kernel has them */
        bool has_own_network;
        bool needs_service;
        const char *const *keys; /* of the record, each with its property behind it */
} Row;

#define LOOK                                           \
        "test -e @/mark && echo mark || echo hidden\n" \
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/#' 2>/dev/null && echo reached || echo unreachable\n"
#define TRY(path) "(: >" path ") 2>/dev/null && echo wrote || echo refused\n"

/* clang-format off */
static const Row rows[] = {
        { "nothing asked",
          .options = WORDS("-C", "/"),
          .script = LOOK TRY("@/new"),
          .said = "mark\nreached\nwrote\n",
          .mounts = (const Mount[]){ { "/var/tmp", NULL, NULL }, { 0 } } },
        { "--private-tmp",
          .options = WORDS("--private-tmp", "-C", "/"),
          .script = LOOK TRY("/tmp/test-isolation") TRY("/var/tmp/test-isolation") "cd /var/tmp; ls -A",
          .said = "hidden\nreached\nwrote\nwrote\ntest-isolation\n",
          .mounts = (const Mount[]){ { "/tmp", "rw", NULL }, { "/var/tmp", "rw", NULL }, { 0 } },
          .keys = WORDS("private-tmp", "PrivateTmp") },
        { "--net none",
          .options = WORDS("--net", "none", "-C", "/"),
          .script = LOOK "cat /proc/net/route | wc -l; id -u",
          .said = "mark\nunreachable\n1\nUID\n",
          .has_own_network = true,
          .keys = WORDS("net", "PrivateNetwork") },
        { "both",
          .options = WORDS("--private-tmp", "--net=none", "--memory", "64M", "-C", "/"),
          .script = LOOK,
          .said = "hidden\nunreachable\n",
          .mounts = (const Mount[]){ { "/tmp", "rw", NULL }, { 0 } },
          .has_own_network = true,
          .keys = WORDS("private-tmp", "PrivateTmp", "net", "PrivateNetwork") },
        { "the host's, said again",
          .options = WORDS("--net", "none", "--fs", "strict", "--net", "host", "--fs", "host", "-C", "/"),
          .script = LOOK,
          .said = "mark\nreached\n" },
        { "exceptions",
          .options = WORDS("--ro", "@/data", "--rw", "@/data/open", "--hide", "@/secret",
                           "--ro", "@/secret/shown", "--hide", "@/file", "-C", "@/data"),
          .script = TRY("x") TRY("open/x") "ls -A @/secret; cat @/file; test -s @/file || echo empty\n"
                    TRY("@/secret/x") TRY("@/secret/shown/x") TRY("@/x"),
          .said = "refused\nwrote\nshown\nempty\nrefused\nrefused\nwrote\n",
          .mounts = (const Mount[]){ { "@/data", "ro", NULL }, { "@/data/open", "rw", NULL },
                                     { "@/secret", "ro", "tmpfs" }, { "@/secret/shown", "ro", NULL },
                                     { "@/file", "ro", NULL }, { 0 } },
          .keys = WORDS("ro", "BindReadOnlyPaths", "rw", "BindPaths", "hide", "TemporaryFileSystem") },
        { "--scratch",
          .options = WORDS("--scratch", "@/scratch:1M", "-C", "@/scratch"),
          .script = "ls -A; head -c 3M /dev/zero 2>/dev/null >x; stat -c %s x; (head -c 1 /dev/zero >>x) 2>&1 |"
                    " grep -o 'No space.*'",
          .said = "1048576\nNo space left on device\n",
          .mounts = (const Mount[]){ { "@/scratch", "rw", "tmpfs" }, { 0 } },
          .keys = WORDS("scratch", "TemporaryFileSystem") },
        { "exceptions in an own /tmp",
          .options = WORDS("--private-tmp", "--ro", "@/data", "--scratch", "/tmp/made/here:64K", "-C", "@/data"),
          .script = LOOK TRY("@/data/x") TRY("/tmp/made/here/x") TRY("/tmp/x"),
          .said = "hidden\nreached\nrefused\nwrote\nwrote\n",
          .keys = WORDS("private-tmp", "PrivateTmp", "ro", "BindReadOnlyPaths", "scratch", "TemporaryFileSystem") },
        { "--fs strict",
          .options = WORDS("--fs", "strict", "-C", "@/data/open"),
          .script = LOOK "pwd\n" TRY("y") TRY("/usr/x") TRY("/etc/x") TRY("/x") TRY("/var/x") TRY("/sys/x")
                    TRY("/proc/sys/kernel/hostname") TRY("/tmp/x") "ls -d /home /root /srv /mnt /opt 2>/dev/null;"
                    "find /run -type s -o -type p; ls -A /dev/shm",
          .said = "hidden\nreached\n@/data/open\nwrote\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\nwrote\n",
          .mounts = (const Mount[]){ { "/", "ro", "tmpfs" }, { "/usr", "ro", NULL }, { "/etc", "ro", NULL },
                                     { "@/data/open", "rw", NULL }, { "/tmp", "rw", NULL },
                                     { "/sys", "ro", NULL }, { "/dev/shm", "rw", "tmpfs" }, { 0 } },
          .keys = WORDS("fs", "TemporaryFileSystem") },
        { "--fs strict with all else",
          .options = WORDS("--fs", "strict", "--workspace", "@/data/open", "--net", "none", "--private-tmp",
                           "--ro", "@/secret/shown", "--scratch", "@/scratch:64K", "--hide", "/etc/passwd",
                           "-C", "@/data/open"),
          .script = LOOK TRY("z") TRY("@/secret/shown/x") TRY("@/scratch/x") "ls @/secret; cat /etc/passwd",
          .said = "hidden\nunreachable\nwrote\nrefused\nwrote\nshown\n",
          .mounts = (const Mount[]){ { "/", "ro", "tmpfs" }, { "@/scratch", "rw", "tmpfs" }, { 0 } },
          .has_own_network = true,
          .keys = WORDS("fs", "TemporaryFileSystem", "net", "PrivateNetwork", "private-tmp", "PrivateTmp",
                        "ro", "BindReadOnlyPaths", "scratch", "TemporaryFileSystem", "hide", "TemporaryFileSystem") },
        { "with -p of the same",
          .options = WORDS("--scratch", "@/scratch:64K", "-p", "TemporaryFileSystem=/var/tmp:ro", "-C", "/"),
          .script = TRY("@/scratch/x") TRY("/var/tmp/x"),
          .said = "wrote\nrefused\n",
          .mounts = (const Mount[]){ { "@/scratch", "rw", "tmpfs" }, { "/var/tmp", "ro", "tmpfs" }, { 0 } },
          .keys = WORDS("scratch", "TemporaryFileSystem"),
          .needs_service = true },
};
/* clang-format on */

/* "ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE OPTIONS", with octal escapes in the point; the last one wins. */
static char *mount_words(const char *table, const char *point) {
        g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
        char *found = NULL;

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) words = g_strsplit(*line, " ", -1);
                const char *behind = strstr(*line, " - ");

                if (!behind || g_strv_length(words) < 6 || strcmp(words[4], point) != 0)
                        continue;
                g_free(found);
                found = g_strdup_printf("%s %s", g_str_has_prefix(words[5], "ro") ? "ro" : "rw",
                                        behind + 3);
        }
        return found;
}

static void check_mounts(const Row *row, int64_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%" G_GINT64_FORMAT "/mountinfo", pid);
        g_autofree char *table = NULL;

        if (!g_file_get_contents(path, &table, NULL, NULL))
                table = g_strdup("");
        for (const Mount *mount = row->mounts; mount && mount->path; mount++) {
                g_autofree char *point = fill_in(mount->path);
                g_autofree char *words = mount_words(table, point);
                g_autofree char *wanted = g_strdup_printf("%s %s*", mount->flag ?: "",
                                                          mount->type ?: "");

                if (!mount->flag)
                        continue;
                if (!ok(words && g_pattern_match_simple(wanted, words), "%s: %s is %s, outside",
                        row->name, mount->path, wanted))
                        diag("it is %s", words ?: "no mount");
        }
}

static void check_network(const Row *row, int64_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%" G_GINT64_FORMAT "/ns/net", pid);
        struct stat ours, its;
        bool is_seen = stat("/proc/self/ns/net", &ours) == 0 && stat(path, &its) == 0;

        ok(is_seen && (ours.st_ino == its.st_ino) == !row->has_own_network,
           "%s: the network is %s, outside", row->name, row->has_own_network ? "another" : "ours");
}

/* A key of the record, and the property behind it. */
static const char *carrier_of(const char *const key[2]) {
        if (!kit_is_scope())
                return key[1];
        return g_str_equal(key[0], "net") ? "network namespace" : "mount namespace";
}

static void check_record(const Row *row, const KitRun *run) {
        for (const char *const *key = row->keys; key && *key; key += 2) {
                g_autofree char *enforced = g_strdup_printf("isolation.%s.enforced", key[0]);
                g_autofree char *by = g_strdup_printf("isolation.%s.by", key[0]);

                ok(record_is_true(run, enforced), "%s: the record has %s as enforced", row->name,
                   key[0]);
                is(record_text(run, by), carrier_of(key), "%s: what %s is by", row->name, key[0]);
        }
        ok(!record_at(run, "isolation") == !row->keys, "%s: the record has isolation if asked",
           row->name);
        ok(!record_at(run, "not_passed_on"), "%s: all of the caller is passed on", row->name);
}

/* Those of a finished run; the manager removes them in the background. */
static bool has_no_directories(const void *data) {
        static const char *const places[] = { "/tmp", "/var/tmp" };
        const KitRun *run = data;
        g_autofree char *unit = leftover_program_unit(run->id);
        bool found = false;

        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
                GDir *entries = g_dir_open(places[i], 0, NULL);
                const char *name;

                while (entries && (name = g_dir_read_name(entries)))
                        found = found || strstr(name, unit);
                if (entries)
                        g_dir_close(entries);
        }
        return !found;
}

static void test_row(const Row *row) {
        g_autofree char *script = g_strconcat(row->script,
                                              "\necho pid $$; echo waiting; read end\n", NULL);
        g_autofree char *filled = fill_in(script), *said = fill_in(row->said);
        g_auto(GStrv) options = fill_in_all(row->options);
        g_autofree char *uid = g_strdup_printf("%u\n", (unsigned)geteuid());
        g_auto(GStrv) parts = g_strsplit(said, "UID\n", -1);
        g_autofree char *wanted = g_strjoinv(uid, parts), *line = NULL;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");

        KitOrder order = { .options = (const char *const *)options,
                           .command = WORDS("sh", "-c", filled),
                           .input_fd = ends[0] };
        g_autoptr(KitRun) run = kit_start(&order);
        const char *behind;
        int64_t pid;

        (void)close(ends[0]);
        (void)kit_wait_line(run, "waiting");
        pid = kit_said_number(run, "pid");
        check_mounts(row, pid);
        check_network(row, pid);
        (void)close(ends[1]);
        kit_finish(run);

        behind = strstr(run->output->str, "pid ");
        line = behind ? g_strndup(run->output->str, (gsize)(behind - run->output->str))
                      : g_strdup(run->output->str);
        if (!is(line, wanted, "%s: inside", row->name))
                diag("%s%s", run->errors->str, run->record_text->str);
        is(run->errors->str, "", "%s: nothing to say", row->name);
        check_record(row, run);
        leftover_check(run, row->name);
        ok(kit_wait_until(has_no_directories, run, kit_patience(SWEEP_USEC)),
           "%s: no temporary directories are left", row->name);
}

/* Names that need care on the way to the manager, and from there to what it starts. */
static void test_odd_name(const char *name) {
        g_autofree char *path = g_build_filename(arena, name, NULL);
        g_autofree char *scratch = g_strconcat(path, ":64K", NULL);
        const char *const *options[] = { WORDS("--ro", path, "-C", path),
                                         WORDS("--rw", path, "-C", path),
                                         WORDS("--hide", path, "-C", path),
                                         WORDS("--scratch", scratch, "-C", path) };
        static const char *const said[] = { "refused\n", "wrote\n", "refused\n", "wrote\n" };

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
                bool is_tmpfs = i >= 2;
                KitOrder order = { .options = options[i], .command = WORDS("sh", "-c", TRY("x")) };
                g_autoptr(KitRun) run = kit_run(&order);

                if (!is(run->output->str, is_tmpfs && strchr(name, ':') ? "" : said[i], "%s: %s",
                        name, options[i][0]))
                        diag("%s%s", run->errors->str, run->record_text->str);
        }
}

/* What cannot be */

typedef struct {
        const char *name;
        const char *const *options;
        const char *error, *message;
} Refusal;

/* clang-format off */
static const Refusal refusals[] = {
        { "a working directory that is not there inside", WORDS("--private-tmp", "-C", "@"), "directory",
          "--private-tmp: the working directory \"@\" is not there inside; --rw shows it, -C names another" },
        { "one outside the workspace", WORDS("--fs=strict", "--workspace", "@/data", "-C", "@/secret"), "directory",
          "--fs: the working directory \"@/secret\" is not there inside; --rw shows it, -C names another" },
        { "-p of the same", WORDS("--private-tmp", "-p", "PrivateTmp=no", "-C", "/"), "bad-value",
          "-p: \"PrivateTmp\" is what --private-tmp sets already: give one of them; see cordon run --help" },
        { "a path that is not there", WORDS("--ro", "@/none"), "bad-value",
          "--ro: \"@/none\": No such file or directory; see cordon run --help" },
        { "a scratch nowhere", WORDS("--scratch", "@/none:1M"), "bad-value",
          "--scratch: \"@/none\": No such file or directory; see cordon run --help" },
        { "a path twice", WORDS("--ro", "@/data", "--hide", "@/data"), "bad-value",
          "--hide: \"@/data\": given twice: only one thing can be at a path; see cordon run --help" },
        { "a workspace of nothing", WORDS("--workspace", "@/data"), "bad-value",
          "--workspace: \"@/data\": there is none without --fs strict or --disk; see cordon run --help" },
        { "a workspace that is the system's", WORDS("--fs", "strict", "-C", "/"), "bad-value",
          "--fs strict: \"/\": not a workspace: --workspace (or -C) names another directory; see cordon run --help" },
        { "a network of another kind", WORDS("--net", "some"), "bad-value",
          "--net: \"some\" is not accepted; accepted: host, none, allow=LIST; see cordon run --help" },
        { "a line break in a path", WORDS("--hide", "@/a\nb"), "bad-value",
          "--hide: \"@/a\\x0ab\" is not accepted; accepted: a path in UTF-8 without control characters, quotes, backslashes and colons; see cordon run --help" },
};
/* clang-format on */

static void test_refusal(const Refusal *refusal) {
        g_auto(GStrv) options = fill_in_all(refusal->options);
        g_autofree char *message = fill_in(refusal->message);
        g_autofree char *words = g_strdup_printf("cordon: %s\n", message);
        KitOrder order = { .options = (const char *const *)options,
                           .command = VICTIM("say", "it ran") };
        g_autoptr(KitRun) run = kit_run(&order);
        Expected expected = { .outcome = "refused",
                              .status = 125,
                              .exit_code = ABSENT,
                              .error = refusal->error,
                              .message = "*",
                              .words = "*" };

        expect(run, &expected, refusal->name);
        is(run->errors->str, words, "%s: the words", refusal->name);
}

static void test_job(void) {
        g_autofree char *path = g_build_filename(arena, "job", NULL);
        g_autofree char *text = fill_in(
                "{\"command\":[\"sh\",\"-c\",\"ls -A @/secret; test -e @/mark || echo hidden; echo $((1-2))\"],"
                "\"private-tmp\":true,\"net\":\"none\",\"fs\":\"strict\",\"workspace\":\"@/data\","
                "\"directory\":\"@/data\",\"ro\":[\"@/secret/shown\"],\"scratch\":[\"@/scratch:64K\"],"
                "\"hide\":\"/etc/passwd\"}");
        KitOrder order = { .options = WORDS("--job", path) };

        if (!g_file_set_contents(path, text, -1, NULL))
                BAIL_OUT("cannot write %s", path);

        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, "shown\nhidden\n-1\n", "a job has the same options");
        is(record_text(run, "isolation.net.requested"), "none", "and the record has them");
        ok(g_str_has_suffix(record_text(run, "isolation.fs.workspace"), "/data"),
           "and the workspace");
        leftover_check(run, "a job");
}

/* Where user namespaces are forbidden, a user manager can do nothing of it. Only root can forbid them. */

#define KNOB "/proc/sys/user/max_user_namespaces"

static void with_runuser(const struct passwd *user, const char *const *options, const char *name,
                         int status, const char *pattern) {
        g_autofree char *runtime = g_strdup_printf("XDG_RUNTIME_DIR=/run/user/%u", user->pw_uid);
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        const char *const before[] = { "-u",         user->pw_name, "--",     "env", runtime,
                                       kit_cordon(), "run",         "--user", "-C",  "/" };
        const char *const after[] = { "--", "sh", "-c", "echo it ran" };

        for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
                g_ptr_array_add(words, (char *)before[i]);
        for (; *options; options++)
                g_ptr_array_add(words, (char *)*options);
        for (size_t i = 0; i < G_N_ELEMENTS(after); i++)
                g_ptr_array_add(words, (char *)after[i]);
        g_ptr_array_add(words, NULL);

        KitOrder order = { .program = "/usr/sbin/runuser",
                           .command = (const char *const *)words->pdata };
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", status, "%s: the status", name);
        if (!ok(g_pattern_match_simple(pattern, run->errors->str), "%s: the words", name))
                diag("%s", run->errors->str);
        is(run->output->str, status == 0 ? "it ran\n" : "", "%s: %s", name,
           status == 0 ? "it runs" : "nothing of it runs");
}

static bool write_knob(const char *text) {
        int fd = open(KNOB, O_WRONLY | O_CLOEXEC);
        bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

        if (fd >= 0)
                (void)close(fd);
        return is_written;
}

static void test_no_user_namespaces(void) {
        const struct passwd *user = getpwnam("tester");
        g_autofree char *before = NULL;

        if (!g_str_equal(kit_manager(), "system") || !user ||
            !g_file_get_contents(KNOB, &before, NULL, NULL)) {
                skip(1, 1, "n/a: it takes root, and a user manager of somebody else's");
                end_skip;
                return;
        }

        with_runuser(user, WORDS("--private-tmp", "--net", "none"), "user namespaces allowed", 0,
                     "");
        ok(write_knob("0"), "user namespaces are forbidden");
        with_runuser(user, WORDS("--private-tmp"), "forbidden", 125,
                     "cordon: --private-tmp cannot be enforced here: *user namespaces are "
                     "forbidden by the sysctl user.max_user_namespaces=0*");
        with_runuser(user, WORDS("--net", "none"), "forbidden, a network", 125,
                     "cordon: --net cannot be enforced here: *user.max_user_namespaces=0*");
        with_runuser(user, WORDS("--net", "none", "--best-effort"), "forbidden, at best", 0,
                     "cordon: not enforced: --net\n");
        ok(write_knob(before), "and allowed again");
}

int main(void) {
        kit_init();
        make_arena();
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                if (!rows[i].needs_service || !kit_is_scope())
                        test_row(&rows[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(odd_names); i++)
                test_odd_name(odd_names[i]);
        for (size_t i = 0; i < (kit_is_brief() ? 3 : G_N_ELEMENTS(refusals)); i++)
                test_refusal(&refusals[i]);
        test_job();
        test_no_user_namespaces();
        leftover_check_guard("all runs are over");
        (void)close(listener);
        free(arena);
        kit_clear();
        done_testing();
}
