/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The watch on a directory, with this process in the place of the program. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/diskwatch.h"

#define MIB           (1 << 20)
#define NOBODY        65534
#define PATIENCE_USEC (10 * G_USEC_PER_SEC)
#define QUIET_USEC    (700 * 1000) /* more than two looks */

static char *root, *outside;
static sd_event *event;
static bool is_full;

static void need(bool is_well, const char *what) {
        if (!is_well)
                BAIL_OUT("%s: %s", what, strerror(errno));
}

static void remove_all(char **path) {
        const char *argv[] = { "rm", "-rf", *path, NULL };

        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
        g_clear_pointer(path, g_free);
}

static void write_file(const char *directory, const char *name, size_t size) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *data = g_malloc0(size);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        need(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0, path);
}

static void on_full(void *userdata) {
        is_full = true;
}

/* Runs the loop until the watch says so, at most so long. */
static bool await_full(uint64_t usec) {
        gint64 end = g_get_monotonic_time() + (gint64)usec, now;

        while (!is_full && (now = g_get_monotonic_time()) < end)
                need(sd_event_run(event, (uint64_t)(end - now)) >= 0, "sd_event_run");
        return is_full;
}

static DiskWatch *open_watch(const char *limit, bool is_best_effort, GError **error) {
        g_autoptr(Spec) spec = spec_new();
        DiskWatch *watch = NULL;

        is_full = false;
        need(limit_set_parse(&spec->limits, LIMIT_DISK, limit, NULL), "a limit");
        spec->isolation.workspace = g_strdup(root);
        need(disk_watch_open(spec, is_best_effort, &watch, error) || (error && *error),
             "disk_watch_open");
        return watch;
}

static void begin(void) {
        root = g_dir_make_tmp("cordon-disk-XXXXXX", NULL);
        outside = g_dir_make_tmp("cordon-disk-XXXXXX", NULL);
        need(root && outside && chmod(outside, 0777) == 0 && sd_event_new(&event) >= 0, "begin");
}

static void end(void) {
        event = sd_event_unref(event);
        remove_all(&root);
        remove_all(&outside);
}

static void begin_watch(DiskWatch *watch) {
        disk_watch_begin(watch, event, "/nonexistent", on_full, NULL);
}

static void test_growth(void) {
        g_auto(Facts) facts = { 0 };
        DiskWatch *watch;

        begin();
        facts_init(&facts);
        write_file(root, "before", 3 * MIB);
        watch = open_watch("1M", false, NULL);
        write_file(outside, "elsewhere", 3 * MIB);
        begin_watch(watch);
        ok(!await_full(QUIET_USEC), "what was there and what is elsewhere is no growth");
        write_file(root, "after", 3 * MIB);
        ok(await_full(PATIENCE_USEC), "what is written is");
        disk_watch_finish(watch, &facts);
        cmp_ok(facts.disk_growth_bytes, ">=", 3 * MIB, "it is known how much");
        cmp_ok(facts.disk_growth_bytes, "<", 4 * MIB, "… and no more");
        cmp_ok(facts.disk_before_bytes, ">=", 3 * MIB, "and from how much");
        ok(facts.is_disk_final && facts.disk_hidden == 0, "it was looked at in the end");
        disk_watch_end(watch);
        disk_watch_free(watch);
        end();
}

/* The end comes before the first look. */
static void test_end(void) {
        g_auto(Facts) facts = { 0 };
        DiskWatch *watch;

        begin();
        facts_init(&facts);
        watch = open_watch("1M", false, NULL);
        begin_watch(watch);
        write_file(root, "after", 2 * MIB);
        disk_watch_finish(watch, &facts);
        cmp_ok(facts.disk_growth_bytes, ">=", 2 * MIB, "a last look finds what nobody saw");
        ok(facts.is_disk_final, "and is the last");
        disk_watch_free(watch);
        facts_clear(&facts);
        facts_init(&facts);
        watch = open_watch("1M", false, NULL);
        disk_watch_finish(watch, &facts);
        ok(facts.disk_growth_bytes == FACTS_UNKNOWN && !facts.is_disk_final,
           "where nothing was begun, nothing is known");
        disk_watch_free(watch);
        ok(!open_watch("infinity", false, NULL), "without a limit there is no watch");
        end();
}

/* As somebody who may not read what he has closed to himself. */
static void test_hidden(void) {
        g_autofree char *closed = NULL;
        g_autoptr(GError) error = NULL;
        uid_t uid = geteuid();
        DiskWatch *watch;
        g_auto(Facts) facts = { 0 };

        begin();
        facts_init(&facts);
        closed = g_build_filename(root, "closed", NULL);
        need(chmod(root, 0777) == 0 && (uid != 0 || seteuid(NOBODY) == 0), "seteuid");
        watch = open_watch("1M", false, NULL);
        begin_watch(watch);
        need(mkdir(closed, 0700) == 0, closed);
        write_file(closed, "file", 8 * MIB);
        need(chmod(closed, 0) == 0, closed);
        ok(await_full(PATIENCE_USEC), "for what is hidden, what the file system lost counts");
        disk_watch_finish(watch, &facts);
        cmp_ok(facts.disk_hidden, "==", 1, "and it is said why");
        disk_watch_free(watch);

        need((uid != 0 || seteuid(0) == 0) && chmod(root, 0) == 0 &&
                     (uid != 0 || seteuid(NOBODY) == 0),
             "chmod");
        ok(!open_watch("1M", false, &error) && error, "what cannot be read is refused");
        ok(error && g_str_has_suffix(error->message, "cannot be measured: Permission denied; "
                                                     "--workspace names another, or give "
                                                     "--best-effort"),
           "in words: %s", error ? error->message : "none");
        ok(!open_watch("1M", true, NULL), "with a best effort there is no watch");
        need(uid != 0 || seteuid(0) == 0, "seteuid");
        need(chmod(root, 0700) == 0 && chmod(closed, 0700) == 0, "chmod");
        end();
}

int main(void) {
        plan(NO_PLAN);
        test_growth();
        test_end();
        test_hidden();
        done_testing();
}
