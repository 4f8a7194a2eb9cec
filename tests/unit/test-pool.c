/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a pool says of itself, and who may join it. */

#include <tap.h>

#include "units/error.h"
#include "units/pool.h"

static void set_limits(const char *text, LimitSet *set) {
        g_auto(GStrv) words = g_strsplit(text, " ", -1);

        for (char **word = words; *word; word++) {
                g_auto(GStrv) pair = g_strsplit(*word, "=", 2);
                Limit limit = _LIMIT_MAX;

                if (!limit_from_key(pair[0], &limit) || !limit_set_parse(set, limit, pair[1], NULL))
                        BAIL_OUT("bad limits in a row: %s", text);
        }
}

/* clang-format off */
static const struct {
        const char *first, *next; /* limits of the run that starts it, and of one that comes later */
        const char *message;      /* NULL: that one may join */
} rows[] = {
        { "", "", NULL },
        { "pool-memory=1G pool-swap=0 pool-cpu=150% pool-tasks=64", "", NULL },
        { "pool-memory=1G pool-swap=0 pool-cpu=150% pool-tasks=64", "pool-tasks=64 pool-cpu=1.5", NULL },
        { "pool-memory=1G", "pool-memory=1024M", NULL },
        { "pool-memory=1G", "pool-memory=infinity", NULL },
        { "pool-memory=1G", "memory=2G tasks=3", NULL },
        { "pool-memory=1G", "pool-memory=2G", "--pool-memory: 2G is asked for, but pool \"b\" was started with 1G; *" },
        { "pool-memory=2G", "pool-memory=1G", "--pool-memory: 1G is asked for, but pool \"b\" was started with 2G; *" },
        { "", "pool-memory=1G", "--pool-memory: 1G is asked for, but pool \"b\" was started with none; *" },
        { "pool-memory=1G", "pool-tasks=4", "--pool-tasks: 4 is asked for, but pool \"b\" was started with none; *" },
        { "pool-tasks=64", "pool-tasks=6", "--pool-tasks: 6 is asked for, but pool \"b\" was started with 64; *" },
        { "memory=1G", "pool-memory=1G", "--pool-memory: 1G is asked for, but pool \"b\" was started with none; *" },
};
/* clang-format on */

static void test_rows(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(LimitSet) first = { 0 };
                g_auto(LimitSet) next = { 0 };
                g_autoptr(GError) error = NULL;
                g_autofree char *description = NULL;
                bool may;

                set_limits(rows[i].first, &first);
                set_limits(rows[i].next, &next);
                description = pool_describe("b", &first);
                may = pool_check_limits("b", description, &next, &error);
                ok(pool_is_described("b", description), "%s is one of pool b", description);
                ok(may == !rows[i].message, "[%s] joins %s, or not", rows[i].next, description);
                if (!rows[i].message)
                        continue;
                ok(g_error_matches(error, UNITS_ERROR, UNITS_ERROR_UNENFORCEABLE), "the code");
                if (!ok(error && g_pattern_match_simple(rows[i].message, error->message),
                        "the words name both"))
                        diag("%s", error ? error->message : "no error");
        }
}

static void test_strangers(void) {
        static const char *const others[] = { "",
                                              "Slice /cordon/pool/b",
                                              "cordon-pool-b.slice",
                                              "Pool bb of cordon",
                                              "Pool b of cordonx",
                                              "Pool b",
                                              "Sandboxes of cordon" };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                ok(!pool_is_described("b", others[i]), "\"%s\" is no description of pool b",
                   others[i]);
}

int main(void) {
        plan(NO_PLAN);
        test_rows();
        test_strangers();
        done_testing();
}
