/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The caller's world arrives: environment and arguments byte for byte, and everything else that a child of the caller
 * would have had. */

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

/* What a program of ours needs to find its manager; it arrives like all the rest. */
static GPtrArray *ground(void) {
        static const char *const variables[] = { "CORDON_MANAGER", "CORDON_PRIVATE_IDLE",
                                                 "XDG_RUNTIME_DIR" };
        GPtrArray *environment = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
                if (g_getenv(variables[i]))
                        g_ptr_array_add(environment, g_strdup_printf("%s=%s", variables[i],
                                                                     g_getenv(variables[i])));
        return environment;
}

static void add(GPtrArray *environment, const char *const *variables) {
        for (; *variables; variables++)
                g_ptr_array_add(environment, g_strdup(*variables));
}

/* As the kernel keeps them: one behind the other, each with its end. */
static GByteArray *block_of(const char *const *strings) {
        GByteArray *block = g_byte_array_new();

        for (; *strings; strings++)
                g_byte_array_append(block, (const guint8 *)*strings, (guint)strlen(*strings) + 1);
        return block;
}

static void is_block(const KitRun *run, const GByteArray *block, const char *name) {
        bool same = run->output->len == block->len &&
                    memcmp(run->output->str, block->data, block->len) == 0;

        ok(same, "%s", name);
        if (!same)
                diag("%zu bytes arrived, not %u", run->output->len, block->len);
}

/* clang-format off */
static const char *const odd_variables[] = {
        "PATH=/usr/bin:/bin", "EMPTY=", "EQUALS=a=b==c", "NEWLINES=one\ntwo\n\n", "QUOTES='\"`\\",
        "DOLLAR=$HOME ${PATH} $$ %h %% %n", "BYTES=\x01\x7f\x80\xff\xfe", "UTF8=\xc3\xa4\xe2\x82\xac",
        "SPACE= leading and trailing ", "a.b-c=odd name", "=no name", "no equals sign", "TWICE=1", "TWICE=2",
        "LISTENER=stays", "NOTIFY_SOCKETS=stays", "MAINPIDS=stays", NULL };

/* They describe the caller's own unit and would be lies in another. */
static const char *const unit_variables[] = {
        "NOTIFY_SOCKET=/run/notify", "INVOCATION_ID=00000000000000000000000000000000", "JOURNAL_STREAM=1:2",
        "LISTEN_PID=1", "LISTEN_FDS=1", "LISTEN_FDNAMES=a", "WATCHDOG_PID=1", "WATCHDOG_USEC=1000000",
        "MAINPID=1", "MANAGERPID=1", "SYSTEMD_EXEC_PID=1", NULL };

static const char *const odd_arguments[] = {
        "", "$HOME", "${HOME}", "$$", "%h %n %%", "'single' \"double\" `back`", "back\\slash \\n", "new\nline\n",
        "\ttab ", "-x", "--", "--help", "*", "a;b|c&d", "\xc3\xa4", "\xff\xfe invalid", "\x01\x7f", "", NULL };
/* clang-format on */

static void test_environment(void) {
        g_autoptr(GPtrArray) environment = ground();
        KitOrder order = { .command = VICTIM("cat", "/proc/self/environ") };

        add(environment, odd_variables);
        g_ptr_array_add(environment, NULL);

        g_autoptr(GByteArray) block = block_of((const char *const *)environment->pdata);

        g_ptr_array_set_size(environment, (int)environment->len - 1);
        add(environment, unit_variables);
        g_ptr_array_add(environment, NULL);
        order.environment = (const char *const *)environment->pdata;

        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(run->status, "==", 0, "an odd environment: the program runs");
        is_block(run, block,
                 "an odd environment arrives byte for byte, less what is of the caller's unit");
        leftover_check(run, "an odd environment");
}

static void test_large_environment(void) {
        g_autoptr(GPtrArray) environment = ground();
        KitOrder order = { .command = VICTIM("cat", "/proc/self/environ") };

        for (int i = 0; i < 10; i++) {
                g_autofree char *value = g_strnfill(110000, (char)('a' + i));

                g_ptr_array_add(environment, g_strdup_printf("LARGE%d=%s", i, value));
        }
        g_ptr_array_add(environment, NULL);
        order.environment = (const char *const *)environment->pdata;

        g_autoptr(GByteArray) block = block_of(order.environment);
        g_autoptr(KitRun) run = kit_run(&order);

        cmp_ok(block->len, ">", 1 << 20, "more than a megabyte is sent");
        is_block(run, block, "a megabyte of environment arrives");
        leftover_check(run, "a megabyte of environment");
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *sorted(const KitRun *run) {
        GPtrArray *strings = g_ptr_array_new();

        for (size_t i = 0; i < run->output->len; i += strlen(run->output->str + i) + 1)
                g_ptr_array_add(strings, run->output->str + i);
        g_ptr_array_sort(strings, compare_strings);
        g_ptr_array_add(strings, NULL);

        char *text = g_strjoinv(" ", (char **)strings->pdata);

        g_ptr_array_unref(strings);
        return text;
}

static void test_variables(void) {
        KitOrder clean = { .options = WORDS("--clean-env", "-E", "B=2", "-E", "HOME", "--setenv",
                                            "A=x=y", "-EC=", "-E", "NOT_SET_ANYWHERE", "-E", "B=3"),
                           .command = VICTIM("cat", "/proc/self/environ") };
        KitOrder own = { .options = WORDS("-E", KIT_MARK "=other"),
                         .command = VICTIM("cat", "/proc/self/environ") };
        g_autofree char *expected = g_strdup_printf("A=x=y B=3 C= HOME=%s", g_getenv("HOME") ?: "");
        g_autoptr(KitRun) run = kit_run(&clean);
        g_autoptr(KitRun) changed = kit_run(&own);
        g_autofree char *got = sorted(run), *all = sorted(changed);

        is(got, expected, "--clean-env leaves what -E sets and passes");
        ok(strstr(all, KIT_MARK "=other") && !strstr(all, KIT_MARK "=test-"),
           "-E replaces a variable of the caller's");
        leftover_check(run, "--clean-env");
        leftover_check(changed, "-E");
}

static void test_arguments(void) {
        g_autoptr(GPtrArray) command = g_ptr_array_new();
        KitOrder order = { 0 };
        Expected expected = { .outcome = "exited", .said = "*" };

        for (const char *const *w = VICTIM("cat", "/proc/self/cmdline", "end"); *w; w++)
                g_ptr_array_add(command, (char *)*w);
        for (const char *const *w = odd_arguments; *w; w++)
                g_ptr_array_add(command, (char *)*w);
        g_ptr_array_add(command, NULL);
        order.command = (const char *const *)command->pdata;

        g_autoptr(GByteArray) block = block_of(order.command);
        g_autoptr(KitRun) run = kit_run(&order);

        is_block(run, block, "odd arguments arrive byte for byte");
        expected.said = run->output->str;
        expect(run, &expected, "odd arguments");
}

static void test_many_arguments(void) {
        g_autoptr(GPtrArray) command = g_ptr_array_new_with_free_func(g_free);
        KitOrder order = { .record = "" };

        for (const char *const *w = VICTIM("cat", "/proc/self/cmdline", "end"); *w; w++)
                g_ptr_array_add(command, g_strdup(*w));
        for (int i = 0; i < 5000; i++)
                g_ptr_array_add(command, g_strdup_printf("argument number %d", i));
        g_ptr_array_add(command, NULL);
        order.command = (const char *const *)command->pdata;

        g_autoptr(GByteArray) block = block_of(order.command);
        g_autoptr(KitRun) run = kit_run(&order);

        is_block(run, block, "five thousand arguments arrive");
        leftover_check(run, "five thousand arguments");
}

/* What a process carries */

static void prepare_process(void) {
        struct rlimit files = { 100, 200 }, size = { 12345678, 23456789 }, cpu = { 500, 600 };

        (void)umask(027);
        (void)setpriority(PRIO_PROCESS, 0, 5);
        (void)setrlimit(RLIMIT_NOFILE, &files);
        (void)setrlimit(RLIMIT_FSIZE, &size);
        (void)setrlimit(RLIMIT_CPU, &cpu);
}

static void test_process(void) {
        KitOrder order = { .prepare = prepare_process,
                           .command = VICTIM("where", "cat", "/proc/self/limits") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(GRegex) spaces = g_regex_new(" +", 0, 0, NULL);
        g_autofree char *text = g_regex_replace_literal(spaces, run->output->str, -1, 0, " ", 0,
                                                        NULL);
        g_autofree char *directory = kit_said(run, "directory");

        is(directory ?: "", kit_directory(), "the working directory arrives");
        cmp_ok(kit_said_number(run, "umask"), "==", 027, "the umask arrives");
        cmp_ok(kit_said_number(run, "nice"), "==", 5, "nice arrives");
        cmp_ok(kit_said_number(run, "uid"), "==", getuid(), "the user is the caller");
        cmp_ok(kit_said_number(run, "gid"), "==", getgid(), "the group is the caller's");
        ok(strstr(text, "Max open files 100 200 files"), "the limit of files arrives");
        ok(strstr(text, "Max file size 12345678 23456789 bytes"), "the limit of a file arrives");
        ok(strstr(text, "Max cpu time 500 600 seconds"), "the limit of CPU time arrives");
        leftover_check(run, "a process with limits of its own");
}

/* A limit that is asked for wins over the caller's, and only that one. */
static void test_asked(void) {
        KitOrder order = { .prepare = prepare_process,
                           .options = WORDS("--nofile", "50"),
                           .command = VICTIM("cat", "/proc/self/limits") };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(GRegex) spaces = g_regex_new(" +", 0, 0, NULL);
        g_autofree char *text = g_regex_replace_literal(spaces, run->output->str, -1, 0, " ", 0,
                                                        NULL);

        ok(strstr(text, "Max open files 50 50 files"), "--nofile wins over the caller's limit");
        ok(strstr(text, "Max file size 12345678 23456789 bytes"), "and leaves the others alone");
        leftover_check(run, "--nofile below the caller's");
}

static void prepare_groups(void) {
        static const gid_t groups[] = { 1234, 54321 };

        if (setgroups(G_N_ELEMENTS(groups), groups) < 0)
                _exit(125);
}

static void test_groups(void) {
        KitOrder order = { .prepare = prepare_groups, .command = VICTIM("groups") };

        skip(geteuid() != 0, 2, "n/a: only root can have other groups than its manager");

        g_autoptr(KitRun) run = kit_run(&order);

        is(run->output->str, "group 1234\ngroup 54321\n", "the groups are the caller's");
        leftover_check(run, "other groups");
        end_skip;
}

static void prepare_signals(void) {
        sigset_t blocked;

        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGPIPE, SIG_IGN);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        (void)sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static void is_mask(const KitRun *run, const char *row, uint64_t mask, const char *name) {
        g_autofree char *line = g_strdup_printf("\n%s:\t%016" G_GINT64_MODIFIER "x\n", row, mask);

        ok(strstr(run->output->str, line), "%s", name);
}

static void test_signals(void) {
        KitOrder plain = { .command = VICTIM("cat", "/proc/self/status") };
        KitOrder order = { .prepare = prepare_signals,
                           .command = VICTIM("cat", "/proc/self/status") };
        g_autoptr(KitRun) none = kit_run(&plain);
        g_autoptr(KitRun) some = kit_run(&order);

        is_mask(none, "SigIgn", 0, "no signal is ignored, SIGPIPE neither");
        is_mask(none, "SigBlk", 0, "no signal is blocked");
        is_mask(some, "SigIgn", (1U << (SIGHUP - 1)) | (1U << (SIGPIPE - 1)),
                "signals that the caller ignores are ignored");
        is_mask(some, "SigBlk", 1U << (SIGUSR1 - 1), "a signal that it blocks is blocked");
        leftover_check(none, "plain signals");
        leftover_check(some, "the caller's signals");
}

static void test_directory(void) {
        KitOrder absolute = { .options = WORDS("-C", "/usr"), .command = VICTIM("where") };
        KitOrder relative = { .options = WORDS("-C", "bin"),
                              .directory = "/usr",
                              .command = VICTIM("where") };
        g_autoptr(KitRun) first = kit_run(&absolute);
        g_autoptr(KitRun) second = kit_run(&relative);
        g_autofree char *there = kit_said(first, "directory");
        g_autofree char *below = kit_said(second, "directory");

        is(there ?: "", "/usr", "-C with an absolute path");
        is(below ?: "", "/usr/bin", "-C with a relative one");
        leftover_check(first, "-C absolute");
        leftover_check(second, "-C relative");
}

static void prepare_nowhere(void) {
        if (mkdir("vanishing", 0755) < 0 || chdir("vanishing") < 0 || rmdir("../vanishing") < 0)
                _exit(125);
}

static void test_nowhere(void) {
        KitOrder order = { .prepare = prepare_nowhere, .command = VICTIM("where") };
        Expected expected = {
                .outcome = "refused",
                .status = 125,
                .exit_code = ABSENT,
                .error = "directory",
                .message =
                        "the working directory is not there any more; -C names another; see cordon run --help",
                .words = "cordon: the working directory is not there any more; -C "
                         "names another; see cordon run --help\n"
        };
        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &expected, "a caller whose directory was removed");
}

int main(void) {
        kit_init();
        test_environment();
        test_large_environment();
        test_variables();
        test_arguments();
        test_many_arguments();
        test_process();
        test_asked();
        test_groups();
        test_signals();
        test_directory();
        test_nowhere();
        kit_clear();
        done_testing();
}
