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
        { "x7k2q9", "cordon-pool-build-x7k2q9.slice" }, { "my-run", "cordon-pool-my\\x2dpool-my\\x2drun.slice" },
        { "a", "cordon-pool-pool-a.slice" }, { NULL, "cordon-pool-build-pool.slice" },
        { NULL, "cordon-pool-build-x7k2q9.service" }, { NULL, "cordon-pool-a-b-c.slice" }, { NULL, "cordon-pool--a.slice" },
        { NULL, "cordon-pool-a-.slice" }, { NULL, "cordon-pool-.a-b.slice" }, { NULL, "cordon-pool-a-b" },
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

static char *own_slice(const char *id) {
        return name_slice(NULL, id);
}

static void test_round_trip(void) {
        char *(*const makers[])(const char *) = { own_slice, name_service, name_scope };

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

/* clang-format off */
static const struct {
        const char *message; /* the refusal; NULL: accepted */
        const char *pool;
} pools[] = {
        { NULL, "build" }, { NULL, "pool" }, { NULL, "my-pool" }, { NULL, "0.1_a" },
        { "--pool: \"\" is not the name of a pool; accepted: letters, *", "" },
        { "--pool: \"a b\" is not the name of a pool; *", "a b" },
        { "--pool: \"../x\" is not the name of a pool; *", "../x" },
        { "--pool: \"-a\" is not the name of a pool; *", "-a" },
        { "--pool: \"a---*\" is too long for a unit name; *",
          "a---------------------------------------------------------------" },
};
/* clang-format on */

static void test_pools(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(pools); i++) {
                g_autoptr(GError) error = NULL;
                bool is_ok = name_pool_check(pools[i].pool, &error);
                g_autofree char *slice = name_pool_slice(pools[i].pool);
                g_autofree char *pool = name_pool_from_unit(slice);
                g_autofree char *run = name_slice(pools[i].pool, "my-run");
                g_autofree char *id = name_id_from_unit(run), *nobody = name_id_from_unit(slice);

                ok(is_ok == !pools[i].message, "pool \"%s\" is judged", pools[i].pool);
                if (pools[i].message) {
                        ok(error && g_pattern_match_simple(pools[i].message, error->message),
                           "pool \"%s\": the words", pools[i].pool);
                        continue;
                }
                is(pool, pools[i].pool, "%s leads back to its pool", slice);
                is(id, "my-run", "%s leads back to its run", run);
                is(nobody, NULL, "%s is nobody's run", slice);
                ok(!name_pool_from_unit(run), "%s is no pool", run);
        }
        ok(!name_pool_from_unit("cordon-pool.slice") &&
                   !name_pool_from_unit("cordon-pool-.slice") &&
                   !name_pool_from_unit("cordon-pool-a.service") &&
                   !name_pool_from_unit("cordon-a.slice"),
           "nor is what only looks like one");
}

/* Each of them is good, and the slice has room for 255 letters. */
static void test_both(void) {
        g_autoptr(GError) error = NULL;
        const char *dashes = "a------------------------------";
        g_autofree char *pattern = name_slice_pattern("my-run");
        g_autofree char *slice = name_slice("p", "my-run");
        g_autofree char *path = name_slice_path(slice);
        g_autofree char *outside = name_slice(NULL, "my-run");
        g_autofree char *alone = name_slice_path(outside);

        ok(name_pool_check(dashes, NULL) && name_id_check(dashes, NULL) &&
                   name_check_both(dashes, "short", NULL),
           "a long name of a pool does with a short id");
        ok(!name_check_both(dashes, dashes, &error) && error &&
                   g_pattern_match_simple(
                           "--pool: \"a-*\" and the id \"a-*\" are too long together *",
                           error->message),
           "two long ones do not fit into one name");
        is(pattern, "cordon-pool-*-my\\x2drun.slice", "a pattern finds it in whatever pool");
        is(slice, "cordon-pool-p-my\\x2drun.slice", "which is there");
        is(path, "cordon-pool.slice/cordon-pool-p.slice/cordon-pool-p-my\\x2drun.slice",
           "inside of the pool's");
        is(alone, "cordon-my\\x2drun.slice", "a run in no pool is in none");
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
        test_pools();
        test_both();
        test_random();
        done_testing();
}
