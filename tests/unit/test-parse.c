/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text → number: what is accepted, what is refused and as what, and that nothing wraps or rounds up. */

#include <inttypes.h>
#include <string.h>
#include <tap.h>

#include <glib.h>

#include "units/parse.h"

#define K   UINT64_C(1024)
#define SEC UINT64_C(1000000)

typedef struct {
        ParseResult expected;
        const char *text;
        uint64_t number;
} Row;

/* clang-format off */
static const Row sizes[] = {
        { PARSE_OK, "0", 0 },
        { PARSE_OK, "007", 7 },
        { PARSE_OK, "268435456", 268435456 },
        { PARSE_OK, "1B", 1 },
        { PARSE_OK, "1K", K }, { PARSE_OK, "1KB", K }, { PARSE_OK, "1KiB", K },
        { PARSE_OK, "1M", K * K }, { PARSE_OK, "1MB", K * K }, { PARSE_OK, "1MiB", K * K },
        { PARSE_OK, "1G", K * K * K }, { PARSE_OK, "1GB", K * K * K }, { PARSE_OK, "1GiB", K * K * K },
        { PARSE_OK, "1T", K * K * K * K }, { PARSE_OK, "1TB", K * K * K * K }, { PARSE_OK, "1TiB", K * K * K * K },
        { PARSE_OK, "256MB", 268435456 }, { PARSE_OK, "256mib", 268435456 }, { PARSE_OK, "64k", 65536 },
        { PARSE_OK, "1.5M", 1572864 }, { PARSE_OK, ".5K", 512 }, { PARSE_OK, "1.0", 1 },
        { PARSE_OK, "0.1G", 107374182 },           /* 107374182.4 */
        { PARSE_OK, "0.3T", 329853488332 },        /* 329853488332.8, never more than asked */
        { PARSE_OK, "1.9999B", 1 },
        { PARSE_OK, "0.0000000000009094947017729282379150390625T", 1 }, /* exactly 2^-40 */
        { PARSE_OK, "18446744073709551615", UINT64_MAX },
        { PARSE_OK, "16777215.999999999999999999999999T", UINT64_MAX },
        { PARSE_OK, "00000000000000000000000000000000001K", K },
        { PARSE_TOO_SMALL, "0.1", 0 },
        { PARSE_TOO_SMALL, "0.0000000000009094947017729282379150390624T", 0 },
        { PARSE_TOO_LARGE, "18446744073709551616", 0 },
        { PARSE_TOO_LARGE, "16777216T", 0 },
        { PARSE_TOO_LARGE, "99999999999999999999999999999999999999", 0 },
        { PARSE_TOO_LARGE, "18014398509481984K", 0 },
        { PARSE_MALFORMED, "", 0 }, { PARSE_MALFORMED, "12Q", 0 }, { PARSE_MALFORMED, "K", 0 },
        { PARSE_MALFORMED, "-1", 0 }, { PARSE_MALFORMED, "+1", 0 }, { PARSE_MALFORMED, " 1", 0 },
        { PARSE_MALFORMED, "1 ", 0 }, { PARSE_MALFORMED, "1 K", 0 }, { PARSE_MALFORMED, "1\n", 0 },
        { PARSE_MALFORMED, "0x10", 0 }, { PARSE_MALFORMED, "1e3", 0 }, { PARSE_MALFORMED, "1E", 0 },
        { PARSE_MALFORMED, "nan", 0 }, { PARSE_MALFORMED, "inf", 0 }, { PARSE_MALFORMED, "infinity", 0 },
        { PARSE_MALFORMED, "1.", 0 }, { PARSE_MALFORMED, ".", 0 }, { PARSE_MALFORMED, "1..5", 0 },
        { PARSE_MALFORMED, "1.5.5", 0 }, { PARSE_MALFORMED, "1,5K", 0 }, { PARSE_MALFORMED, "1KK", 0 },
        { PARSE_MALFORMED, "1Ki", 0 }, { PARSE_MALFORMED, "1P", 0 }, { PARSE_MALFORMED, "1%", 0 },
        { PARSE_MALFORMED, "1K1", 0 }, { PARSE_MALFORMED, "１K", 0 },
        { PARSE_MALFORMED, "99999999999999999999999999999999999999Q", 0 },
};

static const Row durations[] = {
        { PARSE_OK, "0", 0 }, { PARSE_OK, "0s", 0 },
        { PARSE_OK, "30", 30 * SEC }, { PARSE_OK, "0.5", SEC / 2 }, { PARSE_OK, ".5", SEC / 2 },
        { PARSE_OK, "250ms", SEC / 4 }, { PARSE_OK, "30s", 30 * SEC },
        { PARSE_OK, "2m", 120 * SEC }, { PARSE_OK, "2min", 120 * SEC },
        { PARSE_OK, "1h", 3600 * SEC }, { PARSE_OK, "2d", 172800 * SEC },
        { PARSE_OK, "1m30s", 90 * SEC }, { PARSE_OK, "1min30s", 90 * SEC },
        { PARSE_OK, "1d2h3m4s5ms", 93784005000 }, { PARSE_OK, "1.5h30m", 7200 * SEC },
        { PARSE_OK, "0.1s", 100000 }, { PARSE_OK, "0.3", 300000 }, { PARSE_OK, "4.35", 4350000 },
        { PARSE_OK, "0.0000019", 1 }, { PARSE_OK, "0.001ms", 1 },
        { PARSE_OK, "18446744073709.551615", UINT64_MAX },
        { PARSE_TOO_SMALL, "0.0000009", 0 }, { PARSE_TOO_SMALL, "0.0001ms", 0 },
        { PARSE_TOO_LARGE, "18446744073709.551616", 0 },
        { PARSE_TOO_LARGE, "213503983d", 0 }, { PARSE_TOO_LARGE, "213503982d9h", 0 },
        { PARSE_TOO_LARGE, "99999999999999999999999d1s", 0 },
        { PARSE_MALFORMED, "99999999999999999999999d1d", 0 },
        { PARSE_MALFORMED, "", 0 }, { PARSE_MALFORMED, "s", 0 }, { PARSE_MALFORMED, "-1s", 0 },
        { PARSE_MALFORMED, "+1s", 0 }, { PARSE_MALFORMED, "1m30", 0 }, { PARSE_MALFORMED, "1m 30s", 0 },
        { PARSE_MALFORMED, "30s1m", 0 }, { PARSE_MALFORMED, "1s1s", 0 }, { PARSE_MALFORMED, "1m1min", 0 },
        { PARSE_MALFORMED, "1S", 0 }, { PARSE_MALFORMED, "1H", 0 }, { PARSE_MALFORMED, "1M", 0 },
        { PARSE_MALFORMED, "1us", 0 }, { PARSE_MALFORMED, "1sec", 0 }, { PARSE_MALFORMED, "1w", 0 },
        { PARSE_MALFORMED, "1e3s", 0 }, { PARSE_MALFORMED, "0x1s", 0 }, { PARSE_MALFORMED, "nan", 0 },
        { PARSE_MALFORMED, "inf", 0 }, { PARSE_MALFORMED, "infinity", 0 }, { PARSE_MALFORMED, "1.s", 0 },
        { PARSE_MALFORMED, "1s.", 0 }, { PARSE_MALFORMED, "1s ", 0 }, { PARSE_MALFORMED, "1:30", 0 },
};

static const Row counts[] = {
        { PARSE_OK, "0", 0 }, { PARSE_OK, "64", 64 }, { PARSE_OK, "18446744073709551615", UINT64_MAX },
        { PARSE_TOO_LARGE, "18446744073709551616", 0 },
        { PARSE_MALFORMED, "", 0 }, { PARSE_MALFORMED, "1.5", 0 }, { PARSE_MALFORMED, "1K", 0 },
        { PARSE_MALFORMED, "-1", 0 }, { PARSE_MALFORMED, "+1", 0 }, { PARSE_MALFORMED, " 1", 0 },
        { PARSE_MALFORMED, "0x1", 0 }, { PARSE_MALFORMED, "1e3", 0 }, { PARSE_MALFORMED, "infinity", 0 },
};

static const Row shares[] = {
        { PARSE_OK, "0", 0 }, { PARSE_OK, "0%", 0 }, { PARSE_OK, "150%", 1500000 }, { PARSE_OK, "1.5", 1500000 },
        { PARSE_OK, "2", 2000000 }, { PARSE_OK, "12.5%", 125000 }, { PARSE_OK, "0.1", 100000 },
        { PARSE_OK, "0.01%", 100 }, { PARSE_OK, "33.3333%", 333333 },
        { PARSE_TOO_SMALL, "0.00001%", 0 }, { PARSE_TOO_LARGE, "18446744073710", 0 },
        { PARSE_MALFORMED, "", 0 }, { PARSE_MALFORMED, "%", 0 }, { PARSE_MALFORMED, "150 %", 0 },
        { PARSE_MALFORMED, "150%%", 0 }, { PARSE_MALFORMED, "-50%", 0 }, { PARSE_MALFORMED, "1.5x", 0 },
        { PARSE_MALFORMED, "1e2%", 0 }, { PARSE_MALFORMED, "nan%", 0 }, { PARSE_MALFORMED, "1.%", 0 },
};

static const struct {
        ParseResult expected;
        const char *text;
        uint64_t count;
        size_t size;
        uint8_t bytes[4];
} lists[] = {
        { PARSE_OK, "0", 1, 1, { 0x01 } },
        { PARSE_OK, "0,2-3", 3, 1, { 0x0d } },
        { PARSE_OK, "7", 1, 1, { 0x80 } },
        { PARSE_OK, "8", 1, 2, { 0x00, 0x01 } },
        { PARSE_OK, "0-31", 32, 4, { 0xff, 0xff, 0xff, 0xff } },
        { PARSE_OK, "3,1,1,0-3", 4, 1, { 0x0f } },
        { PARSE_OK, "2-2", 1, 1, { 0x04 } },
        { PARSE_OK, "31,0", 2, 4, { 0x01, 0x00, 0x00, 0x80 } },
        { PARSE_TOO_LARGE, "8192", 0, 0, { 0 } }, { PARSE_TOO_LARGE, "0-8192", 0, 0, { 0 } },
        { PARSE_TOO_LARGE, "99999999999999999999", 0, 0, { 0 } },
        { PARSE_TOO_LARGE, "0-18446744073709551615", 0, 0, { 0 } },
        { PARSE_MALFORMED, "", 0, 0, { 0 } }, { PARSE_MALFORMED, ",", 0, 0, { 0 } },
        { PARSE_MALFORMED, "0,", 0, 0, { 0 } }, { PARSE_MALFORMED, ",0", 0, 0, { 0 } },
        { PARSE_MALFORMED, "3-2", 0, 0, { 0 } }, { PARSE_MALFORMED, "1-", 0, 0, { 0 } },
        { PARSE_MALFORMED, "-1", 0, 0, { 0 } }, { PARSE_MALFORMED, "0-2-3", 0, 0, { 0 } },
        { PARSE_MALFORMED, "0, 1", 0, 0, { 0 } }, { PARSE_MALFORMED, "all", 0, 0, { 0 } },
        { PARSE_MALFORMED, "0-7:2/4", 0, 0, { 0 } }, { PARSE_MALFORMED, "0x1", 0, 0, { 0 } },
};
/* clang-format on */

static void walk(const char *what, const Row *rows, size_t n_rows,
                 ParseResult (*parse)(const char *, uint64_t *)) {
        for (size_t i = 0; i < n_rows; i++) {
                uint64_t number = 4711,
                         expected = rows[i].expected == PARSE_OK ? rows[i].number : 4711;
                ParseResult result = parse(rows[i].text, &number);

                cmp_ok(result, "==", rows[i].expected, "%s \"%s\" is judged", what, rows[i].text);
                cmp_ok(number, "==", expected, "%s \"%s\" is %" PRIu64, what, rows[i].text,
                       expected);
        }
}

static void test_lists(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
                g_autofree uint8_t *bytes = NULL;
                uint64_t count = 0;
                size_t size = 0;

                cmp_ok(parse_cpu_list(lists[i].text, &bytes, &size, &count),
                       "==", lists[i].expected, "CPU list \"%s\" is judged", lists[i].text);
                cmp_ok(count, "==", lists[i].count, "CPU list \"%s\" has so many", lists[i].text);
                cmp_ok(size, "==", lists[i].size, "CPU list \"%s\" takes no more bytes than needed",
                       lists[i].text);
                if (bytes)
                        ok(memcmp(bytes, lists[i].bytes, lists[i].size) == 0,
                           "CPU list \"%s\" has its bits", lists[i].text);
        }
}

static void test_last_cpu(void) {
        g_autofree uint8_t *bytes = NULL;
        uint64_t count = 0;
        size_t size = 0;

        cmp_ok(parse_cpu_list("0-8191", &bytes, &size, &count), "==", PARSE_OK,
               "CPU 8191 is the last one");
        cmp_ok(count, "==", 8192, "all of them are counted");
        cmp_ok(size, "==", 1024, "and have a bit each");
}

/* A megabyte of digits takes no more than a moment and says what it is. */
static void test_long(void) {
        g_autofree char *digits = g_strnfill(1 << 20, '9');
        g_autofree char *zeros = g_strnfill(1 << 20, '0');
        g_autofree char *fraction = g_strconcat("1.", digits, "K", NULL);
        uint64_t number = 0;

        cmp_ok(parse_size(digits, &number), "==", PARSE_TOO_LARGE,
               "a megabyte of nines is too large");
        cmp_ok(parse_size(zeros, &number), "==", PARSE_OK, "a megabyte of zeros is 0");
        cmp_ok(parse_size(fraction, &number), "==", PARSE_OK, "a megabyte of decimals is accepted");
        cmp_ok(number, "==", 2047, "and cut, not rounded");
}

int main(void) {
        plan(NO_PLAN);
        walk("size", sizes, G_N_ELEMENTS(sizes), parse_size);
        walk("duration", durations, G_N_ELEMENTS(durations), parse_duration);
        walk("count", counts, G_N_ELEMENTS(counts), parse_count);
        walk("share", shares, G_N_ELEMENTS(shares), parse_cpu_share);
        test_lists();
        test_last_cpu();
        test_long();
        done_testing();
}
