/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Number → text: golden pairs, and that what is written exactly is read back as the same number. */

#include <inttypes.h>
#include <string.h>
#include <tap.h>

#include <glib.h>

#include "units/format.h"
#include "units/parse.h"

#define SEC UINT64_C(1000000)

typedef struct {
        const char *expected;
        uint64_t number;
} Row;

/* clang-format off */
static const Row sizes[] = {
        { "0", 0 }, { "1B", 1 }, { "1000B", 1000 }, { "1K", 1024 }, { "1536K", 1572864 }, { "256M", 268435456 },
        { "8192T", UINT64_C(1) << 53 }, { "18446744073709551615B", UINT64_MAX },
};
static const Row durations[] = {
        { "0s", 0 }, { "0.000001s", 1 }, { "1ms", 1000 }, { "250ms", SEC / 4 }, { "1.5s", 1500000 },
        { "1s", SEC }, { "1m", 60 * SEC }, { "1m30s", 90 * SEC }, { "1m500ms", 60500000 },
        { "1h", 3600 * SEC }, { "1d1s", 86401 * SEC }, { "1.000001s", 1000001 },
};
static const Row shares[] = {
        { "0%", 0 }, { "1%", 10000 }, { "150%", 1500000 }, { "12.5%", 125000 }, { "33.3333%", 333333 },
        { "0.0001%", 1 },
};
static const Row short_sizes[] = {
        { "0B", 0 }, { "512B", 512 }, { "1K", 1024 }, { "1.5K", 1536 }, { "256M", 268435456 },
        { "256M", 268431360 }, { "1.5G", UINT64_C(1610612736) }, { "95M", 99999744 }, { "10K", 10239 },
        { "9.5K", 9700 },
};
static const Row short_seconds[] = {
        { "0.0s", 0 }, { "0.0s", 49999 }, { "0.1s", 50000 }, { "0.8s", 812345 }, { "30.0s", 30 * SEC },
        { "89.9s", 89900000 }, { "90s", 90 * SEC }, { "3600s", 3600 * SEC },
};
/* clang-format on */

static void walk(const char *what, const Row *rows, size_t n_rows, char *(*format)(uint64_t)) {
        for (size_t i = 0; i < n_rows; i++) {
                g_autofree char *text = format(rows[i].number);

                is(text, rows[i].expected, "%s %" PRIu64 " is written %s", what, rows[i].number,
                   rows[i].expected);
        }
}

/* Numbers of every length, and around the powers where units change. */
static size_t fill(uint64_t *numbers, size_t max) {
        uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
        size_t n = 0;

        for (int shift = 0; shift < 64 && n + 3 < max; shift++)
                for (int step = -1; step <= 1; step++)
                        numbers[n++] = (UINT64_C(1) << shift) + (uint64_t)step;
        for (uint64_t power = 1; power < UINT64_MAX / 60 && n + 2 < max; power *= 60) {
                numbers[n++] = power;
                numbers[n++] = power * SEC - 1;
        }
        while (n < max) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                numbers[n] = random >> (n % 64);
                n++;
        }

        return n;
}

static void round_trip(const char *what, char *(*format)(uint64_t),
                       ParseResult (*parse)(const char *, uint64_t *)) {
        uint64_t numbers[20000], back;
        size_t n = fill(numbers, G_N_ELEMENTS(numbers)), n_wrong = 0;

        for (size_t i = 0; i < n; i++) {
                g_autofree char *text = format(numbers[i]);

                if (parse(text, &back) == PARSE_OK && back == numbers[i])
                        continue;
                if (n_wrong++ == 0)
                        diag("%" PRIu64 " was written %s", numbers[i], text);
        }

        cmp_ok(n_wrong, "==", 0, "%s: what was written is read back, %zu numbers", what, n);
}

static void test_lists(void) {
        static const char *const lists[] = { "0", "0,2-3", "7-8", "0-31", "1,3,5,7", "8191" };

        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
                g_autofree uint8_t *bytes = NULL;
                g_autofree char *text = NULL;
                uint64_t count;
                size_t size = 0;

                cmp_ok(parse_cpu_list(lists[i], &bytes, &size, &count), "==", PARSE_OK,
                       "%s is a list", lists[i]);
                text = format_cpu_list(bytes, size);
                is(text, lists[i], "%s is written as it was read", lists[i]);
        }
}

static void test_empty_list(void) {
        g_autofree char *text = format_cpu_list(NULL, 0);

        is(text, "", "a list without CPUs is empty");
}

int main(void) {
        plan(NO_PLAN);
        walk("size", sizes, G_N_ELEMENTS(sizes), format_size);
        walk("duration", durations, G_N_ELEMENTS(durations), format_duration);
        walk("share", shares, G_N_ELEMENTS(shares), format_cpu_share);
        walk("short size", short_sizes, G_N_ELEMENTS(short_sizes), format_size_short);
        walk("short time", short_seconds, G_N_ELEMENTS(short_seconds), format_seconds_short);
        round_trip("size", format_size, parse_size);
        round_trip("duration", format_duration, parse_duration);
        round_trip("share", format_cpu_share, parse_cpu_share);
        test_lists();
        test_empty_list();
        done_testing();
}
