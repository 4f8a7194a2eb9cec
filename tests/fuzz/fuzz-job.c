/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any bytes as a job: read into options that hold together, or refused in one line that begins with a path. */

#include "fuzz.h"
#include "launcher/job.h"
#include "launcher/json.h"

static void check_refusal(const char *message) {
        g_assert(message[0] == '$');
        g_assert(!strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
        g_assert(strlen(message) < 64 * 256);
}

static void check_value(const JsonValue *value, int depth) {
        g_assert(depth <= JSON_DEPTH_MAX);
        g_assert(!value->text || g_utf8_validate(value->text, -1, NULL));
        g_assert(!value->names || value->names->len == value->items->len);
        for (guint i = 0; value->items && i < value->items->len; i++)
                check_value(g_ptr_array_index(value->items, i), depth + 1);
}

static void try_job(const char *text, size_t size) {
        g_auto(Options) options;
        g_autoptr(GError) error = NULL;
        bool parsed;

        options_init(&options);
        parsed = job_parse(text, size, &options, &error);
        g_assert(parsed == !error);
        if (error)
                check_refusal(error->message);
        g_assert(!parsed || !options.job_command || options.job_command[0]);
        for (guint i = 0; i < options.variables->len; i++)
                g_assert(strchr(g_ptr_array_index(options.variables, i), '='));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(GError) error = NULL;
        g_autoptr(JsonValue) value = json_read((const char *)data, size, &error);

        g_assert(!value == !!error);
        if (value)
                check_value(value, 0);
        else
                check_refusal(error->message);
        try_job((const char *)data, size);
        return 0;
}
