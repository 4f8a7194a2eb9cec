/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every parser of numbers with the same text. What is accepted is written and read back as the same. */

#include "fuzz.h"
#include "units/format.h"
#include "units/parse.h"

typedef ParseResult (*Parse)(const char *, uint64_t *);
typedef char *(*Format)(uint64_t);

static void try(const char *text, Parse parse, Format format) {
        uint64_t number = 0, back = 0;
        g_autofree char *written = NULL;

        if (parse(text, &number) != PARSE_OK)
                return;

        written = format(number);
        g_assert(parse(written, &back) == PARSE_OK);
        g_assert(back == number);
}

static void try_list(const char *text) {
        g_autofree uint8_t *bytes = NULL, *bytes_back = NULL;
        g_autofree char *written = NULL;
        uint64_t count = 0, count_back = 0;
        size_t size = 0, size_back = 0;

        if (parse_cpu_list(text, &bytes, &size, &count) != PARSE_OK)
                return;

        g_assert(count > 0 && size > 0 && size <= (PARSE_CPU_MAX + 1) / 8 && bytes[size - 1] != 0);
        written = format_cpu_list(bytes, size);
        g_assert(parse_cpu_list(written, &bytes_back, &size_back, &count_back) == PARSE_OK);
        g_assert(count_back == count && size_back == size && memcmp(bytes, bytes_back, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        uint64_t number;

        try(text, parse_size, format_size);
        try(text, parse_duration, format_duration);
        try(text, parse_cpu_share, format_cpu_share);
        try_list(text);
        (void)parse_count(text, &number);
        return 0;
}
