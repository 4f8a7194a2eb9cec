/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a run is held to, in words: of options as they are typed, and of what was found in force. */

#include <tap.h>

#include "launcher/bounds.h"
#include "launcher/request.h"

#define WORDS(...)  ((char *[]){ __VA_ARGS__, NULL })
#define AS_ASKED    (-1)
#define FOR_NOTHING (-2)

/* clang-format off */
static const struct {
        char **options;
        int limit;         /* of which something else was found */
        Effective found;
        const char *words;
        const char *unenforced; /* NULL: nothing */
} rows[] = {
        { WORDS("-q"), AS_ASKED, { 0 }, "no limits", NULL },
        { WORDS("--memory", "256M", "--timeout", "90"), AS_ASKED, { 0 }, "timeout=1m30s memory=256M swap=0", NULL },
        { WORDS("--memory", "infinity"), AS_ASKED, { 0 }, "no limits", NULL },
        { WORDS("--grace", "5s", "--core", "0"), AS_ASKED, { 0 }, "grace=5s core=0", NULL },
        { WORDS("--cpu", "1.5", "--cpus", "0,2-3"), AS_ASKED, { 0 }, "cpu=150% cpus=0,2-3", NULL },
        { WORDS("--memory", "1G"), LIMIT_MEMORY, { true, true, 256 << 20, false }, "memory=1G (256M in force) swap=0", NULL },
        { WORDS("--tasks", "9"), LIMIT_TASKS, { true, false, LIMIT_INFINITY, false }, "tasks=9 (not enforced)", NULL },
        { WORDS("--best-effort", "--tasks", "9"), LIMIT_TASKS, { true, false, LIMIT_INFINITY, false }, "tasks=9 (not enforced)", "--tasks" },
        { WORDS("--best-effort", "--cpus", "0"), LIMIT_CPUS, { true, false, 1, true },
          "cpus=0 (CPUAffinity, which the program can change)", "--cpus (CPUAffinity, which the program can change)" },
        { WORDS("--pool", "p"), AS_ASKED, { 0 }, "pool=p", NULL },
        { WORDS("--pool-memory", "1G", "--pool", "p", "--tasks", "9"), AS_ASKED, { 0 }, "pool=p tasks=9 pool-memory=1G pool-swap=0", NULL },
        { WORDS("--net", "none"), AS_ASKED, { 0 }, "no limits, net=none", NULL },
        { WORDS("--tasks", "9", "--private-tmp", "--fs", "strict"), AS_ASKED, { 0 }, "tasks=9, private-tmp fs=strict", NULL },
        { WORDS("--net", "allow=10.0.0.0/8"), AS_ASKED, { 0 }, "no limits, net=allow=10.0.0.0/8", NULL },
        { WORDS("--hide", "/b", "--ro", "/a", "--hide", "/c"), AS_ASKED, { 0 }, "no limits, ro=/a hide=/b hide=/c", NULL },
        { WORDS("--best-effort", "--tasks", "9", "--net", "none"), FOR_NOTHING, { 0 },
          "tasks=9, net=none (not enforced)", "--net" },
};
/* clang-format on */

/* As if everything had been found as it was asked for. */
static Readback read_back(const Spec *spec, int limit, Effective found) {
        Readback readback = { .is_read = true };

        for (int i = 0; i < _LIMIT_MAX; i++)
                readback.limits[i] = i == limit ? found
                                                : (Effective){ .is_known = true,
                                                               .is_enforced = true,
                                                               .effective = spec->limits.value[i] };
        for (int i = 0; i < _ISOLATION_MAX; i++)
                readback.isolation[i] = limit != FOR_NOTHING;
        return readback;
}

static void test_words(void) {
        char *const nothing[] = { NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(Options) options;
                g_autoptr(Spec) spec = NULL;
                Readback readback, unread = { 0 };

                options_init(&options);
                ok(options_parse(&options, rows[i].options, NULL), "these options: %s",
                   rows[i].words);
                spec = request_spec(&options, nothing);
                readback = read_back(spec, rows[i].limit, rows[i].found);

                g_autofree char *words = bounds_words(&options, spec, &readback);
                g_autofree char *unenforced = bounds_unenforced(&options, spec, &readback);

                is(words, rows[i].words, "are told");
                is(unenforced, rows[i].unenforced, "and what of them is not kept");
                is(bounds_unenforced(&options, spec, &unread), NULL, "which nobody knows before");
        }
}

int main(void) {
        plan(NO_PLAN);
        test_words();
        done_testing();
}
