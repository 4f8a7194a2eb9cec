/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "object.h"

#include <cjson/cJSON.h>

#include "config.h"
#include "units/untrusted.h"

#define SCHEMA 1

/* JSON is UTF-8; what managers and paths say may not be. */
static void add_string(cJSON *object, const char *key, const char *value) {
        g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

        if (valid)
                cJSON_AddStringToObject(object, key, valid);
}

static void add_error(cJSON *object, const char *code, const char *message) {
        cJSON *error = code ? cJSON_AddObjectToObject(object, "error") : NULL;

        if (!error)
                return;
        add_string(error, "code", code);
        add_string(error, "message", message);
}

static void add_residuals(cJSON *entry, unsigned residuals) {
        cJSON *words = residuals ? cJSON_AddArrayToObject(entry, "residuals") : NULL;

        for (int i = 0; i < _RESIDUAL_MAX; i++)
                if (residuals & (1U << i))
                        cJSON_AddItemToArray(words, cJSON_CreateString(untrusted_residual_info(
                                                                               (UntrustedResidual)i)
                                                                               ->word));
}

static void add_clause(cJSON *clauses, const Clause *clause) {
        cJSON *entry = cJSON_CreateObject();

        cJSON_AddItemToArray(clauses, entry);
        add_string(entry, "option", clause->key);
        add_string(entry, "said", clause->said);
        add_string(entry, "value", clause->value);
        add_string(entry, "comes_with", clause->origin);
        add_string(entry, "means", clause->words);
        add_string(entry, "how", clause->how);
        add_string(entry, "by", clause->by);
        add_string(entry, "in", clause->in);
        add_string(entry, "state", standing_word(clause->standing));
        add_string(entry, "effective", clause->effective);
        add_residuals(entry, clause->residuals);
        add_error(entry, clause->code, clause->reason);
}

/* As the run's record would have it. */
static void add_verdict(cJSON *object, const Explanation *explanation) {
        const Rehearsal *rehearsal = explanation->rehearsal;
        const char *message = rehearsal_verdict(rehearsal, explanation->options);
        const char *code = rehearsal->code;

        if (message && message != rehearsal->message)
                code = ((const Refusal *)g_ptr_array_index(rehearsal->refusals, 0))->code;
        cJSON_AddBoolToObject(object, "refused", message != NULL);
        add_error(object, message ? code : NULL, message);
}

char *explanation_to_json(const Explanation *explanation, bool is_pretty) {
        const Rehearsal *rehearsal = explanation->rehearsal;
        cJSON *object = cJSON_CreateObject(), *clauses;

        cJSON_AddNumberToObject(object, "schema", SCHEMA);
        add_string(object, "cordon_version", CORDON_VERSION);
        add_string(object, "verb", explanation->options->verb ?: "run");
        if (rehearsal->manager != MANAGER_AUTO)
                add_string(object, "manager", manager_kind_word(rehearsal->manager));
        add_string(object, "systemd_version", rehearsal->version);
        add_string(object, "unit", explanation->unit);
        add_string(object, "slice", explanation->slice);
        add_string(object, "pool_slice", explanation->pool);
        add_verdict(object, explanation);
        clauses = cJSON_AddArrayToObject(object, "options");
        for (guint i = 0; i < explanation->clauses->len; i++)
                add_clause(clauses, g_ptr_array_index(explanation->clauses, i));

        char *text = is_pretty ? cJSON_Print(object) : cJSON_PrintUnformatted(object);
        char *line = g_strconcat(text, "\n", NULL);

        cJSON_free(text);
        cJSON_Delete(object);
        return line;
}
