/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The limit table has no hole and no double, each row parses, refuses and formats, and refusals say it in one line. */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tap.h>

#include <glib.h>

#include "units/error.h"
#include "units/limit.h"

#define MIB (UINT64_C(1) << 20)
#define SEC UINT64_C(1000000)

/* clang-format off */
static const struct {
        const char *message; /* the refusal; NULL: accepted */
        Limit limit;
        const char *text;
        uint64_t value;
} texts[] = {
        /* one accepted line a limit, as CONTRACT writes it */
        { NULL, LIMIT_TIMEOUT, "30s", 30 * SEC },
        { NULL, LIMIT_GRACE, "5s", 5 * SEC },
        { NULL, LIMIT_MEMORY, "256M", 256 * MIB },
        { NULL, LIMIT_SWAP, "0", 0 },
        { NULL, LIMIT_MEMORY_HIGH, "200M", 200 * MIB },
        { NULL, LIMIT_ADDRESS_SPACE, "1G", 1024 * MIB },
        { NULL, LIMIT_CPU, "150%", 1500000 },
        { NULL, LIMIT_CPU_TIME, "10s", 10 * SEC },
        { NULL, LIMIT_TASKS, "64", 64 },
        { NULL, LIMIT_FSIZE, "50M", 50 * MIB },
        { NULL, LIMIT_NOFILE, "64", 64 },
        { NULL, LIMIT_STACK, "8M", 8 * MIB },
        { NULL, LIMIT_CORE, "0", 0 },
        { NULL, LIMIT_CPUS, "0,2-3", 3 },
        { NULL, LIMIT_DISK, "1G", 1024 * MIB }, { NULL, LIMIT_DISK, "0", 0 }, { NULL, LIMIT_DISK, "infinity", LIMIT_INFINITY },
        { NULL, LIMIT_OUTPUT, "1M", MIB },
        { NULL, LIMIT_OUTPUT, "256M", 256 * MIB },
        /* the launcher holds it, so that there is an end */
        { NULL, LIMIT_OUTPUT, "infinity", 256 * MIB },
        { "--output: \"257M\" is out of range; accepted: 0 to 256M, or infinity", LIMIT_OUTPUT, "257M", 0 },
        /* 0 where it makes sense */
        { NULL, LIMIT_GRACE, "0", 0 }, { NULL, LIMIT_FSIZE, "0", 0 }, { NULL, LIMIT_OUTPUT, "0", 0 },
        { NULL, LIMIT_CPUS, "0", 1 }, { NULL, LIMIT_CPU, "1.5", 1500000 },
        { NULL, LIMIT_MEMORY, "infinity", LIMIT_INFINITY },
        { NULL, LIMIT_CPUS, "infinity", LIMIT_INFINITY },
        { NULL, LIMIT_GRACE, "infinity", LIMIT_INFINITY },
        /* … and where not */
        { "--timeout: \"0\" is out of range; accepted: 1ms to 36500d, or infinity", LIMIT_TIMEOUT, "0", 0 },
        { "--cpu-time: \"0s\" is out of range; accepted: 1ms to 36500d, or infinity", LIMIT_CPU_TIME, "0s", 0 },
        { "--memory: \"0\" is out of range; accepted: *M to 8192T, or infinity", LIMIT_MEMORY, "0", 0 },
        { "--cpu: \"0%\" is out of range; accepted: 1% to 819200%, or infinity", LIMIT_CPU, "0%", 0 },
        { "--tasks: \"0\" is out of range; accepted: 1 to 4194304, or infinity", LIMIT_TASKS, "0", 0 },
        /* the words, by what is counted */
        { "--memory: \"12Q\" is not a size; accepted: a number with B, K, M, G or T (1024-based), or infinity",
          LIMIT_MEMORY, "12Q", 0 },
        { "--timeout: \"-5s\" is not a duration; accepted: seconds, or numbers with ms, s, m (min), h, d such as "
          "1m30s or 250ms, or infinity", LIMIT_TIMEOUT, "-5s", 0 },
        { "--tasks: \"1.5\" is not a count; accepted: a whole number, or infinity", LIMIT_TASKS, "1.5", 0 },
        { "--cpu: \"fast\" is not a CPU share; accepted: percent of one CPU such as 150%, or CPUs such as 1.5, "
          "or infinity", LIMIT_CPU, "fast", 0 },
        { "--cpus: \"3-2\" is not a CPU list; accepted: CPU numbers and ranges such as 0,2-3, or infinity",
          LIMIT_CPUS, "3-2", 0 },
        { "--cpus: \"8192\" is out of range; accepted: CPUs 0 to 8191, or infinity", LIMIT_CPUS, "8192", 0 },
        { "--memory: \"\" is not a size; *", LIMIT_MEMORY, "", 0 },
        { "--memory: \"Infinity\" is not a size; *", LIMIT_MEMORY, "Infinity", 0 },
        { "--memory: \"max\" is not a size; *", LIMIT_MEMORY, "max", 0 },
        { "--memory: \"18446744073709551615\" is out of range; *", LIMIT_MEMORY, "18446744073709551615", 0 },
        { "--memory: \"16777216T\" is out of range; *", LIMIT_MEMORY, "16777216T", 0 },
        { "--swap: \"0.1\" is out of range; *", LIMIT_SWAP, "0.1", 0 },
        { "--core: \"-1\" is not a size; *", LIMIT_CORE, "-1", 0 },
        { "--nofile: \"2\" is out of range; *", LIMIT_NOFILE, "2", 0 },
        { "--memory: \"1\\x0a2\" is not a size; *", LIMIT_MEMORY, "1\n2", 0 },
        { "--memory: \"\\xff\" is not a size; *", LIMIT_MEMORY, "\xff", 0 },
        { "--memory: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\" is not a size; *",
          LIMIT_MEMORY, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0 },
};

static const struct {
        const char *message;
        Limit limit;
        double number;
        uint64_t value;
} numbers[] = {
        { NULL, LIMIT_MEMORY, 268435456, 268435456 },
        { NULL, LIMIT_TIMEOUT, 0.1, 100000 }, { NULL, LIMIT_TIMEOUT, 0.3, 300000 },
        { NULL, LIMIT_TIMEOUT, 4.35, 4350000 }, { NULL, LIMIT_TIMEOUT, 1e3, 1000 * SEC },
        { NULL, LIMIT_TIMEOUT, 0.001, 1000 }, { NULL, LIMIT_GRACE, 1e-5, 10 }, { NULL, LIMIT_GRACE, 3e-6, 3 },
        { NULL, LIMIT_GRACE, 0, 0 }, { NULL, LIMIT_GRACE, -0.0, 0 }, { NULL, LIMIT_GRACE, 12.25, 12250000 },
        { NULL, LIMIT_CPU, 1.5, 1500000 }, { NULL, LIMIT_CPU, 0.07, 70000 },
        { NULL, LIMIT_TASKS, 64, 64 }, { NULL, LIMIT_CPUS, 3, 1 },
        { NULL, LIMIT_SWAP, 9007199254740992.0, UINT64_C(1) << 53 },
        { NULL, LIMIT_SWAP, 9007199254740991.0, (UINT64_C(1) << 53) - 1 },
        { NULL, LIMIT_SWAP, 123456789012345680.0 / 1024, UINT64_C(120563270519868) },
        { "--tasks: \"1.5\" is not a count; *", LIMIT_TASKS, 1.5, 0 },
        { "--memory: \"-1\" is not a size; *", LIMIT_MEMORY, -1, 0 },
        { "--memory: \"nan\" is not a size; *", LIMIT_MEMORY, (double)NAN, 0 },
        { "--memory: \"inf\" is not a size; *", LIMIT_MEMORY, (double)INFINITY, 0 },
        { "--memory: \"1000000000000000000000000000000000000000\" is out of range; *", LIMIT_MEMORY, 1e39, 0 },
        { "--memory: \"100000000000000000000000000000000000000…\" is out of range; *", LIMIT_MEMORY, 1e300, 0 },
        { "--swap: \"9007199254740994\" is out of range; *", LIMIT_SWAP, 9007199254740994.0, 0 },
        { "--timeout: \"0.0000001\" is out of range; *", LIMIT_TIMEOUT, 1e-7, 0 },
        { "--timeout: \"0\" is out of range; *", LIMIT_TIMEOUT, 0, 0 },
};
/* clang-format on */

static void check(bool is_set, const LimitSet *set, Limit limit, uint64_t value,
                  const char *pattern, const GError *error, const char *what) {
        const char *key = limit_info(limit)->key;

        if (!pattern) {
                ok(is_set, "%s accepts %s", key, what);
                cmp_ok(set->value[limit], "==", value, "%s %s is %" PRIu64, key, what, value);
                ok(set->is_set[limit] && !error, "%s %s is set", key, what);
                return;
        }

        ok(!is_set && error, "%s refuses %s", key, what);
        ok(error && g_pattern_match_simple(pattern, error->message), "%s refuses %s in words", key,
           what);
        if (error && !g_pattern_match_simple(pattern, error->message))
                diag("it says: %s", error->message);
        ok(g_error_matches(error, UNITS_ERROR,
                           strstr(pattern, "is not a") ? UNITS_ERROR_BAD_VALUE
                                                       : UNITS_ERROR_OUT_OF_RANGE),
           "%s refuses %s with the right code", key, what);
        ok(error && !strchr(error->message, '\n') && g_utf8_validate(error->message, -1, NULL),
           "%s refuses %s in one line", key, what);
        ok(!set->is_set[limit] && set->value[limit] == 0,
           "%s: a refused %s leaves the set as it was", key, what);
}

static void test_texts(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_auto(LimitSet) set = { 0 };
                g_autoptr(GError) error = NULL;
                g_autofree char *what = g_strescape(texts[i].text, NULL);
                bool is_set = limit_set_parse(&set, texts[i].limit, texts[i].text, &error);

                check(is_set, &set, texts[i].limit, texts[i].value, texts[i].message, error, what);
        }
}

static void test_numbers(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
                g_auto(LimitSet) set = { 0 };
                g_autoptr(GError) error = NULL;
                g_autofree char *what = g_strdup_printf("the number %g", numbers[i].number);
                bool is_set = limit_set_number(&set, numbers[i].limit, numbers[i].number, &error);

                check(is_set, &set, numbers[i].limit, numbers[i].value, numbers[i].message, error,
                      what);
        }
}

/* What a JSON reader makes of up to six decimals is what the same text is on the command line. */
static void test_numbers_mean_their_text(void) {
        size_t n_wrong = 0;

        for (uint64_t i = 1000; i < 3000000; i += 97) {
                g_auto(LimitSet) by_text = { 0 };
                g_auto(LimitSet) by_number = { 0 };
                g_autofree char *text = g_strdup_printf("%" PRIu64 ".%06" PRIu64, i / SEC, i % SEC);

                if (!limit_set_parse(&by_text, LIMIT_TIMEOUT, text, NULL) ||
                    !limit_set_number(&by_number, LIMIT_TIMEOUT, g_ascii_strtod(text, NULL),
                                      NULL) ||
                    by_text.value[LIMIT_TIMEOUT] != by_number.value[LIMIT_TIMEOUT] ||
                    by_text.value[LIMIT_TIMEOUT] != i)
                        n_wrong++;
        }

        cmp_ok(n_wrong, "==", 0, "a number means what its text means");
}

static void test_row(Limit limit) {
        const LimitInfo *info = limit_info(limit);
        Limit found = _LIMIT_MAX;

        ok(info->key && *info->key, "limit %d has a key", (int)limit);
        ok(limit_from_key(info->key, &found) && found == limit, "%s is found by its key, alone",
           info->key);
        ok(info->help && *info->help && g_utf8_strlen(info->help, -1) <= 60,
           "%s has help of one line", info->key);
        ok(info->value_name && *info->value_name, "%s names its value", info->key);
        ok(info->min < info->max && info->max < LIMIT_INFINITY, "%s has bounds", info->key);
        ok((info->property != NULL) == (info->encoding != LIMIT_ENCODING_NONE),
           "%s has a property if it is encoded as one", info->key);
        ok((info->readback_name != NULL) == (info->readback == LIMIT_READBACK_CGROUP ||
                                             info->readback == LIMIT_READBACK_MANAGER),
           "%s says where to read back", info->key);
        ok((info->carrier == LIMIT_ON_SLICE || info->carrier == LIMIT_ON_POOL) ==
                   (info->readback == LIMIT_READBACK_CGROUP),
           "%s: what a slice carries is read back from its cgroup", info->key);
        ok((info->encoding == LIMIT_ENCODING_RLIMIT) == (info->readback == LIMIT_READBACK_RLIMIT),
           "%s: an rlimit is read back as one", info->key);
        ok(info->default_when == LIMIT_DEFAULT_NONE ||
                   (info->default_value >= info->min && info->default_value <= info->max),
           "%s: the default is within the bounds", info->key);
}

/* Both ends of the range are accepted, as the refusal promises; what lies behind them is not. */
static void test_bounds(Limit limit) {
        const LimitInfo *info = limit_info(limit);
        uint64_t bounds[] = { info->min, info->max };

        if (info->unit == LIMIT_UNIT_CPU_LIST)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(bounds); i++) {
                g_auto(LimitSet) set = { 0 };
                g_autofree char *text = limit_format(limit, bounds[i]);

                ok(limit_set_parse(&set, limit, text, NULL) && set.value[limit] == bounds[i],
                   "%s takes its bound %s", info->key, text);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(bounds); i++) {
                g_auto(LimitSet) set = { 0 };
                g_autofree char *text = limit_format(limit, i == 0 ? bounds[i] - 1 : bounds[i] + 1);

                ok((i == 0 && bounds[i] == 0) || !limit_set_parse(&set, limit, text, NULL),
                   "%s refuses %s", info->key, text);
        }
}

static void test_round_trip(Limit limit) {
        const LimitInfo *info = limit_info(limit);
        size_t n_wrong = 0;

        if (info->unit == LIMIT_UNIT_CPU_LIST)
                return;

        for (uint64_t value = info->max; value > info->min; value = value / 7 * 6) {
                g_auto(LimitSet) set = { 0 };
                g_autofree char *text = limit_format(limit, value);

                if (!limit_set_parse(&set, limit, text, NULL) || set.value[limit] != value)
                        n_wrong++;
        }

        cmp_ok(n_wrong, "==", 0, "%s reads what it formats", info->key);
}

static void test_infinity(Limit limit) {
        g_auto(LimitSet) set = { 0 };
        g_autofree char *text = NULL;

        ok(!limit_set_is_limited(&set, limit), "%s is not limited at first",
           limit_info(limit)->key);
        ok(limit_set_parse(&set, limit, "infinity", NULL) && set.is_set[limit] &&
                   limit_set_is_limited(&set, limit) == limit_info(limit)->is_never_lifted,
           "%s infinity is set and no limit, where there can be none", limit_info(limit)->key);
        if (limit_info(limit)->is_never_lifted)
                return;
        text = limit_set_format(&set, limit);
        is(text, "infinity", "%s infinity is written so", limit_info(limit)->key);
}

static void test_keys(void) {
        Limit limit = _LIMIT_MAX;

        ok(!limit_from_key("disc", &limit) && !limit_from_key("", &limit) &&
                   !limit_from_key(NULL, &limit) && !limit_from_key("Memory", &limit) &&
                   !limit_from_key("memory-", &limit),
           "an unknown key is unknown");
        cmp_ok(limit, "==", _LIMIT_MAX, "and leaves the result alone");
}

static void test_defaults(void) {
        g_auto(LimitSet) plain = { 0 };
        g_auto(LimitSet) memory = { 0 };
        g_auto(LimitSet) pooled = { 0 };
        g_auto(LimitSet) lifted = { 0 };
        g_auto(LimitSet) asked = { 0 };

        limit_set_apply_defaults(&plain);
        ok(plain.is_set[LIMIT_CORE] && plain.value[LIMIT_CORE] == 0, "core is 0 by default");
        cmp_ok(plain.value[LIMIT_GRACE], "==", 5 * SEC, "grace is 5 s by default");
        ok(!plain.is_set[LIMIT_SWAP] && !plain.is_set[LIMIT_OUTPUT], "and nothing else is limited");
        for (int i = 0; i < _LIMIT_MAX; i++)
                ok(plain.is_set[i] == (i == LIMIT_CORE || i == LIMIT_GRACE), "default of %s",
                   limit_info((Limit)i)->key);
        limit_set_apply_capture_default(&plain);
        cmp_ok(plain.value[LIMIT_OUTPUT], "==", MIB, "output is 1M when capturing");

        ok(limit_set_parse(&memory, LIMIT_MEMORY, "64M", NULL), "memory is set");
        limit_set_apply_defaults(&memory);
        ok(memory.is_set[LIMIT_SWAP] && memory.value[LIMIT_SWAP] == 0, "memory brings swap 0");

        ok(!memory.is_set[LIMIT_POOL_SWAP], "and none for its pool");
        ok(limit_set_parse(&pooled, LIMIT_POOL_MEMORY, "64M", NULL), "the pool's memory is set");
        limit_set_apply_defaults(&pooled);
        ok(pooled.is_set[LIMIT_POOL_SWAP] && pooled.value[LIMIT_POOL_SWAP] == 0 &&
                   !pooled.is_set[LIMIT_SWAP],
           "it brings swap 0 for the pool, not for the run");

        ok(limit_set_parse(&lifted, LIMIT_MEMORY, "infinity", NULL), "memory is lifted");
        limit_set_apply_defaults(&lifted);
        ok(!lifted.is_set[LIMIT_SWAP], "lifted memory brings no swap limit");

        ok(limit_set_parse(&asked, LIMIT_MEMORY, "64M", NULL) &&
                   limit_set_parse(&asked, LIMIT_SWAP, "1M", NULL) &&
                   limit_set_parse(&asked, LIMIT_GRACE, "0", NULL) &&
                   limit_set_parse(&asked, LIMIT_CORE, "infinity", NULL) &&
                   limit_set_parse(&asked, LIMIT_OUTPUT, "5", NULL),
           "what has defaults is set");
        limit_set_apply_defaults(&asked);
        limit_set_apply_defaults(&asked);
        limit_set_apply_capture_default(&asked);
        ok(asked.value[LIMIT_SWAP] == MIB && asked.value[LIMIT_GRACE] == 0 &&
                   asked.value[LIMIT_CORE] == LIMIT_INFINITY && asked.value[LIMIT_OUTPUT] == 5,
           "what was asked wins, also the second time");
}

static void test_cpus(void) {
        g_auto(LimitSet) set = { 0 };
        g_auto(LimitSet) copy = { 0 };
        g_autofree char *text = NULL, *copied = NULL;

        ok(limit_set_parse(&set, LIMIT_CPUS, "5", NULL) &&
                   limit_set_parse(&set, LIMIT_CPUS, "0,2-3", NULL),
           "the last list wins");
        ok(!limit_set_parse(&set, LIMIT_CPUS, "1,", NULL), "a bad list is refused");
        text = cpu_list_format(&set.cpus);
        is(text, "0,2-3", "and leaves the list as it was");

        ok(limit_set_parse(&copy, LIMIT_CPUS, "9", NULL), "a set has a list");
        limit_set_copy(&set, &copy);
        copied = limit_set_format(&copy, LIMIT_CPUS);
        is(copied, "0,2-3", "a copied set has the other's list");
        ok(copy.cpus.bytes != set.cpus.bytes, "of its own");
        ok(limit_set_parse(&copy, LIMIT_CPUS, "infinity", NULL) && copy.cpus.size == 0 &&
                   !copy.cpus.bytes,
           "infinity has no list");
}

static void test_cpu_lists(void) {
        static const struct {
                const char *inner, *outer;
                uint64_t count; /* of the inner one */
                bool is_within;
        } lists[] = {
                { "0", "0", 1, true },         { "0", "0-1", 1, true },
                { "0-1", "0", 2, false },      { "1", "0", 1, false },
                { "0,2-3,9", "0-9", 4, true }, { "0,9", "0-7", 2, false },
                { "8191", "0-8191", 1, true },
        };
        static const CpuList none = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
                g_auto(CpuList) inner = { 0 };
                g_auto(CpuList) outer = { 0 };

                ok(cpu_list_parse(lists[i].inner, &inner) && cpu_list_parse(lists[i].outer, &outer),
                   "%s and %s are lists", lists[i].inner, lists[i].outer);
                cmp_ok(cpu_list_count(&inner), "==", lists[i].count, "CPUs in %s", lists[i].inner);
                cmp_ok(cpu_list_is_within(&inner, &outer), "==", lists[i].is_within,
                       "is %s within %s", lists[i].inner, lists[i].outer);
                ok(!cpu_list_is_within(&none, &outer), "no CPU is within nothing");
        }
}

/* Help shows both in one line behind the value's name. */
static void test_units(void) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                const LimitInfo *info = limit_info((Limit)i);
                const LimitUnitInfo *unit = limit_unit_info(info->unit);
                size_t length = strlen(unit->accepted) + strlen(unit->example ?: "");

                ok(length > 0 && length < 70, "%s has a grammar of one line", info->key);
                for (int j = 0; j < i; j++)
                        if (limit_info((Limit)j)->unit == info->unit)
                                is(limit_info((Limit)j)->value_name, info->value_name,
                                   "%s names its value as %s does", info->key,
                                   limit_info((Limit)j)->key);
        }
}

int main(void) {
        plan(NO_PLAN);
        test_cpu_lists();
        test_units();
        for (int i = 0; i < _LIMIT_MAX; i++) {
                test_row((Limit)i);
                test_bounds((Limit)i);
                test_round_trip((Limit)i);
                test_infinity((Limit)i);
        }
        test_keys();
        test_texts();
        test_numbers();
        test_numbers_mean_their_text();
        test_defaults();
        test_cpus();
        done_testing();
}
