/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The schemas say what the tables say: each row of a table is in them, and nothing that is no row. */

#include <inttypes.h>
#include <string.h>
#include <tap.h>

#include "dbus/error.h"
#include "launcher/batch/ledger.h"
#include "launcher/kernel/error.h"
#include "launcher/manager/door.h"
#include "launcher/manager/error.h"
#include "launcher/options.h"
#include "launcher/shortfall.h"
#include "schema.h"
#include "units/cause.h"
#include "units/error.h"
#include "units/isolation.h"
#include "units/parse.h"
#include "units/untrusted.h"
#include "units/verdict.h"

#define CODES_MAX  64
#define ERRNO_MAX  256
#define EPSILON    1e-9
#define OWN_KEYS   4 /* of a job: command, env, labels, limits */
#define TYPE_OF(x) "#/properties/" x

static Schema *record, *job;

static Schema *read_schema(const char *text, const char *name) {
        g_autofree char *fault = NULL;
        Schema *schema = schema_new(text, &fault);

        if (!schema)
                BAIL_OUT("the schema of a %s: %s", name, fault);
        return schema;
}

/* Sets of words */

static void add(GPtrArray *words, const char *word) {
        if (word && !g_ptr_array_find_with_equal_func(words, word, g_str_equal, NULL))
                g_ptr_array_add(words, (char *)word);
}

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(GPtrArray *words) {
        g_ptr_array_sort(words, compare);
        g_ptr_array_add(words, NULL);
        return g_strjoinv(" ", (char **)words->pdata);
}

/* The words of an array, or the keys of an object. */
static GPtrArray *words_of(const cJSON *list) {
        GPtrArray *words = g_ptr_array_new();

        for (const cJSON *one = list ? list->child : NULL; one; one = one->next)
                add(words, cJSON_IsObject(list) ? one->string : one->valuestring);
        return words;
}

static void same(const cJSON *list, GPtrArray *expected, const char *name) {
        g_autoptr(GPtrArray) words = words_of(list);
        g_autofree char *got = sorted(words), *wanted = sorted(expected);

        is(got, wanted, "%s", name);
        g_ptr_array_unref(expected);
}

static const cJSON *at(const Schema *schema, const char *format, ...) G_GNUC_PRINTF(2, 3);

static const cJSON *at(const Schema *schema, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_autofree char *pointer = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        return schema_at(schema, pointer);
}

/* Of the conditions: what holds where the outcome is this. */
static const cJSON *codes_of(const char *outcome) {
        const cJSON *conditions = schema_at(record, "#/allOf");

        for (int i = 0; i < cJSON_GetArraySize(conditions); i++) {
                const cJSON *word = at(record, "#/allOf/%d/if/properties/outcome/const", i);
                const cJSON *codes = at(record,
                                        "#/allOf/%d/then/properties/error/properties/code/enum", i);

                if (codes && g_strcmp0(cJSON_GetStringValue(word), outcome) == 0)
                        return codes;
        }
        return NULL;
}

/* Limits */

static void test_limit_of_record(Limit limit) {
        const LimitInfo *info = limit_info(limit);
        const cJSON *by = at(record, "#/properties/limits/properties/%s/properties/by", info->key);
        const cJSON *minimum = at(record,
                                  "#/properties/limits/properties/%s/properties/requested/minimum",
                                  info->key);
        g_autofree char *name = g_strdup_printf("record: %s is carried by", info->key);
        GPtrArray *carriers = g_ptr_array_new();

        add(carriers, info->property);
        add(carriers, info->stand_in);
        if (limit_rlimit(limit) >= 0)
                add(carriers, "setrlimit");
        if (carriers->len == 0)
                ok(cJSON_IsFalse(by), "record: %s is carried by nobody", info->key);
        same(cJSON_GetObjectItemCaseSensitive(by, "enum"), carriers, name);
        ok((uint64_t)(minimum ? minimum->valuedouble : 0) == info->min,
           "record: %s is at least %" PRIu64, info->key, info->min);
}

/* What a number of the job's is counted in. */
static const struct {
        const char *definition;
        double scale;
} unit_words[] = {
        [LIMIT_UNIT_USEC] = { "#/$defs/time", 1e6 },
        [LIMIT_UNIT_BYTES] = { "#/$defs/size", 1 },
        [LIMIT_UNIT_COUNT] = { "#/$defs/count", 1 },
        [LIMIT_UNIT_CPU_SHARE] = { "#/$defs/share", 1e6 },
        [LIMIT_UNIT_CPU_LIST] = { "#/$defs/list", 1 },
};

static bool is_number(const cJSON *value, double expected) {
        return value && value->valuedouble - expected < EPSILON &&
               expected - value->valuedouble < EPSILON;
}

static void test_limit_of_job(Limit limit) {
        const LimitInfo *info = limit_info(limit);
        bool is_list = info->unit == LIMIT_UNIT_CPU_LIST; /* a number is a CPU there, no amount */
        double scale = unit_words[info->unit].scale;
        const cJSON *row = at(job, "#/properties/limits/properties/%s", info->key);

        is(cJSON_GetStringValue(cJSON_GetObjectItem(row, "$ref")),
           unit_words[info->unit].definition, "job: %s is of its unit", info->key);
        ok(is_number(cJSON_GetObjectItem(row, "minimum"), is_list ? 0 : (double)info->min / scale),
           "job: %s has its least", info->key);
        ok(is_number(cJSON_GetObjectItem(row, "maximum"),
                     is_list ? PARSE_CPU_MAX : (double)info->max / scale),
           "job: %s has its most", info->key);
}

static GPtrArray *limit_keys(void) {
        GPtrArray *keys = g_ptr_array_new();

        for (int i = 0; i < _LIMIT_MAX; i++)
                add(keys, limit_info((Limit)i)->key);
        return keys;
}

static void test_limits(void) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                test_limit_of_record((Limit)i);
                test_limit_of_job((Limit)i);
        }
        same(schema_at(record, "#/properties/limits/properties"), limit_keys(), "record: limits");
        same(schema_at(job, "#/properties/limits/properties"), limit_keys(), "job: limits");
}

/* Whatever is no value of a limit is none for the schema; what is too much or too little for this one may be. */
static void test_values(void) {
        static const char *const texts[] = {
                "",     "0",     "1",        "1.5",      ".5",        "1.",    ".",      "-1",
                "+1",   "1e3",   "5K",       "5k",       "5KB",       "5kib",  "5iB",    "5B",
                "1.5G", "7TiB",  "5 K",      "5KK",      "1s",        "1ms",   "1m30s",  "1min",
                "1m",   "1h",    "2d12h",    "30s1m",    "1s1s",      "1.5h",  "1m1min", "S",
                "1S",   "150%",  "1.5%",     "%",        "0-3",       "0,2-3", "1,",     ",1",
                "1-",   "0,,1",  "infinity", "Infinity", " infinity", "1 ",    "1\n",    "a",
                "0x10", "1_000",
        };

        for (int i = 0; i < _LIMIT_MAX; i++)
                for (size_t j = 0; j < G_N_ELEMENTS(texts); j++) {
                        const LimitInfo *info = limit_info((Limit)i);
                        cJSON *value = cJSON_CreateString(texts[j]);
                        g_autofree char *pointer = g_strdup_printf(
                                "#/properties/limits/properties/%s", info->key);
                        g_autofree char *faults = schema_faults_at(job, pointer, value,
                                                                   SCHEMA_OPEN);
                        g_autoptr(GError) error = NULL;
                        LimitSet set = { 0 };
                        bool is_taken = limit_set_parse(&set, (Limit)i, texts[j], &error) ||
                                        error->code == UNITS_ERROR_OUT_OF_RANGE;

                        ok(is_taken == !faults, "job: %s of \"%s\" is %s", info->key, texts[j],
                           is_taken ? "a value" : "none");
                        limit_set_clear(&set);
                        cJSON_Delete(value);
                }
}

/* Outcomes and codes */

/* Likewise: the outcomes that have exhausted something. */
static const cJSON *exhausted_of(void) {
        const cJSON *conditions = schema_at(record, "#/allOf");

        for (int i = 0; i < cJSON_GetArraySize(conditions); i++)
                if (at(record, "#/allOf/%d/then/properties/resource_exhausted", i))
                        return at(record, "#/allOf/%d/if/properties/outcome/enum", i);
        return NULL;
}

static void test_outcomes(void) {
        GPtrArray *all = g_ptr_array_new(), *exhausted = g_ptr_array_new();

        for (int i = 0; i < _OUTCOME_MAX; i++) {
                add(all, outcome_info((Outcome)i)->word);
                if (outcome_info((Outcome)i)->is_exhausted)
                        add(exhausted, outcome_info((Outcome)i)->word);
        }
        same(schema_at(record, TYPE_OF("outcome") "/enum"), all, "outcomes");
        same(exhausted_of(), exhausted, "outcomes that have exhausted something");
}

static void add_words_of_domain(GPtrArray *codes, GQuark domain) {
        for (int code = 0; code < CODES_MAX; code++) {
                g_autoptr(GError) error = g_error_new_literal(domain, code, "");

                add(codes, launcher_error_word(error));
        }
}

/* Where nobody gave a code. */
static void add_own_code(GPtrArray *codes, GPtrArray *owned, const Facts *facts) {
        g_auto(Verdict) verdict = { 0 };

        cause_decide(facts, "x", &verdict);
        g_ptr_array_add(owned, g_strdup(verdict.error_code));
        add(codes, owned->pdata[owned->len - 1]);
}

static void test_codes(void) {
        const GQuark domains[] = { LAUNCHER_ERROR, UNITS_ERROR, DBUS_ERROR, MANAGER_ERROR,
                                   G_FILE_ERROR };
        GPtrArray *refused = g_ptr_array_new(), *unstarted = g_ptr_array_new(),
                  *lost = g_ptr_array_new();
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_auto(Facts) facts = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(domains); i++)
                add_words_of_domain(refused, domains[i]);
        add(refused, LEDGER_DUPLICATE);
        facts_init(&facts);
        facts.stage = STAGE_REFUSED;
        add_own_code(refused, owned, &facts);
        same(codes_of("refused"), refused, "codes of refused");

        for (int number = 0; number < ERRNO_MAX; number++)
                add(unstarted, exec_failure(number)->code);
        facts.stage = STAGE_NOT_EXECUTED;
        add_own_code(unstarted, owned, &facts);
        same(codes_of("not-started"), unstarted, "codes of not-started");

        facts.is_lost = true;
        add_own_code(lost, owned, &facts);
        same(codes_of("lost"), lost, "codes of lost");
}

/* Isolation, and what it leaves */

static void test_isolation(void) {
        GPtrArray *keys = g_ptr_array_new(), *residuals = g_ptr_array_new();

        for (int i = 0; i < _ISOLATION_MAX; i++) {
                const char *key = isolation_info((Isolation)i)->key;
                IsolationSet allowing = { .allow = i == ISOLATION_NET ? allow_parse("::1", NULL)
                                                                      : NULL };
                GPtrArray *carriers = g_ptr_array_new();

                add(keys, key);
                add(carriers, isolation_info((Isolation)i)->by);
                add(carriers, isolation_by(&allowing, (Isolation)i));
                add(carriers, i == ISOLATION_NET ? "network namespace" : "mount namespace");
                add(carriers, "Landlock");
                same(at(record, "#/properties/isolation/properties/%s/properties/by/enum", key),
                     carriers, key);
                isolation_set_clear(&allowing);
        }
        same(schema_at(record, "#/properties/isolation/properties"), keys, "isolation");
        for (int i = 0; i < _RESIDUAL_MAX; i++)
                add(residuals, untrusted_residual_info((UntrustedResidual)i)->word);
        same(schema_at(
                     record,
                     "#/properties/isolation/properties/untrusted/properties/residuals/items/enum"),
             residuals, "residuals");
}

static void test_words(void) {
        GPtrArray *shortfalls = g_ptr_array_new(), *managers = g_ptr_array_new();

        for (size_t i = 0; shortfall_at(i); i++)
                add(shortfalls, shortfall_at(i)->key);
        same(schema_at(record, TYPE_OF("not_passed_on") "/items/enum"), shortfalls,
             "what is not passed on");
        add(managers, manager_kind_word(MANAGER_SYSTEM));
        add(managers, manager_kind_word(MANAGER_USER));
        add(managers, manager_kind_word(MANAGER_PRIVATE));
        same(schema_at(record, TYPE_OF("manager") "/enum"), managers, "managers");
}

/* Keys of jobs */

/* "main|tree": nothing but these words. */
static bool is_choice(const char *value_name) {
        return strchr(value_name, '|') &&
               strspn(value_name, "abcdefghijklmnopqrstuvwxyz-|") == strlen(value_name);
}

static const char *type_of(const OptionInfo *info) {
        if (!info->value_name)
                return "\"boolean\"";
        if (info->flags & OPTION_REPEATABLE)
                return "[\"string\",\"array\"]";
        return info->flags & OPTION_COUNT ? "[\"string\",\"integer\"]" : "\"string\"";
}

static void test_key(const OptionInfo *info) {
        const cJSON *row = at(job, "#/properties/%s", info->name);
        const cJSON *ref = cJSON_GetObjectItem(row, "$ref");
        const cJSON *type = cJSON_GetObjectItem(ref ? schema_at(job, ref->valuestring) : row,
                                                "type");
        g_autofree char *said = type ? cJSON_PrintUnformatted(type) : NULL;

        if (!info->value_name || !is_choice(info->value_name)) {
                is(said, type_of(info), "job: %s has its type", info->name);
                return;
        }

        g_auto(GStrv) words = g_strsplit(info->value_name, "|", -1);
        GPtrArray *expected = g_ptr_array_new();

        for (char **word = words; *word; word++)
                add(expected, *word);
        same(cJSON_GetObjectItem(row, "enum"), expected, info->name);
}

/* What the jobs of a verb have not of those of run. */
static void test_verb(const char *verb, const char *const *besides) {
        GPtrArray *missing = g_ptr_array_new();
        g_autoptr(GPtrArray) closed = g_ptr_array_new();
        const cJSON *rows = at(job, "#/$defs/%s/properties", verb);
        g_autofree char *name = g_strdup_printf("job: what cordon %s does not take", verb);

        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *info = option_at(i);
                const cJSON *limit = at(job, "#/$defs/%s/properties/limits/properties/%s", verb,
                                        info->name);

                if (info->group == OPTION_GROUP_LIMITS)
                        ok(cJSON_IsFalse(limit) == !option_is_of(info, verb),
                           "job: cordon %s and the limit %s", verb, info->name);
                if (option_is_key(info, NULL) && !option_is_key(info, verb))
                        add(missing, info->name);
        }
        for (; *besides; besides++)
                add(missing, *besides);
        for (const cJSON *row = rows->child; row; row = row->next)
                if (cJSON_IsFalse(row))
                        add(closed, row->string);

        g_autofree char *got = sorted(closed), *wanted = sorted(missing);

        is(got, wanted, "%s", name);
        g_ptr_array_unref(missing);
}

static void test_keys(void) {
        unsigned keys = 0;

        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *info = option_at(i);

                if (!option_is_key(info, NULL) && !option_is_key(info, VERB_BATCH) &&
                    !option_is_key(info, VERB_SHELL))
                        continue;
                test_key(info);
                keys++;
        }
        cmp_ok(cJSON_GetArraySize(schema_at(job, "#/properties")), "==", (int)keys + OWN_KEYS,
               "job: there is no other key");
        test_verb(VERB_BATCH, (const char *const[]){ NULL });
        test_verb(VERB_SHELL, (const char *const[]){ "command", NULL });
}

int main(void) {
        plan(NO_PLAN);
        record = read_schema(schema_record_text, "record");
        job = read_schema(schema_job_text, "job");
        test_limits();
        test_values();
        test_outcomes();
        test_codes();
        test_isolation();
        test_words();
        test_keys();
        schema_free(record);
        schema_free(job);
        done_testing();
}
