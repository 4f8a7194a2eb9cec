/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text → number. The hard thing is decimals: 0.1G must be the same on every machine, and never more than was asked.
 * So the digits are kept as text and multiplied as integers, last digit first, which gives the exact floor. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "parse.h"

#define KIBI   UINT64_C(1024)
#define SECOND UINT64_C(1000000)

typedef struct {
        const char *name;
        uint64_t multiplier;
} Suffix;

/* clang-format off */
static const Suffix size_suffixes[] = {
        { "",    1 },
        { "B",   1 },
        { "K",   KIBI },
        { "KB",  KIBI },
        { "KiB", KIBI },
        { "M",   KIBI * KIBI },
        { "MB",  KIBI * KIBI },
        { "MiB", KIBI * KIBI },
        { "G",   KIBI * KIBI * KIBI },
        { "GB",  KIBI * KIBI * KIBI },
        { "GiB", KIBI * KIBI * KIBI },
        { "T",   KIBI * KIBI * KIBI * KIBI },
        { "TB",  KIBI * KIBI * KIBI * KIBI },
        { "TiB", KIBI * KIBI * KIBI * KIBI },
};

static const Suffix duration_suffixes[] = {
        { "ms",  SECOND / 1000 },
        { "s",   SECOND },
        { "m",   60 * SECOND },
        { "min", 60 * SECOND },
        { "h",   3600 * SECOND },
        { "d",   86400 * SECOND },
};
/* clang-format on */

/* A decimal number as it stands in the text; borrowed. */
typedef struct {
        const char *whole, *fraction;
        size_t n_whole, n_fraction;
} Decimal;

static size_t digits_length(const char *text) {
        size_t n = 0;

        while (g_ascii_isdigit(text[n]))
                n++;

        return n;
}

/* "12", "12.5", ".5"; not "12." and not ".". Moves the cursor behind it. */
static bool decimal_scan(const char **cursor, Decimal *ret_decimal) {
        Decimal decimal = { .whole = *cursor, .n_whole = digits_length(*cursor) };
        const char *end = *cursor + decimal.n_whole;

        if (*end == '.') {
                decimal.fraction = end + 1;
                decimal.n_fraction = digits_length(decimal.fraction);
                if (decimal.n_fraction == 0)
                        return false;
                end = decimal.fraction + decimal.n_fraction;
        }
        if (end == *cursor)
                return false;

        *ret_decimal = decimal;
        *cursor = end;
        return true;
}

static bool decimal_is_zero(const Decimal *decimal) {
        return strspn(decimal->whole, "0") >= decimal->n_whole &&
               (!decimal->fraction || strspn(decimal->fraction, "0") >= decimal->n_fraction);
}

/* floor(multiplier × 0.ddd…), exact for any number of digits: dividing by ten from the last digit on and cutting each
 * time is the same as cutting once. What is carried is always below the multiplier, so nothing can wrap. */
static uint64_t fraction_scale(const Decimal *decimal, uint64_t multiplier) {
        uint64_t carried = 0;

        for (size_t i = decimal->n_fraction; i > 0; i--)
                carried = ((uint64_t)(decimal->fraction[i - 1] - '0') * multiplier + carried) / 10;

        return carried;
}

static ParseResult whole_scan(const char *digits, size_t n_digits, uint64_t *ret_number) {
        uint64_t number = 0;

        for (size_t i = 0; i < n_digits; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(digits[i] - '0'), &number))
                        return PARSE_TOO_LARGE;

        *ret_number = number;
        return PARSE_OK;
}

static ParseResult decimal_scale(const Decimal *decimal, uint64_t multiplier,
                                 uint64_t *ret_number) {
        uint64_t number;
        ParseResult result;

        result = whole_scan(decimal->whole, decimal->n_whole, &number);
        if (result != PARSE_OK)
                return result;

        if (__builtin_mul_overflow(number, multiplier, &number) ||
            __builtin_add_overflow(number, fraction_scale(decimal, multiplier), &number))
                return PARSE_TOO_LARGE;
        if (number == 0 && !decimal_is_zero(decimal))
                return PARSE_TOO_SMALL;

        *ret_number = number;
        return PARSE_OK;
}

ParseResult parse_size(const char *text, uint64_t *ret_bytes) {
        Decimal decimal;

        if (!decimal_scan(&text, &decimal))
                return PARSE_MALFORMED;

        for (size_t i = 0; i < G_N_ELEMENTS(size_suffixes); i++)
                if (g_ascii_strcasecmp(text, size_suffixes[i].name) == 0)
                        return decimal_scale(&decimal, size_suffixes[i].multiplier, ret_bytes);

        return PARSE_MALFORMED;
}

/* Moves the cursor behind the unit; NULL when there is none that we know. */
static const Suffix *duration_suffix_scan(const char **cursor) {
        size_t length = strcspn(*cursor, ".0123456789");

        for (size_t i = 0; i < G_N_ELEMENTS(duration_suffixes); i++) {
                const Suffix *suffix = &duration_suffixes[i];

                if (strlen(suffix->name) == length && strncmp(*cursor, suffix->name, length) == 0) {
                        *cursor += length;
                        return suffix;
                }
        }

        return NULL;
}

/* One "30s" of a compound. previous is the multiplier of the part before. */
static ParseResult duration_part(const char **cursor, uint64_t *previous, uint64_t *total) {
        Decimal decimal;
        const Suffix *suffix;
        uint64_t part;
        ParseResult result;

        if (!decimal_scan(cursor, &decimal))
                return PARSE_MALFORMED;

        suffix = duration_suffix_scan(cursor);
        if (!suffix || suffix->multiplier >= *previous)
                return PARSE_MALFORMED;

        *previous = suffix->multiplier;
        result = decimal_scale(&decimal, suffix->multiplier, &part);
        if (result != PARSE_OK)
                return result;

        return __builtin_add_overflow(*total, part, total) ? PARSE_TOO_LARGE : PARSE_OK;
}

ParseResult parse_duration(const char *text, uint64_t *ret_usec) {
        uint64_t previous = UINT64_MAX, total = 0;
        const char *end = text;
        Decimal decimal;
        ParseResult result = PARSE_OK, part;

        if (decimal_scan(&end, &decimal) && *end == '\0')
                return decimal_scale(&decimal, SECOND, ret_usec);
        if (*text == '\0')
                return PARSE_MALFORMED;

        /* Grammar before bounds: what does not parse to its end is malformed, however large its beginning. */
        while (*text) {
                part = duration_part(&text, &previous, &total);
                if (part == PARSE_MALFORMED)
                        return part;
                if (result == PARSE_OK)
                        result = part;
        }
        if (result != PARSE_OK)
                return result;

        *ret_usec = total;
        return PARSE_OK;
}

ParseResult parse_count(const char *text, uint64_t *ret_count) {
        size_t length = digits_length(text);

        if (length == 0 || text[length])
                return PARSE_MALFORMED;

        return whole_scan(text, length, ret_count);
}

ParseResult parse_cpu_share(const char *text, uint64_t *ret_usec_per_sec) {
        Decimal decimal;

        if (!decimal_scan(&text, &decimal))
                return PARSE_MALFORMED;

        if (strcmp(text, "%") == 0)
                return decimal_scale(&decimal, SECOND / 100, ret_usec_per_sec);
        if (*text == '\0')
                return decimal_scale(&decimal, SECOND, ret_usec_per_sec);

        return PARSE_MALFORMED;
}

static ParseResult cpu_scan(const char **cursor, uint64_t *ret_cpu) {
        size_t length = digits_length(*cursor);
        uint64_t cpu;

        if (length == 0)
                return PARSE_MALFORMED;
        if (whole_scan(*cursor, length, &cpu) != PARSE_OK || cpu > PARSE_CPU_MAX)
                return PARSE_TOO_LARGE;

        *cursor += length;
        *ret_cpu = cpu;
        return PARSE_OK;
}

/* "2" or "2-3" */
static ParseResult cpu_range_scan(const char **cursor, uint64_t *ret_first, uint64_t *ret_last) {
        ParseResult result;

        result = cpu_scan(cursor, ret_first);
        if (result != PARSE_OK)
                return result;

        *ret_last = *ret_first;
        if (**cursor != '-')
                return PARSE_OK;

        (*cursor)++;
        result = cpu_scan(cursor, ret_last);
        if (result != PARSE_OK)
                return result;

        return *ret_last < *ret_first ? PARSE_MALFORMED : PARSE_OK;
}

static uint64_t bitmap_add(GByteArray *bitmap, uint64_t first, uint64_t last) {
        uint64_t added = 0;
        guint old_size = bitmap->len, size = (guint)(last / 8 + 1);

        if (size > old_size) {
                g_byte_array_set_size(bitmap, size);
                memset(bitmap->data + old_size, 0, size - old_size);
        }

        for (uint64_t cpu = first; cpu <= last; cpu++) {
                uint8_t bit = (uint8_t)(1U << (cpu % 8));

                added += !(bitmap->data[cpu / 8] & bit);
                bitmap->data[cpu / 8] |= bit;
        }

        return added;
}

ParseResult parse_cpu_list(const char *text, uint8_t **ret_bytes, size_t *ret_size,
                           uint64_t *ret_count) {
        g_autoptr(GByteArray) bitmap = g_byte_array_new();
        uint64_t first, last, count = 0;
        ParseResult result;

        for (;;) {
                result = cpu_range_scan(&text, &first, &last);
                if (result != PARSE_OK)
                        return result;

                count += bitmap_add(bitmap, first, last);
                if (*text == '\0')
                        break;
                if (*text++ != ',')
                        return PARSE_MALFORMED;
        }

        *ret_size = bitmap->len;
        *ret_bytes = g_byte_array_free(g_steal_pointer(&bitmap), FALSE);
        *ret_count = count;
        return PARSE_OK;
}
