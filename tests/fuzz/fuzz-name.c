/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any text as an id, as a unit's name, as a description, and as text to show. */

#include <string.h>

#include "fuzz.h"
#include "units/name.h"
#include "units/text.h"

static void try_id(const char *text) {
        char *(*const makers[])(const char *) = { name_service, name_scope };

        if (!name_id_check(text, NULL))
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(makers); i++) {
                g_autofree char *unit = makers[i](text), *id = name_id_from_unit(unit);

                g_assert_cmpstr(id, ==, text);
                g_assert(strlen(unit) <= 255);
        }
}

/* The text as an id, and as far as it goes as the name of a pool, too. */
static void try_slice(const char *text) {
        g_autofree char *pool = g_strndup(text, strcspn(text, "."));
        const char *id = strchr(text, '.') ? strchr(text, '.') + 1 : text;
        g_autofree char *unit = NULL, *found = NULL, *found_pool = NULL, *around = NULL;

        if (!name_id_check(id, NULL) || !name_pool_check(pool, NULL) ||
            !name_check_both(pool, id, NULL))
                return;
        unit = name_slice(pool, id);
        found = name_id_from_unit(unit);
        g_assert_cmpstr(found, ==, id);
        g_assert(!name_pool_from_unit(unit) && strlen(unit) <= 255);
        around = name_pool_slice(pool);
        found_pool = name_pool_from_unit(around);
        g_assert_cmpstr(found_pool, ==, pool);
        g_assert(!name_id_from_unit(around));
}

static void try_unit(const char *text) {
        g_autofree char *id = name_id_from_unit(text);

        g_assert(!id || name_id_check(id, NULL));
}

static void try_owner(const char *text) {
        g_autofree char *owner = name_owner_from_description(text);

        g_assert(!owner || (strstr(text, owner) && !strchr(owner, ')')));
}

static void try_shown(const char *text) {
        g_autofree char *shown = text_printable(text, 40);

        g_assert(g_utf8_validate(shown, -1, NULL) && g_utf8_strlen(shown, -1) <= 40);
        for (const char *c = shown; *c; c++)
                g_assert(!g_ascii_iscntrl(*c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);

        try_id(text);
        try_slice(text);
        try_unit(text);
        try_owner(text);
        try_shown(text);
        return 0;
}
