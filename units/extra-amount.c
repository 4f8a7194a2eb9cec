/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One reader for all: numbers with decimals, each with a unit behind it, added up. */

#include "extra-amount.h"

#include <glib.h>
#include <string.h>

#define SPACE  " \t\n\r"
#define KIBI   UINT64_C(1024)
#define KILO   UINT64_C(1000)
#define SECOND UINT64_C(1000000)

typedef struct {
        const char *name;
        uint64_t multiplier;
} Unit;

/* clang-format off */
static const Unit binary[] = {
        { "", 1 }, { "B", 1 }, { "K", KIBI }, { "M", KIBI * KIBI }, { "G", KIBI * KIBI * KIBI },
        { "T", KIBI * KIBI * KIBI * KIBI }, { "P", KIBI * KIBI * KIBI * KIBI * KIBI },
        { "E", KIBI * KIBI * KIBI * KIBI * KIBI * KIBI },
};

static const Unit decimal[] = {
        { "", 1 }, { "B", 1 }, { "K", KILO }, { "M", KILO * KILO }, { "G", KILO * KILO * KILO },
        { "T", KILO * KILO * KILO * KILO }, { "P", KILO * KILO * KILO * KILO * KILO },
        { "E", KILO * KILO * KILO * KILO * KILO * KILO },
};

static const Unit spans[] = {
        { "us", 1 }, { "usec", 1 }, { "\xc2\xb5s", 1 }, { "\xce\xbcs", 1 },
        { "ms", SECOND / 1000 }, { "msec", SECOND / 1000 },
        { "s", SECOND }, { "sec", SECOND }, { "second", SECOND }, { "seconds", SECOND },
        { "m", 60 * SECOND }, { "min", 60 * SECOND }, { "minute", 60 * SECOND }, { "minutes", 60 * SECOND },
        { "h", 3600 * SECOND }, { "hr", 3600 * SECOND }, { "hour", 3600 * SECOND }, { "hours", 3600 * SECOND },
        { "d", 86400 * SECOND }, { "day", 86400 * SECOND }, { "days", 86400 * SECOND },
        { "w", 604800 * SECOND }, { "week", 604800 * SECOND }, { "weeks", 604800 * SECOND },
        { "M", 2629800 * SECOND }, { "month", 2629800 * SECOND }, { "months", 2629800 * SECOND },
        { "y", 31557600 * SECOND }, { "year", 31557600 * SECOND }, { "years", 31557600 * SECOND },
};
/* clang-format on */

/* What a text may hold: units, what one of them is worth here, and what a number without a unit is worth. */
typedef struct {
        const Unit *units;
        size_t n_units;
        uint64_t scale, bare;
} Grammar;

static bool find_multiplier(const Grammar *grammar, const char *name, size_t length,
                            uint64_t *ret_multiplier) {
        *ret_multiplier = grammar->bare;
        if (length == 0)
                return true;
        for (size_t i = 0; i < grammar->n_units; i++)
                if (strlen(grammar->units[i].name) == length &&
                    strncmp(grammar->units[i].name, name, length) == 0)
                        return !__builtin_mul_overflow(grammar->units[i].multiplier, grammar->scale,
                                                       ret_multiplier);
        return false;
}

static bool add_digits(const char *digits, size_t n_digits, uint64_t multiplier, uint64_t *total) {
        uint64_t number = 0;

        for (size_t i = 0; i < n_digits; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t)(digits[i] - '0'), &number))
                        return false;
        return !__builtin_mul_overflow(number, multiplier, &number) &&
               !__builtin_add_overflow(*total, number, total);
}

/* The floor of 0.ddd × multiplier, from the last digit on; what is carried stays below the multiplier. */
static bool add_fraction(const char *digits, size_t n_digits, uint64_t multiplier,
                         uint64_t *total) {
        unsigned __int128 carried = 0;

        for (size_t i = n_digits; i > 0; i--)
                carried = ((unsigned __int128)(digits[i - 1] - '0') * multiplier + carried) / 10;
        return !__builtin_add_overflow(*total, (uint64_t)carried, total);
}

static bool add_part(const Grammar *grammar, const char **cursor, uint64_t *total) {
        const char *whole = *cursor, *fraction = NULL;
        size_t n_whole = strspn(whole, "0123456789"), n_fraction = 0, length;
        const char *unit = whole + n_whole;
        uint64_t multiplier;

        if (*unit == '.') {
                fraction = unit + 1;
                n_fraction = strspn(fraction, "0123456789");
                unit = fraction + n_fraction;
        }
        if (n_whole + n_fraction == 0)
                return false;
        unit += strspn(unit, SPACE);
        length = strcspn(unit, SPACE ".0123456789");
        *cursor = unit + length;
        *cursor += strspn(*cursor, SPACE);
        return find_multiplier(grammar, unit, length, &multiplier) &&
               add_digits(whole, n_whole, multiplier, total) &&
               add_fraction(fraction, n_fraction, multiplier, total);
}

static bool amount_read(const Grammar *grammar, const char *text, uint64_t *ret_amount) {
        uint64_t total = 0;

        do
                if (!add_part(grammar, &text, &total))
                        return false;
        while (*text);

        *ret_amount = total;
        return total != UINT64_MAX; /* which means infinity */
}

bool extra_amount_bytes(const char *text, uint64_t *ret_bytes) {
        static const Grammar grammar = { binary, G_N_ELEMENTS(binary), 1, 1 };

        return amount_read(&grammar, text, ret_bytes);
}

bool extra_amount_decimal(const char *text, uint64_t *ret_bytes) {
        static const Grammar grammar = { decimal, G_N_ELEMENTS(decimal), 1, 1 };

        return amount_read(&grammar, text, ret_bytes);
}

bool extra_amount_sec(const char *text, uint64_t *ret_usec) {
        static const Grammar grammar = { spans, G_N_ELEMENTS(spans), 1, SECOND };

        return amount_read(&grammar, text, ret_usec);
}

bool extra_amount_usec(const char *text, uint64_t *ret_usec) {
        static const Grammar grammar = { spans, G_N_ELEMENTS(spans), 1, 1 };

        return amount_read(&grammar, text, ret_usec);
}

bool extra_amount_nsec(const char *text, uint64_t *ret_nsec) {
        static const Grammar grammar = { spans, G_N_ELEMENTS(spans), 1000, 1 };

        return amount_read(&grammar, text, ret_nsec);
}

bool extra_amount_percent(const char *text, uint64_t *ret_permyriad) {
        static const Unit percent[] = { { "%", 100 } };
        static const Grammar grammar = { percent, G_N_ELEMENTS(percent), 1, 0 };
        size_t length = strlen(text);

        return length > 1 && strchr(text, '%') == text + length - 1 &&
               strspn(text, "0123456789.") == length - 1 &&
               amount_read(&grammar, text, ret_permyriad);
}
