/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts of cgroup files, as kernels 6.1 to 7.2 write them, and what must not be taken for a number. */

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/kernel/counter.h"
#include "launcher/kernel/file.h"
#include "units/facts.h"

#define NONE UINT64_MAX /* the text says nothing */

static const char events[] = "low 0\nhigh 3\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n";
static const char cpu_stat[] =
        "usage_usec 251123\nuser_usec 200000\nsystem_usec 51123\nnr_periods 4\nnr_throttled 4\n";
static const char io_stat[] =
        "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n8:0 rbytes=1 wbytes=2 rios=1\n";
static const char io_v1[] =
        "254:0 Read 4096\n254:0 Write 512\n254:0 Total 4608\n8:0 Read 4\nTotal 4612\n";

static const struct {
        uint64_t value;
        size_t offset;
        bool is_legacy;
        const char *text;
} rows[] = {
        { 2, offsetof(Facts, oom_kills), false, events },
        { 1, offsetof(Facts, oom_kills_local_limit), false, events },
        { 1, offsetof(Facts, oom_events), false, events },
        { 12, offsetof(Facts, memory_max_events), false, events },
        { 3, offsetof(Facts, memory_high_events), false, events },
        { 251123, offsetof(Facts, cpu_usec), false, cpu_stat },
        { 200000, offsetof(Facts, cpu_user_usec), false, cpu_stat },
        { 51123, offsetof(Facts, cpu_system_usec), false, cpu_stat },
        { 4, offsetof(Facts, cpu_throttled), false, cpu_stat },
        { 4097, offsetof(Facts, io_read_bytes), false, io_stat },
        { 8194, offsetof(Facts, io_write_bytes), false, io_stat },
        { 0, offsetof(Facts, io_read_bytes), false, "" },
        { 4100, offsetof(Facts, io_read_bytes), true, io_v1 },
        { 512, offsetof(Facts, io_write_bytes), true, io_v1 },
        { 1234, offsetof(Facts, cpu_usec), true, "1234567\n" },
        { 268435456, offsetof(Facts, memory_peak_bytes), false, "268435456\n" },
        { NONE, offsetof(Facts, memory_peak_bytes), false, "" },
        { NONE, offsetof(Facts, memory_peak_bytes), false, "-1\n" },
        { NONE, offsetof(Facts, memory_peak_bytes), false, "12a\n" },
        { NONE, offsetof(Facts, oom_kills), false, "oom 1\noom_killer 5\n" },
        { NONE, offsetof(Facts, cpu_throttled), false, "usage_usec 1\n" },
        { NONE, offsetof(Facts, tasks_denied), false, "max \n" },
};

static const struct {
        uint64_t value;
        const char *file, *text;
} limits[] = {
        { UINT64_MAX, "memory.max", "max\n" },
        { 67108864, "memory.max", "67108864\n" },
        { UINT64_MAX, "memory.limit_in_bytes", "9223372036854771712\n" },
        { UINT64_MAX, "cpu.cfs_quota_us", "-1\n" },
        { 1500000, "cpu.max", "150000 100000\n" },
        { UINT64_MAX, "cpu.max", "max 100000\n" },
        { 10000, "cpu.max", "1000 100000\n" },
};

static const char *const bad_limits[][2] = {
        { "memory.max", "" },        { "memory.max", "lots" },          { "cpu.max", "100000" },
        { "cpu.max", "100000 0\n" }, { "cpu.max", "nothing 100000\n" },
};

/* A machine with many devices: more than a page, and more than one read. */
static void test_long_text(void) {
        const Counter *counter = counter_of(offsetof(Facts, io_write_bytes));
        g_autofree char *path = g_dir_make_tmp("cordon-test-counter-XXXXXX", NULL);
        g_autofree char *file = g_build_filename(path, "io.stat", NULL);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *read = NULL;
        uint64_t value = 0;
        int dir;

        for (int i = 0; i < 200; i++)
                g_string_append_printf(text,
                                       "8:%d rbytes=1 wbytes=2 rios=1 wios=1 dbytes=0 dios=0\n", i);
        ok(g_file_set_contents(file, text->str, -1, NULL), "a long io.stat is written");
        dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        read = file_read_text(dir, "io.stat");
        ok(read && counter_parse(&counter->unified, read, &value), "it is read");
        cmp_ok(value, "==", 400, "every device of it is counted");
        ok(!file_read_text(dir, "none"), "a file that is not there is no text");
        ok(!file_read_text(-1, "io.stat"), "nor one of no directory");
        (void)close(dir);
        (void)unlink(file);
        (void)rmdir(path);
}

int main(void) {
        plan(NO_PLAN);
        test_long_text();
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                const Counter *counter = counter_of(rows[i].offset);
                uint64_t value = NONE;
                bool said = counter_parse(rows[i].is_legacy ? &counter->legacy : &counter->unified,
                                          rows[i].text, &value);

                ok(said == (rows[i].value != NONE), "row %zu says %s", i,
                   said ? "something" : "nothing");
                cmp_ok(value, "==", rows[i].value, "row %zu: the number", i);
        }
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
                uint64_t value = 0;

                ok(counter_parse_limit(limits[i].file, limits[i].text, &value), "%s is read",
                   limits[i].file);
                cmp_ok(value, "==", limits[i].value, "… as it is meant");
        }
        for (size_t i = 0; i < sizeof bad_limits / sizeof bad_limits[0]; i++) {
                uint64_t value = 7;

                ok(!counter_parse_limit(bad_limits[i][0], bad_limits[i][1], &value),
                   "\"%s\" is no %s", bad_limits[i][1], bad_limits[i][0]);
                cmp_ok(value, "==", 7, "… and nothing is written");
        }
        for (size_t i = 0; i < counter_count(); i++) {
                const Counter *counter = counter_at(i);

                ok(counter->unified.file, "counter %zu has a file in the unified hierarchy", i);
                ok(counter_of(counter->offset) == counter, "… and a fact of its own");
        }
        done_testing();
}
