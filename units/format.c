/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Number → text. The exact forms are held to their promise by a test that reads back what they write. */

#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>

#include "format.h"

#define SECOND UINT64_C(1000000)

static const char size_letters[] = { 'B', 'K', 'M', 'G', 'T' };

/* A fraction of scale digits, without the zeros at its end: 1500000 of 6 → "1.5". */
static void append_decimal(GString *out, uint64_t number, uint64_t one, int scale) {
        g_string_append_printf(out, "%" PRIu64, number / one);
        if (number % one == 0)
                return;

        g_string_append_printf(out, ".%0*" PRIu64, scale, number % one);
        while (out->str[out->len - 1] == '0')
                g_string_truncate(out, out->len - 1);
}

char *format_size(uint64_t bytes) {
        size_t letter = 0;

        while (letter + 1 < G_N_ELEMENTS(size_letters) && bytes > 0 && bytes % 1024 == 0) {
                bytes /= 1024;
                letter++;
        }

        return bytes == 0 ? g_strdup("0")
                          : g_strdup_printf("%" PRIu64 "%c", bytes, size_letters[letter]);
}

static void append_whole_units(GString *out, uint64_t *usec) {
        static const struct {
                const char *name;
                uint64_t usec;
        } units[] = { { "d", 86400 * SECOND }, { "h", 3600 * SECOND }, { "m", 60 * SECOND } };

        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
                if (*usec < units[i].usec)
                        continue;
                g_string_append_printf(out, "%" PRIu64 "%s", *usec / units[i].usec, units[i].name);
                *usec %= units[i].usec;
        }
}

char *format_duration(uint64_t usec) {
        g_autoptr(GString) out = g_string_new(NULL);

        append_whole_units(out, &usec);
        if (usec > 0 && usec < SECOND && usec % 1000 == 0) {
                g_string_append_printf(out, "%" PRIu64 "ms", usec / 1000);
        } else if (usec > 0 || out->len == 0) {
                append_decimal(out, usec, SECOND, 6);
                g_string_append_c(out, 's');
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *format_cpu_share(uint64_t usec_per_sec) {
        g_autoptr(GString) out = g_string_new(NULL);

        append_decimal(out, usec_per_sec, SECOND / 100, 4);
        g_string_append_c(out, '%');
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static bool bitmap_has(const uint8_t *bytes, size_t size, size_t cpu) {
        return cpu / 8 < size && (bytes[cpu / 8] >> (cpu % 8)) & 1;
}

char *format_cpu_list(const uint8_t *bytes, size_t size) {
        g_autoptr(GString) out = g_string_new(NULL);

        for (size_t cpu = 0; cpu < size * 8; cpu++) {
                size_t first = cpu;

                if (!bitmap_has(bytes, size, cpu))
                        continue;
                while (bitmap_has(bytes, size, cpu + 1))
                        cpu++;

                g_string_append_printf(out, "%s%zu", out->len > 0 ? "," : "", first);
                if (cpu > first)
                        g_string_append_printf(out, "-%zu", cpu);
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Tenths below ten, whole numbers above, rounded half up: 1.5G, 256M. */
char *format_size_short(uint64_t bytes) {
        size_t letter = 0;
        uint64_t one = 1, tenths;

        while (letter + 1 < G_N_ELEMENTS(size_letters) && bytes / one >= 1024) {
                one *= 1024;
                letter++;
        }

        tenths = bytes / one * 10 + (bytes % one * 10 + one / 2) / one;
        if (tenths >= 100 || tenths % 10 == 0)
                return g_strdup_printf("%" PRIu64 "%c", (tenths + 5) / 10, size_letters[letter]);

        return g_strdup_printf("%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10,
                               size_letters[letter]);
}

/* Tenths below a minute and a half, whole seconds above. */
char *format_seconds_short(uint64_t usec) {
        uint64_t tenths = usec / 100000 + (usec % 100000 >= 50000);

        if (tenths >= 900)
                return g_strdup_printf("%" PRIu64 "s", (tenths + 5) / 10);

        return g_strdup_printf("%" PRIu64 ".%" PRIu64 "s", tenths / 10, tenths % 10);
}
