/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* "NAME=VALUE", twice: properties of one type each, or refused in one line with nothing left behind. */

#include "fuzz.h"
#include "units/extra.h"

static void try_assignment(PropertyList *list, const char *text) {
        g_autofree char *before = property_list_to_text(list), *after = NULL;
        g_autoptr(GError) error = NULL;
        bool parsed = extra_parse(text, list, &error);

        g_assert(parsed == !error);
        if (parsed)
                return;
        after = property_list_to_text(list);
        g_assert(strcmp(before, after) == 0);
        g_assert(!strchr(error->message, '\n') && strlen(error->message) < 1024);
        g_assert(g_utf8_validate(error->message, -1, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(PropertyList) list = property_list_new();
        g_auto(GStrv) lines = g_strsplit(text, "\n", 4);

        for (char **line = lines; *line; line++)
                try_assignment(list, *line);
        for (size_t i = 0; i < property_list_length(list); i++)
                g_assert(g_variant_is_normal_form(property_list_at(list, i)->value));
        (void)extra_own_namespaces(list);
        (void)extra_rlimits(list);
        return 0;
}
