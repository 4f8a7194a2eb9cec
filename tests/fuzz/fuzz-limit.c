/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* "KEY=VALUE", as text and as a number: within the bounds and written back the same, or refused in one line. */

#include "fuzz.h"
#include "units/limit.h"

static void check(const LimitSet *set, Limit limit, bool is_set, const GError *error) {
        const LimitInfo *info = limit_info(limit);
        g_autofree char *written = NULL;
        g_auto(LimitSet) back = { 0 };

        g_assert(is_set == !error);
        g_assert(is_set == set->is_set[limit]);
        if (error) {
                g_assert(!strchr(error->message, '\n') && strlen(error->message) < 512);
                g_assert(g_utf8_validate(error->message, -1, NULL));
                return;
        }

        if (limit_set_is_limited(set, limit))
                g_assert(set->value[limit] >= info->min && set->value[limit] <= info->max);
        written = limit_set_format(set, limit);
        g_assert(limit_set_parse(&back, limit, written, NULL));
        g_assert(back.value[limit] == set->value[limit] && back.cpus.size == set->cpus.size);
}

static void try_text(Limit limit, const char *text) {
        g_auto(LimitSet) set = { 0 };
        g_autoptr(GError) error = NULL;
        bool is_set = limit_set_parse(&set, limit, text, &error);

        check(&set, limit, is_set, error);
}

static void try_number(Limit limit, double number) {
        g_auto(LimitSet) set = { 0 };
        g_autoptr(GError) error = NULL;
        bool is_set = limit_set_number(&set, limit, number, &error);

        check(&set, limit, is_set, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        char *value = strchr(text, '=');
        double raw;
        Limit limit;

        if (!value)
                return 0;
        *value++ = '\0';
        if (!limit_from_key(text, &limit))
                return 0;

        try_text(limit, value);
        try_number(limit, g_ascii_strtod(value, NULL));
        if (size >= sizeof(raw)) {
                memcpy(&raw, data + size - sizeof(raw), sizeof(raw));
                try_number(limit, raw);
        }

        return 0;
}
