/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The same facts as in the record, short. A value is the one that was asked for, as it could be asked again; where another
 * is in force, or none, that stands behind it. */

#include "bounds.h"

static const char *const not_enforced = " (not enforced)";

/* Nobody asked for it, and every run has it. */
static bool is_standing(const Options *options, Limit limit) {
        return limit_info(limit)->default_when == LIMIT_DEFAULT_ALWAYS &&
               !options->limits.is_set[limit];
}

static void append_word(GString *words, const char *key, const char *value) {
        g_string_append_printf(words, "%s%s%s%s", words->len > 0 ? " " : "", key, value ? "=" : "",
                               value ?: "");
}

/* Of CPUs the number is read back, not the list. */
static void append_effective(GString *words, const Spec *spec, const Effective *effective,
                             Limit limit) {
        g_autofree char *value = NULL;

        if (effective->is_stand_in)
                g_string_append_printf(words, " (%s, which the program can change)",
                                       limit_info(limit)->stand_in);
        else if (!effective->is_enforced)
                g_string_append(words, not_enforced);
        if (!effective->is_enforced || !effective->is_known || limit == LIMIT_CPUS ||
            effective->effective == spec->limits.value[limit])
                return;
        value = limit_format(limit, effective->effective);
        g_string_append_printf(words, " (%s in force)", value);
}

static void append_limits(GString *words, const Options *options, const Spec *spec,
                          const Readback *readback) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autofree char *value = NULL;

                if (!limit_set_is_limited(&spec->limits, (Limit)i) ||
                    is_standing(options, (Limit)i))
                        continue;
                value = limit_set_format(&spec->limits, (Limit)i);
                append_word(words, limit_info((Limit)i)->key, value);
                append_effective(words, spec, &readback->limits[i], (Limit)i);
        }
}

static void append_paths(GString *words, const IsolationSet *set, Isolation kind) {
        for (guint i = 0; set->rules && i < set->rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(set->rules, i);
                g_autofree char *text = isolation_rule_text(rule);

                if (rule->kind == kind)
                        append_word(words, isolation_info(kind)->key, text);
        }
}

static void append_isolation(GString *words, const IsolationSet *set, Isolation isolation) {
        const char *key = isolation_info(isolation)->key;
        g_autofree char *allow = NULL;

        if (isolation == ISOLATION_NET && set->allow) {
                allow = g_strconcat("allow=", set->allow->text, NULL);
                append_word(words, key, allow);
        } else if (isolation == ISOLATION_NET) {
                append_word(words, key, "none");
        } else if (isolation == ISOLATION_FS) {
                append_word(words, key, "strict");
        } else if (isolation < ISOLATION_RO) {
                append_word(words, key, NULL);
        } else {
                append_paths(words, set, isolation);
        }
}

static char *isolation_words(const Spec *spec, const Readback *readback) {
        g_autoptr(GString) words = g_string_new(NULL);

        for (int i = 0; i < _ISOLATION_MAX; i++) {
                if (!isolation_is_asked(&spec->isolation, (Isolation)i))
                        continue;
                append_isolation(words, &spec->isolation, (Isolation)i);
                if (!readback->isolation[i])
                        g_string_append(words, not_enforced);
        }
        return g_string_free(g_steal_pointer(&words), FALSE);
}

char *bounds_words(const Options *options, const Spec *spec, const Readback *readback) {
        g_autoptr(GString) words = g_string_new(NULL);
        g_autofree char *isolation = isolation_words(spec, readback);

        if (spec->pool) /* which may have limits that were not asked for here */
                append_word(words, "pool", spec->pool);
        append_limits(words, options, spec, readback);
        if (words->len == 0)
                g_string_append(words, "no limits");
        if (isolation[0])
                g_string_append_printf(words, ", %s", isolation);
        return g_string_free(g_steal_pointer(&words), FALSE);
}

char *bounds_unenforced(const Options *options, const Spec *spec, const Readback *readback) {
        bool is_asked = options->is_best_effort && readback && readback->is_read;
        g_autoptr(GString) words = g_string_new(NULL);

        for (int i = 0; is_asked && i < _LIMIT_MAX; i++) {
                const LimitInfo *info = limit_info((Limit)i);
                g_autofree char *name = NULL;

                if (!limit_set_is_limited(&spec->limits, (Limit)i) ||
                    readback->limits[i].is_enforced)
                        continue;
                name = options_said_as(options, info->key);
                g_string_append_printf(words, "%s%s", words->len > 0 ? ", " : "", name);
                if (readback->limits[i].is_stand_in)
                        g_string_append_printf(words, " (%s, which the program can change)",
                                               info->stand_in);
        }
        for (int i = 0; is_asked && i < _ISOLATION_MAX; i++) {
                g_autofree char *name = NULL;

                if (!isolation_is_asked(&spec->isolation, (Isolation)i) || readback->isolation[i])
                        continue;
                name = options_said_as(options, isolation_info((Isolation)i)->key);
                g_string_append_printf(words, "%s%s", words->len > 0 ? ", " : "", name);
        }
        return words->len > 0 ? g_string_free(g_steal_pointer(&words), FALSE) : NULL;
}
