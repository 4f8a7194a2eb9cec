/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a workspace is looked at again. */

#include <tap.h>

#include "launcher/diskpace.h"

#define MS  UINT64_C(1000)
#define SEC (1000 * MS)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* clang-format off */
static const struct {
        const char *name;
        uint64_t cpu, wall, growth, limit; /* of the last look, at 0 */
        bool is_partial;
        uint64_t now, lost;
        bool is_due;
} rows[] = {
        { "nothing happens", 1 * MS, 1 * MS, 0, GIB, false, 100 * MS, 0, false },
        { "a small tree, a quarter of a second later", 1 * MS, 1 * MS, 0, GIB, false, 250 * MS, 0, true },
        { "a large one waits a hundred times as long as it takes", 100 * MS, 100 * MS, 0, GIB, false, 9999 * MS, 0, false },
        { "… and then it is time", 100 * MS, 100 * MS, 0, GIB, false, 10 * SEC, 0, true },
        { "a slow file system waits ten times as long, …", 1 * MS, 3 * SEC, 0, GIB, false, 14 * SEC, 0, false },
        { "… but no longer than some seconds", 1 * MS, 3 * SEC, 0, GIB, false, 15 * SEC, 0, true },
        { "however dear it is", 60 * SEC, 60 * SEC, 0, GIB, false, 15 * SEC, 0, true },
        { "less was lost than may be written", 100 * MS, 100 * MS, 0, GIB, false, 100 * MS, GIB - 1, false },
        { "as much", 100 * MS, 100 * MS, 0, GIB, false, 100 * MS, GIB, false },
        { "more", 100 * MS, 100 * MS, 0, GIB, false, 100 * MS, GIB + 1, true },
        { "more than what is left of it", 100 * MS, 100 * MS, GIB - 8 * MIB, GIB, false, 100 * MS, 9 * MIB, true },
        { "noise, with almost nothing left", 100 * MS, 100 * MS, GIB - 1, GIB, false, 100 * MS, 4 * MIB, false },
        { "more than noise, with nothing allowed", 100 * MS, 100 * MS, 0, 0, false, 100 * MS, 5 * MIB, true },
        { "beyond the limit already", 100 * MS, 100 * MS, 2 * GIB, GIB, false, 100 * MS, 5 * MIB, true },
        { "part of it was missed", 100 * MS, 100 * MS, 0, GIB, true, 50 * MS, 0, true },
        { "a look of two seconds is saved for", 2 * SEC, 2 * SEC, 0, GIB, false, 100 * MS, 2 * GIB, true },
};
/* clang-format on */

static DiskPace begin(uint64_t limit, uint64_t growth, uint64_t cpu, uint64_t wall) {
        DiskLook first = { .free_bytes = 100 * GIB, .cpu_usec = cpu, .wall_usec = wall };
        DiskPace pace;

        disk_pace_begin(&pace, limit, 0, &first);
        pace.growth_bytes = growth;
        return pace;
}

static void test_rows(void) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                DiskPace pace = begin(rows[i].limit, rows[i].growth, rows[i].cpu, rows[i].wall);

                pace.is_partial = rows[i].is_partial;
                ok(disk_pace_is_due(&pace, rows[i].now, 100 * GIB - rows[i].lost) == rows[i].is_due,
                   "%s", rows[i].name);
        }
}

/* Space that others free first does not hide what is written then. */
static void test_freed(void) {
        DiskPace pace = begin(GIB, 0, 100 * MS, 100 * MS);

        ok(!disk_pace_is_due(&pace, 100 * MS, 110 * GIB), "others free space");
        ok(disk_pace_is_due(&pace, 200 * MS, 108 * GIB), "what is lost from then on counts");
}

/* Others write half a gigabyte a second, on and on; a look takes 100 ms, and finds nothing. */
static void test_others(void) {
        DiskPace pace = begin(GIB, 0, 100 * MS, 100 * MS);
        uint64_t spent = 0, minutes = 10;

        for (uint64_t now = 0; now < minutes * 60 * SEC; now += 50 * MS) {
                DiskLook look = { .free_bytes = UINT64_C(1000) * GIB - now / SEC * (GIB / 2),
                                  .cpu_usec = 100 * MS,
                                  .wall_usec = 100 * MS };

                if (!disk_pace_is_due(&pace, now, look.free_bytes))
                        continue;
                spent += look.cpu_usec;
                disk_pace_note(&pace, now, &look);
        }
        cmp_ok(spent, "<=", minutes * 60 * SEC / 50 + 200 * MS,
               "two hundredths of a CPU, and two looks");
        cmp_ok(spent, ">=", minutes * 60 * SEC / 110, "… and not less than one");
}

static void test_wait(void) {
        DiskPace pace = begin(GIB, 0, 100 * MS, 100 * MS);
        uint64_t idle = disk_pace_wait_usec(&pace, 0);

        cmp_ok(idle, ">", 200 * MS, "with much left, the free space is asked for now and then");
        ok(!disk_pace_is_due(&pace, idle, 100 * GIB - 900 * MIB), "… nine tenths later");
        cmp_ok(disk_pace_wait_usec(&pace, idle), "==", 50 * MS, "… often");
        pace = begin(UINT64_C(1000) * GIB, 0, 1 * MS, 1 * MS);
        cmp_ok(disk_pace_wait_usec(&pace, 0), "==", 250 * MS, "not beyond the next look");
        cmp_ok(disk_pace_wait_usec(&pace, 10 * SEC), "==", 50 * MS, "nor all the time behind it");
}

int main(void) {
        plan(NO_PLAN);
        test_rows();
        test_freed();
        test_others();
        test_wait();
        done_testing();
}
