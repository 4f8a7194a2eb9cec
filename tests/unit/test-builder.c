/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Isolation that a process makes itself: as root, as nobody, and as a root that may not mount; what a script can do in it,
 * what is seen of it from outside, and that nothing of it is left. The mounts of this test are a peer group, so that one
 * that got out would be seen here. */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "enclosed.h"
#include "launcher/gate/landlock.h"
#include "launcher/kernel/user-namespace.h"

#define NOBODY 65534

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* As long as a name can be, so that the path is longer than that. */
#define LONG_NAME                                                                               \
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-" \
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-" \
        "long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long"
#define LONG_PATH LONG_NAME "/" LONG_NAME

static const char *const names[_ENCLOSED_MAX] = { "root", "nobody", "bare root" };

static void need(bool is_well, const char *what) {
        if (!is_well)
                BAIL_OUT("%s: %s", what, strerror(errno));
}

/* clang-format off */
static const struct {
        const char *name;
        const char *const *words;
        const char *property;
        const char *script, *output;
} kinds[] = {
        { "nothing is asked", WORDS("net", "host"), NULL, "w \"$1\"/ws/mine; w /tmp/\n", "+-" },
        { "private tmp", WORDS("private-tmp", ""), NULL,
          "ls -A /tmp /var/tmp; w /tmp/x; w /var/tmp/y; can test -e \"$1\"; ls -A /tmp",
          "/tmp:\n\n/var/tmp:\n++-x\n" },
        { "no network", WORDS("net", "none"), NULL,
          "grep -c : /proc/net/dev; can grep -q 127.0.0.1 /proc/net/fib_trie; w \"$1\"/ws/mine",
          "1\n++" },
        { "strict", WORDS("fs", "strict", "workspace", "@/ws"), NULL,
          "cd \"$1\"; ls; can cat ws/group; w ws/mine; w ws/new; can rm ws/new; w x; can cat /etc/passwd;"
          "w /x; w /usr/x; w /etc/x; w /home; can mkdir /foo; w /tmp/x; w /var/tmp/x; w /sys/x; ls -A /run",
          "ws\n++++++-----++-" },
        { "its devices", WORDS("fs", "strict", "workspace", "@/ws"), NULL,
          "w /dev/null; w /dev/x; w /dev/shm/x; can head -c 1 /dev/urandom; can test -c /dev/tty;"
          "can sh -c 'exec 3<>/dev/ptmx'; can test -e /dev/fd/1; can test -e /dev/kmsg; can test -e /dev/mem;"
          "can sh -c 'grep -q \" /proc/sys ro[ ,]\" /proc/self/mountinfo'",
          "+-+++++--+" },
        { "read-only, with what is mounted below", WORDS("ro", "@/ro"), NULL,
          "cd \"$1\"; w ro/file; w ro/new; w ro/sub/new; can cat ro/file; can test -d ro/sub; w ws/mine", "---+++" },
        { "writable below read-only", WORDS("ro", "@/ro", "rw", "@/ro/deep"), NULL,
          "cd \"$1\"; w ro/file; w ro/sub/x; w ro/deep/x; can rm ro/deep/x", "--++" },
        { "exceptions below what is hidden", WORDS("rw", "@/hid/a/b", "hide", "@/hid", "ro", "@/hid/c"), NULL,
          "cd \"$1\"/hid; ls; ls a; w a/b/file; w c; can cat c; w x; w a/x; can test -e other", "a\nc\nb\n+-+---" },
        { "scratch", WORDS("scratch", "@/scr:64K"), NULL,
          "cd \"$1\"/scr; ls; w x; can dd if=/dev/zero of=y bs=1k count=100; can dd if=/dev/zero of=x bs=1k count=10", "+-" "-" },
        { "scratch of no size", WORDS("scratch", "@/scr"), NULL, "cd \"$1\"/scr; w x; w y; ls", "++x\ny\n" },
        { "a file hidden", WORDS("hide", "@/ws/secret"), NULL,
          "cd \"$1\"/ws; wc -c <secret; can grep -q . secret; w mine", "0\n-+" },
        { "a file read-only", WORDS("ro", "@/file"), NULL, "cd \"$1\"; w file; can grep -q . file; can mv file x", "-+-" },
        { "strange names", WORDS("ro", "@/two words: x", "ro", "@/" LONG_PATH), NULL,
          "cd \"$1\"; w 'two words: x/file'; w " LONG_PATH "/file; can cat 'two words: x/file' " LONG_PATH "/file", "--+" },
        { "a workspace below its own tmp", WORDS("private-tmp", "", "rw", "@/ws"), NULL,
          "ls /tmp | wc -l; ls \"$1\"; w \"$1\"/ws/mine; w /tmp/x", "1\nws\n++" },
        { "all at once", WORDS("fs", "strict", "workspace", "@/ws", "net", "none", "private-tmp", "", "ro", "@/ro", "rw",
          "@/ro/deep", "scratch", "/scratch/s:64K", "hide", "/usr/share", "rw", "@/hid/c"), NULL,
          "cd \"$1\"; ls; ls -A /usr/share; w ro/file; w ro/sub/x; w ro/deep/x; can rm ro/deep/x; w /scratch/s/x;"
          "w /scratch/x; w hid/c; w hid/x; grep -c : /proc/net/dev", "hid\nro\nws\n--+++-++1\n" },
        { "a property besides", WORDS("private-tmp", ""), "ReadOnlyPaths=-@/ws",
          "w /tmp/x; can test -e \"$1\"", "+-" },
        { "read-only everywhere", WORDS("rw", "@/ws"), "ReadOnlyPaths=/",
          "cd \"$1\"; w ro/file; w ro/sub/x; w file; w ws/mine", "---+" },
};

static const struct {
        const char *const *words;
        const char *property;
        const char *wrong;
} failures[] = {
        { WORDS("ro", "@/missing"), NULL, "--ro @/missing cannot be enforced here: mounting \"@/missing\" read-only at \"@/missing\": No such file or directory" },
        { WORDS("scratch", "@/missing"), NULL, "--scratch @/missing cannot be enforced here: mounting an empty file system at \"@/missing\": No such file or directory" },
        { WORDS("hide", "@/scr"), "TemporaryFileSystem=@/file", "--hide cannot be enforced here: mounting an empty file system at \"@/file\": Not a directory" },
        { WORDS("net", "none"), "TemporaryFileSystem=@/scr:nonsense=1", "--net cannot be enforced here: mounting an empty file system at \"@/scr\": Invalid argument" },
        { WORDS("net", "none"), "BindPaths=@/file:@/ws", "--net cannot be enforced here: mounting \"@/file\" at \"@/ws\": Not a directory" },
        { WORDS("net", "none"), "ReadOnlyPaths=@/missing", "--net cannot be enforced here: making read-only \"@/missing\": No such file or directory" },
        { WORDS("net", "none"), "ProtectHostname=yes", "ProtectHostname= needs a service: in a scope there is only what a process can do by itself" },
};

/* Where no namespaces are to be had. */
static const struct {
        const char *name;
        const char *const *words;
        unsigned lacks;
        GateEnclosure enclosure;
        const char *wrong;
        const char *script, *output;
} closed[] = {
        { "strict", WORDS("fs", "strict", "workspace", "@/ws"), 0, GATE_ENCLOSURE_LANDLOCK, "",
          "cd \"$1\"/ws; w mine; w new; can rm new; can cat /etc/passwd; can ls /usr; can ls /; can ls ..; can cat ../file;"
          "w ../file; w /tmp/x; w /usr/x; w /dev/null; can cat /proc/self/status; can head -c 1 /dev/urandom; can sh -c ': >mine';"
          "can sh -c ': >../file'", "+++++------++++-"},
        { "with exceptions", WORDS("fs", "strict", "workspace", "@/ws", "ro", "@/ro", "rw", "@/ro/deep", "ro", "@/file"), 0,
          GATE_ENCLOSURE_LANDLOCK, "",
          "cd \"$1\"/ws; can cat ../file; w ../file; w ../ro/file; w ../ro/deep/x; can rm ../ro/deep/x; w ../ro/sub/x; can ls ../ro; can ls ../hid", "+--++-+-" },
        { "nothing but writable", WORDS("rw", "@/ws"), 0, GATE_ENCLOSURE_NONE, "", "w \"$1\"/ws/mine", "+" },
        { "a permit that is not there", WORDS("fs", "strict", "workspace", "@/ws", "ro", "@/missing"), 0, GATE_ENCLOSURE_NONE,
          "--ro @/missing cannot be enforced here: permitting \"@/missing\": No such file or directory", "", "" },
        { "what it cannot", WORDS("hide", "@/scr"), 0, GATE_ENCLOSURE_NONE,
          "--hide cannot be enforced here: making namespaces of its own: No space left on device; --hide @/scr: Landlock hides nothing", "", "" },
        { "no Landlock", WORDS("fs", "strict", "workspace", "@/ws"), ENCLOSED_WITHOUT_LANDLOCK, GATE_ENCLOSURE_NONE,
          "--fs cannot be enforced here: making namespaces of its own: No space left on device; nor is there Landlock: Operation not supported", "", "" },
};
/* clang-format on */

static char *put_base(const char *text, const char *base) {
        g_auto(GStrv) parts = g_strsplit(text, "@", -1);

        return g_strjoinv(base, parts);
}

/* Tried with the privileges that anybody has in a namespace of users of his own; what can be done in there at all is tried
 * first. */
#define UNDOING                                                                                \
        "n() { can unshare -Urm sh -c \"$@\"; }; cd \"$1\"; n 'mount -t tmpfs x ws'; "         \
        "n 'umount /tmp'; n 'umount -l hid'; n 'umount ro'; n 'mount -o remount,bind,rw ro'; " \
        "n 'mount -o remount,rw ro'; n 'mount --bind ro ws && echo x >ws/file'; "              \
        "can nsenter -t 1 -m true; can nsenter -t $PPID -U -m true; can test -e /proc/$PPID/root/tmp"

static void test_undoing(EnclosedWho who, const char *base) {
        g_auto(EnclosedResult)
                result = enclosed_run(&(EnclosedCase){ .who = who,
                                                       .words = WORDS("private-tmp", "", "rw",
                                                                      "@/ws", "ro", "@/ro", "hide",
                                                                      "@/hid"),
                                                       .script = UNDOING },
                                      base);

        is(result.wrong, "", "%s: what is to be undone is in force", names[who]);
        is(result.output, "+---------", "%s: it cannot be undone", names[who]);
}

/* Where a namespace can be made in which nothing can be done. */
static void test_trial(const char *base) {
        g_autofree char *wrong = put_base("--hide cannot be enforced here: making namespaces of "
                                          "its own: Operation not permitted; --hide @/scr: "
                                          "Landlock hides nothing",
                                          base);
        EnclosedCase this_case = { .who = ENCLOSED_BARE_ROOT,
                                   .words = WORDS("fs", "strict", "workspace", "@/ws"),
                                   .script = "w \"$1\"/ws/mine; w \"$1\"/file",
                                   .lacks = ENCLOSED_WITHOUT_ROOT_MAP };
        g_auto(EnclosedResult) permitted = enclosed_run(&this_case, base), refused = { 0 };

        is(permitted.wrong, "", "a root that cannot be mapped: is in force");
        is(permitted.output, "+-", "a root that cannot be mapped: as it is inside");
        cmp_ok(permitted.enclosure, "==", GATE_ENCLOSURE_LANDLOCK,
               "a root that cannot be mapped: by Landlock");
        this_case.words = WORDS("hide", "@/scr");
        refused = enclosed_run(&this_case, base);
        is(refused.wrong, wrong, "a root that cannot be mapped: what Landlock cannot");
}

/* A link on the way to a target leads where it leads inside, never out. */
static void test_links(EnclosedWho who, unsigned lacks, const char *base) {
        const char *wrong = lacks ? "--net cannot be enforced here: mounting an empty file system at "
                                    "\"@/link\": Too many levels of symbolic links"
                                  : "";
        g_autofree char *expected = put_base(wrong, base);
        g_auto(EnclosedResult) result = enclosed_run(
                &(EnclosedCase){ .who = who,
                                 .words = WORDS("net", "none"),
                                 .property = "TemporaryFileSystem=@/link",
                                 .script = "w \"$1\"/scr/x; w \"$1\"/link/y; ls \"$1\"/scr",
                                 .lacks = lacks },
                base);

        is(result.wrong, expected, "%s: a link to a target", names[who]);
        is(result.output, lacks ? "" : "++x\ny\n", "%s: it is there", names[who]);
}

/* The ground */

static void make_directory(const char *base, const char *name) {
        g_autofree char *path = g_build_filename(base, name, NULL);

        need(g_mkdir_with_parents(path, 0755) == 0, path);
}

static void make_file(const char *base, const char *name) {
        g_autofree char *path = g_build_filename(base, name, NULL);

        need(g_file_set_contents(path, "text\n", -1, NULL), path);
}

static char *make_ground(void) {
        static const char *const directories[] = { "ws",      "ro",      "ro/deep",     "ro/sub",
                                                   "hid",     "hid/a",   "hid/a/b",     "scr",
                                                   LONG_NAME, LONG_PATH, "two words: x" };
        static const char *const files[] = {
                "ws/mine",      "ws/secret", "ws/group", "ro/file",           "hid/other",
                "hid/a/b/file", "hid/c",     "file",     "two words: x/file", LONG_PATH "/file",
        };
        char *base = g_dir_make_tmp("cordon-builder-XXXXXX", NULL);
        g_autofree char *submount = g_build_filename(base, "ro/sub", NULL);
        g_autofree char *scratch = g_build_filename(base, "scr", NULL);
        g_autofree char *link = g_build_filename(base, "link", NULL);

        need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                     mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) == 0,
             "a peer group");
        need(chmod(base, 0755) == 0, base);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                make_directory(base, directories[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                make_file(base, files[i]);
        need(mount("tmpfs", submount, "tmpfs", 0, "mode=1777") == 0, submount);
        need(symlink(scratch, link) == 0, link);
        return base;
}

static void remove_ground(const char *base) {
        g_autofree char *submount = g_build_filename(base, "ro/sub", NULL);
        const char *argv[] = { "rm", "-rf", base, NULL };

        (void)umount2(submount, MNT_DETACH);
        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
}

/* Every mount, and every name below the base. */
static char *traces_of(const char *base) {
        const char *argv[] = { "find", base, NULL };
        g_autofree char *mounts = NULL, *tree = NULL;

        need(g_file_get_contents("/proc/self/mountinfo", &mounts, NULL, NULL), "mountinfo");
        need(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &tree, NULL,
                          NULL, NULL),
             "find");
        return g_strconcat(mounts, tree, NULL);
}

/* The tests */

static void test_kinds(EnclosedWho who, unsigned lacks, const char *base) {
        const char *how = lacks ? ", on an older kernel" : "";

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_auto(EnclosedResult)
                        result = enclosed_run(&(EnclosedCase){ .who = who,
                                                               .words = kinds[i].words,
                                                               .property = kinds[i].property,
                                                               .script = kinds[i].script,
                                                               .lacks = lacks },
                                              base);

                is(result.wrong, "", "%s%s: %s: is in force", names[who], how, kinds[i].name);
                is(result.output, kinds[i].output, "%s%s: %s: as it is inside", names[who], how,
                   kinds[i].name);
                cmp_ok(result.enclosure,
                       "==", i == 0 ? GATE_ENCLOSURE_NONE : GATE_ENCLOSURE_NAMESPACES,
                       "%s%s: %s: by namespaces", names[who], how, kinds[i].name);
        }
}

static void test_failures(EnclosedWho who, const char *base) {
        for (size_t i = 0; i < G_N_ELEMENTS(failures); i++) {
                g_autofree char *wrong = put_base(failures[i].wrong, base);
                g_auto(EnclosedResult)
                        result = enclosed_run(&(EnclosedCase){ .who = who,
                                                               .words = failures[i].words,
                                                               .property = failures[i].property,
                                                               .script = "echo ran" },
                                              base);

                is(result.wrong, wrong, "%s: the step that failed is told", names[who]);
                is(result.output, "", "%s: nothing ran", names[who]);
        }
}

static void test_closed(EnclosedWho who, const char *base) {
        for (size_t i = 0; i < G_N_ELEMENTS(closed); i++) {
                g_autofree char *wrong = put_base(closed[i].wrong, base);
                g_auto(EnclosedResult) result = enclosed_run(
                        &(EnclosedCase){ .who = who,
                                         .words = closed[i].words,
                                         .script = closed[i].script,
                                         .lacks = closed[i].lacks | ENCLOSED_WITHOUT_NAMESPACES },
                        base);

                is(result.wrong, wrong, "%s, no namespaces: %s", names[who], closed[i].name);
                is(result.output, closed[i].output, "%s, no namespaces: %s: as it is inside",
                   names[who], closed[i].name);
                cmp_ok(result.enclosure, "==", closed[i].enclosure,
                       "%s, no namespaces: %s: what holds", names[who], closed[i].name);
        }
}

/* As a container forbids it that lets anybody make namespaces. */
static void test_mountless(EnclosedWho who, const char *base) {
        EnclosedCase this_case = { .who = who,
                                   .words = closed[0].words,
                                   .script = closed[0].script,
                                   .lacks = ENCLOSED_WITHOUT_MOUNTS };
        const char *step = who == ENCLOSED_BARE_ROOT ? "making namespaces of its own"
                                                     : "keeping its mounts from the machine";
        g_autofree char *wrong = g_strdup_printf("--hide cannot be enforced here: %s: Permission "
                                                 "denied; --hide %s/scr: Landlock hides nothing",
                                                 step, base);
        g_auto(EnclosedResult) permitted = enclosed_run(&this_case, base), refused = { 0 };

        is(permitted.wrong, "", "%s, no mounts: is in force", names[who]);
        is(permitted.output, closed[0].output, "%s, no mounts: as it is inside", names[who]);
        cmp_ok(permitted.enclosure, "==", GATE_ENCLOSURE_LANDLOCK, "%s, no mounts: by Landlock",
               names[who]);
        this_case.words = WORDS("hide", "@/scr");
        refused = enclosed_run(&this_case, base);
        is(refused.wrong, wrong, "%s, no mounts: what Landlock cannot", names[who]);
}

static void test_rights(void) {
        static const struct {
                int version;
                uint64_t rights;
        } versions[] = { { -1, 0 },     { 0, 0 },      { 1, 0 },      { 2, 0 },
                         { 3, 0x7fff }, { 4, 0x7fff }, { 5, 0xffff }, { 9, 0xffff } };

        for (size_t i = 0; i < G_N_ELEMENTS(versions); i++)
                cmp_ok(landlock_rights(versions[i].version), "==", versions[i].rights,
                       "what version %d of Landlock can forbid", versions[i].version);
}

/* Without capabilities there is only what is one's own. */
static void give(const char *base, EnclosedWho who) {
        const char *argv[] = { "chown", "-R", who == ENCLOSED_NOBODY ? "65534:65534" : "0:0", base,
                               NULL };

        g_autofree char *group_file = g_build_filename(base, "ws/group", NULL);

        need(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                          NULL, NULL),
             "chown");
        need(chown(group_file, 0, ENCLOSED_GROUP) == 0 && chmod(group_file, 0640) == 0, group_file);
}

static void test_who(EnclosedWho who, const char *base) {
        g_autofree char *before = traces_of(base), *after = NULL;

        give(base, who);

        test_kinds(who, 0, base);
        test_kinds(who, ENCLOSED_WITHOUT_MOUNT_CALLS, base);
        test_failures(who, base);
        test_links(who, 0, base);
        test_links(who, ENCLOSED_WITHOUT_MOUNT_CALLS, base);
        test_closed(who, base);
        test_mountless(who, base);
        if (who == ENCLOSED_NOBODY) /* root without capabilities cannot even make one */
                test_undoing(who, base);
        after = traces_of(base);
        is(after, before, "%s: no mount and no directory is left", names[who]);
}

static bool can_be_had(void) {
        int status = 1;
        pid_t child = fork();

        if (child == 0)
                _exit(setresuid(NOBODY, NOBODY, NOBODY) == 0 && user_namespace_can_be_had() ? 0
                                                                                            : 1);
        return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
        if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
                plan(SKIP_ALL, "n/a: only root can be root and nobody, and mount");
        plan(NO_PLAN);
        test_rights();

        g_autofree char *base = make_ground();

        test_who(ENCLOSED_ROOT, base);
        skip(!can_be_had(), 1, "user namespaces are forbidden here");
        for (int who = ENCLOSED_ROOT + 1; who < _ENCLOSED_MAX; who++)
                test_who((EnclosedWho)who, base);
        test_trial(base);
        end_skip;
        remove_ground(base);
        done_testing();
}
