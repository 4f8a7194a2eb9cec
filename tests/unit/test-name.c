/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ids and unit names, there and back. */

#include <string.h>
#include <tap.h>

#include <glib.h>

#include "units/error.h"
#include "units/name.h"

/* clang-format off */
static const struct {
        const char *message; /* the refusal; NULL: accepted */
        const char *id;
} ids[] = {
        { NULL, "x7k2q9" }, { NULL, "a" }, { NULL, "0" }, { NULL, "my-run" }, { NULL, "A_b.c-D" },
        { NULL, "pool-1" }, { NULL, "Pool" }, { NULL, "a--b" }, { NULL, "a-" }, { NULL, "a." },
        { NULL, "0123456789012345678901234567890123456789012345678901234567890123" },
        { "--id: \"\" is not an id; *", "" }, { "--id: \"-a\" is not an id; *", "-a" },
        { "--id: \".a\" is not an id; *", ".a" }, { "--id: \"_a\" is not an id; *", "_a" },
        { "--id: \"a b\" is not an id; *", "a b" }, { "--id: \"a/b\" is not an id; *", "a/b" },
        { "--id: \"a\\x2db\" is not an id; *", "a\\x2db" }, { "--id: \"a@b\" is not an id; *", "a@b" },
        { "--id: \"a$b\" is not an id; *", "a$b" }, { "--id: \"a%i\" is not an id; *", "a%i" },
        { "--id: \"ä\" is not an id; *", "ä" }, { "--id: \"a\\x0a\" is not an id; *", "a\n" },
        { "--id: \"..\" is not an id; *", ".." },
        { "--id: \"01234567890123456789*\" is not an id; *",
          "01234567890123456789012345678901234567890123456789012345678901234" },
        { "--id: \"pool\" is reserved; *", "pool" },
        { "--id: \"a---*\" is too long for a unit name; *",
          "a---------------------------------------------------------------" },
};

static const struct {
        const char *id; /* NULL: not a run */
        const char *unit;
} units[] = {
        { "x7k2q9", "cordon-x7k2q9.slice" }, { "x7k2q9", "cordon-x7k2q9.service" }, { "x7k2q9", "cordon-x7k2q9.scope" },
        { "my-run", "cordon-my\\x2drun.slice" }, { "a.b", "cordon-a.b.slice" }, { "a.slice", "cordon-a.slice.slice" },
        { NULL, "" }, { NULL, "cordon.slice" }, { NULL, "cordon-.slice" }, { NULL, "cordon-x7k2q9" },
        { NULL, "cordon-pool.slice" }, { NULL, "cordon-pool-build.slice" }, { NULL, "cordon-guard-0.1.service" },
        { NULL, "cordon-a.timer" }, { NULL, "xcordon-a.slice" }, { NULL, "cordon" }, { NULL, "cordon-" },
        { NULL, "cordon-a\\x2.slice" }, { NULL, "cordon-a\\x2e.slice" }, { NULL, "system.slice" }, { NULL, ".slice" },
};
/* clang-format on */

static void test_ids(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *shown = g_strescape(ids[i].id, NULL);
                bool is_ok = name_id_check(ids[i].id, &error);

                ok(is_ok == !ids[i].message, "id \"%s\" is judged", shown);
                if (!ids[i].message)
                        continue;
                ok(g_error_matches(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME), "id \"%s\": the code",
                   shown);
                ok(error && g_pattern_match_simple(ids[i].message, error->message),
                   "id \"%s\": the words", shown);
                if (error && !g_pattern_match_simple(ids[i].message, error->message))
                        diag("it says: %s", error->message);
        }
}

static void test_round_trip(void) {
        char *(*const makers[])(const char *) = { name_slice, name_service, name_scope };

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                for (size_t j = 0; j < G_N_ELEMENTS(makers) && !ids[i].message; j++) {
                        g_autofree char *name = makers[j](ids[i].id);
                        g_autofree char *id = name_id_from_unit(name);

                        is(id, ids[i].id, "%s leads back to %s", name, ids[i].id);
                        ok(strlen(name) <= 255 && !strchr(name + strlen("cordon-"), '-'),
                           "%s is a name that does not nest", name);
                }
        }
}

static void test_units(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
                g_autofree char *id = name_id_from_unit(units[i].unit);

                is(id, units[i].id, "\"%s\" is the run %s", units[i].unit,
                   units[i].id ? units[i].id : "of nobody");
        }
}

static void test_random(void) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        uint64_t random = 1;
        size_t n_wrong = 0;

        for (int i = 0; i < 10000; i++) {
                char *id = name_id_from_random(random);

                if (!name_id_check(id, NULL) || strlen(id) != 6 || !g_ascii_islower(*id) ||
                    strpbrk(id, "ilo01"))
                        n_wrong++;
                g_hash_table_add(seen, id);
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        }

        cmp_ok(n_wrong, "==", 0, "a random id is a good id");
        cmp_ok(g_hash_table_size(seen), ">", 9900, "random bits make different ids");
}

static void test_owner(void) {
        g_autofree char *description = name_description_with_owner("my-run", "4711:99");
        g_autofree char *owner = name_owner_from_description(description);
        g_autofree char *nobody = name_owner_from_description("My own slice");
        g_autofree char *cut = name_owner_from_description("cordon a: limits (launcher 12");

        is(description, "cordon my-run: limits (launcher 4711:99)", "a slice says whose it is");
        is(owner, "4711:99", "and is understood");
        is(nobody, NULL, "somebody else's is not ours");
        is(cut, NULL, "nor is half a description");
}

int main(void) {
        plan(NO_PLAN);
        test_owner();
        test_ids();
        test_round_trip();
        test_units();
        test_random();
        done_testing();
}
