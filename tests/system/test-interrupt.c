/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signals to cordon while it waits for somebody else than its program: before the run for what opens it, after it for who
 * reads it. They end it, and a run that did not begin has its record all the same. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define BEFORE       "cancelled by SIGTERM before it was executed"
#define WORDS_BEFORE "cordon: " BEFORE "\n"

static const char *pipe_path; /* for open_full_errors() */

static char *path_of(const char *name) {
        return g_build_filename(kit_directory(), name, NULL);
}

static char *make_pipe(const char *name) {
        char *path = path_of(name);

        if (mkfifo(path, 0600) < 0)
                BAIL_OUT("no FIFO: %s", g_strerror(errno));
        return path;
}

/* The record of yesterday is longer than the new one. */
static char *make_old_record(const char *name) {
        char *path = path_of(name);
        g_autofree char *text = g_strnfill(65536, 'x');

        if (!g_file_set_contents(path, text, -1, NULL))
                BAIL_OUT("no file: %s", path);
        return path;
}

static void check_file(const char *path, const char *name) {
        g_autofree char *text = NULL;
        const char *end = NULL;

        (void)g_file_get_contents(path, &text, NULL, NULL);

        cJSON *record = kit_parse_record(text ?: "", &end);

        is(cJSON_GetStringValue(cJSON_GetObjectItem(record, "outcome")), "cancelled",
           "%s: the outcome", name);
        is(cJSON_GetStringValue(cJSON_GetObjectItem(record, "message")), BEFORE, "%s: the message",
           name);
        ok(record && g_strcmp0(end, "\n") == 0, "%s: one record and nothing else", name);
        ok(!cJSON_HasObjectItem(record, "usage"), "%s: nothing of a program", name);
        cJSON_Delete(record);
}

static void check_end(const KitRun *run, const char *words, const char *name) {
        ok(!run->is_hung, "%s: it ends", name);
        cmp_ok(run->status, "==", 143, "%s: the status", name);
        if (words)
                is(run->errors->str, words, "%s: the words", name);
        ok(leftover_wait(run, KIT_SEC), "%s: nothing is left", name);
}

/* From here on a signal is ours. */
static bool hears_signals(const void *what) {
        const KitRun *run = what;
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)run->pid);
        g_autofree char *text = NULL;
        const char *line;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return false;
        line = strstr(text, "\nSigCgt:\t");
        return line && (g_ascii_strtoull(line + strlen("\nSigCgt:\t"), NULL, 16) &
                        (UINT64_C(1) << (SIGTERM - 1)));
}

/* … and it is in the open of the FIFO. */
static bool is_asleep(const void *what) {
        const KitRun *run = what;
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)run->pid);
        g_autofree char *text = NULL;

        return hears_signals(run) && g_file_get_contents(path, &text, NULL, NULL) &&
               strstr(text, ") S ");
}

static void test_input(void) {
        g_autofree char *input = make_pipe("input"), *record = path_of("record");
        KitOrder order = { .options = WORDS("--stdin", input),
                           .record = record,
                           .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_until(is_asleep, run, 10 * KIT_SEC);
        kit_signal(run, SIGTERM);
        kit_finish(run);
        check_end(run, WORDS_BEFORE, "--stdin is a FIFO without a writer");
        check_file(record, "a new file");
}

static void test_record(void) {
        g_autofree char *record = make_pipe("to-nobody");
        KitOrder order = { .record = record, .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_until(is_asleep, run, 10 * KIT_SEC);
        kit_signal(run, SIGTERM);
        kit_finish(run);
        check_end(run, WORDS_BEFORE, "--record is a FIFO without a reader");
}

/* As one that is stopped: it is connected to, and does not answer. */
static int make_silent_manager(const char *runtime_dir) {
        g_autofree char *dir = g_build_filename(runtime_dir, "systemd", NULL);
        g_autofree char *path = g_build_filename(dir, "private", NULL);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_strlcpy(address.sun_path, path, sizeof address.sun_path);
        if (g_mkdir_with_parents(dir, 0700) < 0 || fd < 0 ||
            bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 4) < 0)
                BAIL_OUT("no socket: %s", g_strerror(errno));
        return fd;
}

static void test_manager(const char *option, const char *words, const char *name) {
        g_autofree char *runtime_dir = path_of(name), *file = g_strconcat(name, ".json", NULL);
        g_autofree char *record = make_old_record(file);
        g_autofree char *variable = g_strconcat("XDG_RUNTIME_DIR=", runtime_dir, NULL);
        KitOrder order = { .options = WORDS("--user", option),
                           .environment = WORDS("PATH=/usr/bin:/bin", variable),
                           .record = record,
                           .command = VICTIM("end") };
        int listener = make_silent_manager(runtime_dir);
        g_autoptr(KitRun) run = kit_start(&order);
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        struct ucred who = { 0 }; /* with --detach a child */
        socklen_t size = sizeof who;

        if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.pid <= 0)
                BAIL_OUT("no peer: %s", g_strerror(errno));
        (void)kill(who.pid, SIGTERM);
        kit_finish(run);
        check_end(run, words, name);
        check_file(record, name);
        (void)close(peer);
        (void)close(listener);
}

static bool is_full(const void *what) {
        struct pollfd room = { .fd = *(const int *)what, .events = POLLOUT };

        return poll(&room, 1, 0) == 0;
}

/* The first signal to a run that is over. */
static void test_late_record(int number) {
        g_autofree char *name = g_strdup_printf("unread-%d", number);
        g_autofree char *record = make_pipe(name);
        KitOrder order = { .options = WORDS("--capture"),
                           .record = record,
                           .command = WORDS("/bin/sh", "-c",
                                            "head -c 900000 /dev/zero | tr '\\0' a") };
        int reader = open(record, O_RDWR | O_CLOEXEC);
        g_autoptr(KitRun) run = kit_start(&order);

        ok(kit_wait_until(is_full, &reader, kit_patience(10 * KIT_SEC)), "%s: it is full", name);
        kit_signal(run, number);
        kit_finish(run);
        ok(!run->is_hung, "%s: a record that nobody reads: a signal ends it", name);
        cmp_ok(run->status, "==", 128 + number, "%s: the status", name);
        (void)close(reader);
}

static void open_full_errors(void) {
        (void)dup2(open(pipe_path, O_WRONLY), STDERR_FILENO);
}

/* The first of them cancels the run. */
static void test_late_words(void) {
        g_autofree char *path = make_pipe("errors"), *filler = g_strnfill(4096, 'x');
        KitOrder order = { .prepare = open_full_errors,
                           .record = "",
                           .command = VICTIM("say", "ready", "pause") };
        int reader = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

        while (write(reader, filler, 4096) > 0)
                continue;
        pipe_path = path;

        g_autoptr(KitRun) run = kit_start(&order);

        (void)kit_wait_line(run, "ready");
        for (int i = 0; i < 40 && !kit_wait_process(run->pidfd, kit_patience(100 * KIT_MSEC)); i++)
                kit_signal(run, SIGTERM);
        kit_finish(run);
        check_end(run, "", "standard error that nobody reads");
        (void)close(reader);
}

static void allow_no_file(void) {
        struct rlimit limit = { 0 };

        (void)getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 0;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
}

/* A signal of our own making: the caller's limit is for the program, and the record of a refusal is no less a record. */
static void test_caller_limit(void) {
        g_autofree char *record = make_old_record("limited"), *text = NULL;
        KitOrder order = { .prepare = allow_no_file,
                           .options = WORDS("--timeout", "bogus"),
                           .record = record,
                           .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        (void)g_file_get_contents(record, &text, NULL, NULL);
        cmp_ok(run->status, "==", 125, "a caller that may write no file: refused");
        like(text ?: "", "\"outcome\":\"refused\"", "… and the record says so");
        ok(kit_is_record(text), "… as a whole one");
}

int main(void) {
        kit_init();
        test_input();
        test_record();
        test_manager("--best-effort", WORDS_BEFORE, "silent");
        test_manager("-q", "", "silent-quiet");
        test_manager("--detach", WORDS_BEFORE, "silent-detached");
        test_late_record(SIGTERM);
        test_late_record(SIGINT);
        test_late_words();
        test_caller_limit();
        leftover_check_guard("after signals while it waits");
        kit_clear();
        done_testing();
}
