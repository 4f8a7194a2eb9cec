/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Growth of the workspace: whichever way a program takes space, it is ended for it, and for nothing else; what it has
 * written stays. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define MIB        (1 << 20)
#define ENDED_USEC (15 * KIT_SEC) /* a program that would go on for minutes */

#define DISK_MESSAGE "disk limit hit: killed (SIGKILL) [limits: disk=1048576]"
#define DISK_WORDS   "cordon: disk limit hit: killed (SIGKILL) after *s, grew by * [disk=1M]\n"

/* The workspace of the case at hand. */
static char *workspace;

static void begin(const char *prepare) {
        const char *argv[] = { "sh", "-c", prepare, NULL };
        int status = 0;

        workspace = g_build_filename(kit_directory(), "workspace", NULL);
        if (mkdir(workspace, 0755) < 0)
                BAIL_OUT("cannot make %s: %s", workspace, strerror(errno));
        if (prepare && (!g_spawn_sync(workspace, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
                                      NULL, NULL, NULL, &status, NULL) ||
                        status != 0))
                BAIL_OUT("cannot prepare a workspace: %s", prepare);
}

static void end(void) {
        const char *argv[] = { "rm", "-rf", workspace, NULL };

        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
        g_clear_pointer(&workspace, g_free);
}

/* What outgrows a megabyte, and then stays for minutes. */

static const struct {
        const char *name, *prepare, *script;
        const char *option; /* one more */
        bool is_extra;
} growing[] = {
        { "a file", NULL, "head -c 8M /dev/zero >file; sleep 300", NULL, false },
        { "many small files", NULL,
          "i=0; while [ $i -lt 600 ]; do echo $i >$i; i=$((i+1)); done; sleep 300", NULL, false },
        { "a little at a time", NULL, "while :; do head -c 64K /dev/zero >>file; sleep 0.01; done",
          NULL, true },
        { "a file that is removed and open", NULL,
          "exec 3>file; rm file; head -c 8M /dev/zero >&3; sleep 300", NULL, false },
        { "far below", NULL, "mkdir -p a/b/c/d/e && head -c 8M /dev/zero >a/b/c/d/e/f; sleep 300",
          NULL, true },
        { "a child, while its parent waits", NULL, "(head -c 8M /dev/zero >file; sleep 300) & wait",
          NULL, false },
        { "one who ignores SIGTERM", NULL, "trap '' TERM; head -c 8M /dev/zero >file; sleep 300",
          NULL, true },
        { "more than it removes", "head -c 4M /dev/zero >old",
          "rm old; head -c 8M /dev/zero >new; sleep 300", NULL, false },
        { "behind what was there", "head -c 4M /dev/zero >old",
          "head -c 3M /dev/zero >>old; sleep 300", NULL, true },
        { "what was moved there", NULL, "head -c 8M /dev/zero >../moved; mv ../moved .; sleep 300",
          NULL, false },
        { "in a strict file system", NULL, "head -c 8M /dev/zero >file; sleep 300", "--fs=strict",
          false },
};

static void test_growing(size_t i) {
        const char *name = growing[i].name;
        Expected expected = { .outcome = "disk",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = DISK_MESSAGE,
                              .words = DISK_WORDS,
                              .touched = "disk" };

        begin(growing[i].prepare);
        {
                KitOrder order = { .options = WORDS("--disk", "1M", "-C", workspace,
                                                    growing[i].option ?: "--disk=1M"),
                                   .command = WORDS("sh", "-c", growing[i].script) };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, name);
                ok(record_has_evidence(run, "workspace outgrew its limit * after exec"),
                   "%s: the evidence says when", name);
                ok(record_has_evidence(run, "workspace grew by * bytes, from *"),
                   "%s: … and by how much", name);
                skip(kit_is_slow(), 1, "n/a: no bounds of time on an emulated machine");
                cmp_ok(run->ended_usec - run->started_usec, "<", ENDED_USEC, "%s: it is ended soon",
                       name);
                end_skip;
                ok(access(workspace, F_OK) == 0, "%s: the workspace stays", name);
        }
        end();
}

/* What does not. The program ends itself, and the limit is not met. */
static const struct {
        const char *name, *prepare, *script;
        const char *option;
        bool is_extra;
} content[] = {
        { "nothing at all", NULL, "true", NULL, false },
        { "less than the limit", NULL, "head -c 512K /dev/zero >file; sleep 0.6", NULL, false },
        { "a sparse file", NULL, "truncate -s 500M file; sleep 0.6", NULL, false },
        { "one file of many names", NULL,
          "head -c 700K /dev/zero >file; ln file a; ln file b; ln file c; sleep 0.6", NULL, false },
        { "elsewhere", NULL, "head -c 8M /dev/zero >../elsewhere; sleep 0.6; rm ../elsewhere", NULL,
          false },
        { "links to what is elsewhere", NULL,
          "head -c 8M /dev/zero >../elsewhere; ln -s ../elsewhere file; ln -s ../.. up; sleep 0.6; rm ../elsewhere",
          NULL, true },
        { "what was there before", "head -c 8M /dev/zero >old", "sleep 0.6", NULL, false },
        { "what it makes room for", "head -c 8M /dev/zero >old",
          "rm old; head -c 8M /dev/zero >new; sleep 0.6", NULL, false },
        { "what it removes and has open", "head -c 8M /dev/zero >old",
          "exec 3<old; rm old; sleep 0.6", NULL, true },
        { "with the limit lifted", NULL, "head -c 8M /dev/zero >file; sleep 0.6", "--disk=infinity",
          true },
};

static void test_content(size_t i) {
        const char *name = content[i].name;
        Expected expected = { .outcome = "exited" };

        begin(content[i].prepare);
        {
                KitOrder order = { .options = WORDS("--disk", "1M", "-C", workspace,
                                                    content[i].option ?: "--disk=1M"),
                                   .command = WORDS("sh", "-c", content[i].script) };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, name);
                if (content[i].option)
                        ok(!record_at(run, "limits.disk"), "%s: there is none", name);
                else
                        expect_limit(run, "disk", MIB, MIB, NULL);
        }
        end();
}

/* The numbers of it, and that what was written is still there. It comes into the workspace in one piece, so that nobody is
 * killed in the midst of writing. */
static void test_numbers(void) {
        g_autofree char *path = NULL;
        struct stat st = { 0 };

        begin("head -c 3M /dev/zero >old");
        {
                KitOrder order = { .options = WORDS("--disk", "1M", "--workspace", workspace),
                                   .command = WORDS("sh", "-c",
                                                    "head -c 8M /dev/zero >made && echo made && "
                                                    "mv made workspace/new && exec sleep 1000") };
                Expected expected = { .outcome = "disk",
                                      .status = 137,
                                      .exit_code = ABSENT,
                                      .signal = SIGKILL,
                                      .message = DISK_MESSAGE,
                                      .words = DISK_WORDS,
                                      .said = "made\n",
                                      .touched = "disk" };
                g_autoptr(KitRun) run = kit_run(&order);
                const cJSON *line = NULL;
                uint64_t growth = 0, before = 0;

                expect(run, &expected, "a named workspace");
                expect_limit(run, "disk", MIB, MIB, NULL);
                cJSON_ArrayForEach(line, record_at(run, "evidence")) {
                        const char *text = line->valuestring;

                        if (g_str_has_prefix(text, "workspace grew by ")) {
                                growth = g_ascii_strtoull(text + strlen("workspace grew by "), NULL,
                                                          10);
                                before = g_ascii_strtoull(strstr(text, "from ") + 5, NULL, 10);
                        }
                }
                cmp_ok(growth, ">=", 8 * MIB, "the evidence has the whole growth");
                cmp_ok(growth, "<", 9 * MIB, "… and no more");
                cmp_ok(before, ">=", 3 * MIB, "… and what was there");
                cmp_ok(before, "<", 4 * MIB, "… and no more of that");
                path = g_build_filename(workspace, "new", NULL);
                ok(stat(path, &st) == 0 && (uint64_t)st.st_size == 8 * MIB,
                   "the file is kept whole");
        }
        end();
}

/* Over before anybody could look: ended by itself or by us, the limit was met, and the record says so. */
static void test_quick(void) {
        begin(NULL);
        {
                KitOrder order = { .options = WORDS("--disk", "1M", "-C", workspace),
                                   .command = WORDS("sh", "-c", "head -c 2M /dev/zero >file") };
                g_autoptr(KitRun) run = kit_run(&order);

                skip(kit_is_slow(), 2, "n/a: a last look that is not quick is not taken");
                ok(record_is_true(run, "limits.disk.touched"), "a quick one: it is touched");
                ok(record_has_evidence(run, "workspace grew by 2* bytes, from *"),
                   "a quick one: the evidence has it");
                end_skip;
                ok(run->status == (strcmp(record_text(run, "outcome"), "disk") == 0 ? 137 : 0),
                   "a quick one: status %d", run->status);
                leftover_check(run, "a quick one");
        }
        end();
}

/* After the deadline, within the grace: the outcome is the deadline's, but the grace is over. */
static void test_grace(void) {
        begin(NULL);
        {
                KitOrder order = {
                        .options = WORDS("--disk", "1M", "-C", workspace, "--timeout", "500ms",
                                         "--grace", "10m"),
                        .command = WORDS("sh", "-c",
                                         "trap 'head -c 8M /dev/zero >file' TERM; "
                                         "exec 2>/dev/null; while :; do sleep 0.1; done")
                };
                Expected expected = {
                        .outcome = "timeout",
                        .status = 124,
                        .exit_code = ABSENT,
                        .signal = SIGKILL,
                        .words = "cordon: timeout limit hit: killed (SIGKILL) after *s "
                                 "[timeout=500ms, disk=1M]\n",
                        .touched = "timeout disk"
                };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, "growth within the grace");
        }
        end();
}

static void check_refusal(const char *name, const char *const *options, const char *error,
                          const char *words) {
        KitOrder order = { .options = options, .command = VICTIM("say", "it ran") };
        Expected expected = { .outcome = "refused",
                              .status = 125,
                              .exit_code = ABSENT,
                              .error = error,
                              .message = "*",
                              .words = words };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, name);
}

static void test_refused(void) {
        begin(NULL);
        check_refusal("a workspace that is not there",
                      WORDS("--disk", "1M", "--workspace", "workspace/none"), "bad-value",
                      "cordon: --workspace: \"*/workspace/none\": No such file or directory; see "
                      "cordon run --help\n");
        check_refusal(
                "one that is no directory", WORDS("--disk", "1M", "--workspace", "/etc/passwd"),
                "bad-value",
                "cordon: --workspace: \"/etc/passwd\": Not a directory; see cordon run --help\n");
        check_refusal("one that the program does not see",
                      WORDS("--disk", "1M", "--workspace", workspace, "-C", "/", "--hide",
                            kit_directory()),
                      "bad-value",
                      "cordon: --disk: \"*\": it is not there inside: --hide leaves it out; see "
                      "cordon run --help\n");
        end();
}

/* Root reads everything. */
static void test_unreadable(void) {
        begin(NULL);
        skip(geteuid() == 0, 9, "n/a: nothing is unreadable for root");
        (void)chmod(workspace, 0311);
        check_refusal("one that cannot be read", WORDS("--disk", "1M", "--workspace", workspace),
                      "unenforceable",
                      "cordon: --disk cannot be enforced: \"*\" cannot be measured: Permission "
                      "denied; --workspace names another, or give --best-effort\n");
        {
                KitOrder order = { .options = WORDS("--disk", "1M", "--workspace", workspace,
                                                    "--best-effort"),
                                   .command = VICTIM("end") };
                Expected expected = { .outcome = "exited",
                                      .words = "cordon: not enforced: --disk\n" };
                g_autoptr(KitRun) run = kit_run(&order);

                expect(run, &expected, "a best effort");
                ok(record_at(run, "limits.disk.enforced") &&
                           !record_is_true(run, "limits.disk.enforced"),
                   "a best effort: the record says so");
        }
        (void)chmod(workspace, 0755);
        end_skip;
        end();
}

int main(void) {
        kit_init();
        for (size_t i = 0; i < G_N_ELEMENTS(growing); i++)
                if (!growing[i].is_extra || !kit_is_brief())
                        test_growing(i);
        for (size_t i = 0; i < G_N_ELEMENTS(content); i++)
                if (!content[i].is_extra || !kit_is_brief())
                        test_content(i);
        test_numbers();
        test_quick();
        test_grace();
        test_refused();
        test_unreadable();
        kit_clear();
        done_testing();
}
