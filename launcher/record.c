/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts and verdict → JSON. Measures are a table; the rest is one small function for each part of the record. */

#include "record.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "config.h"
#include "shortfall.h"
#include "units/name.h"
#include "units/signame.h"

#define SCHEMA 1

typedef struct {
        const char *key;
        size_t offset; /* in Facts, a uint64_t */
} Measure;

static const Measure measures[] = {
        { "cpu_usec", offsetof(Facts, cpu_usec) },
        { "cpu_user_usec", offsetof(Facts, cpu_user_usec) },
        { "cpu_system_usec", offsetof(Facts, cpu_system_usec) },
        { "memory_peak_bytes", offsetof(Facts, memory_peak_bytes) },
        { "swap_peak_bytes", offsetof(Facts, swap_peak_bytes) },
        { "tasks_peak", offsetof(Facts, tasks_peak) },
        { "io_read_bytes", offsetof(Facts, io_read_bytes) },
        { "io_write_bytes", offsetof(Facts, io_write_bytes) },
        { "net_in_bytes", offsetof(Facts, net_in_bytes) },
        { "net_out_bytes", offsetof(Facts, net_out_bytes) },
};

/* Whole numbers to the letter: a double would lose digits above 2^53. */
static void add_number(cJSON *object, const char *key, uint64_t value) {
        char text[32];

        g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
        cJSON_AddItemToObject(object, key, cJSON_CreateRaw(text));
}

/* JSON is UTF-8; what people typed may not be. */
static void add_string(cJSON *object, const char *key, const char *value) {
        g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

        if (valid)
                cJSON_AddStringToObject(object, key, valid);
}

/* Arguments may be any bytes; JSON may not. What is not UTF-8 is shown with replacement characters. */
static void add_text_item(cJSON *array, const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        cJSON_AddItemToArray(array, cJSON_CreateString(valid));
}

static void add_request(cJSON *record, const RecordSource *source) {
        const Spec *spec = source->spec;
        cJSON *command = cJSON_CreateArray();
        cJSON *labels = cJSON_CreateObject();

        for (char **argument = spec->command; argument && *argument; argument++)
                add_text_item(command, *argument);
        cJSON_AddItemToObject(record, "command", command);
        if (spec->labels) {
                GHashTableIter iter;
                gpointer key, value;

                g_hash_table_iter_init(&iter, spec->labels);
                while (g_hash_table_iter_next(&iter, &key, &value))
                        cJSON_AddStringToObject(labels, key, value);
        }
        cJSON_AddItemToObject(record, "labels", labels);
}

static void add_names(cJSON *record, const RecordSource *source) {
        add_string(record, "id", source->spec->id);
        if (source->manager && source->spec->id) {
                g_autofree char *unit = name_service(source->spec->id);
                g_autofree char *slice = name_slice(source->spec->id);

                add_string(record, "unit", unit);
                add_string(record, "slice", slice);
        }
        add_string(record, "manager", source->manager);
        add_string(record, "mode", "service");
}

static void add_verdict(cJSON *record, const Verdict *verdict) {
        const OutcomeInfo *info = outcome_info(verdict->outcome);

        add_string(record, "outcome", info->word);
        cJSON_AddBoolToObject(record, "ok", verdict->is_ok);
        cJSON_AddBoolToObject(record, "resource_exhausted", info->is_exhausted);
        cJSON_AddBoolToObject(record, "cancelled", verdict->outcome == OUTCOME_CANCELLED);
        if (verdict->exit_code >= 0)
                add_number(record, "exit_code", (uint64_t)verdict->exit_code);
        if (verdict->signal > 0) {
                g_autofree char *name = signame(verdict->signal);

                add_number(record, "signal", (uint64_t)verdict->signal);
                add_string(record, "signal_name", name);
                cJSON_AddBoolToObject(record, "core_dumped", verdict->core_dumped);
        }
        add_string(record, "message", verdict->message);
        if (verdict->error_code) {
                cJSON *error = cJSON_AddObjectToObject(record, "error");

                add_string(error, "code", verdict->error_code);
                add_string(error, "message", verdict->message);
        }
}

static void add_limit(cJSON *limits, const RecordSource *source, Limit limit) {
        const LimitInfo *info = limit_info(limit);
        const Effective *effective = source->readback && source->readback->is_read
                                             ? &source->readback->limits[limit]
                                             : NULL;
        cJSON *entry = cJSON_AddObjectToObject(limits, info->key);

        add_number(entry, "requested", source->spec->limits.value[limit]);
        if (effective && effective->is_known && effective->effective != LIMIT_INFINITY)
                add_number(entry, "effective", effective->effective);
        add_string(entry, "by",
                   effective && effective->is_stand_in ? info->stand_in : info->property);
        if (effective)
                cJSON_AddBoolToObject(entry, "enforced", effective->is_enforced);
        if (source->verdict->touched_known[limit])
                cJSON_AddBoolToObject(entry, "touched", source->verdict->touched[limit]);
}

static void add_limits(cJSON *record, const RecordSource *source) {
        cJSON *limits = cJSON_AddObjectToObject(record, "limits");

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limit_set_is_limited(&source->spec->limits, (Limit)i))
                        add_limit(limits, source, (Limit)i);
}

static void add_evidence(cJSON *record, const Verdict *verdict) {
        cJSON *evidence = cJSON_AddArrayToObject(record, "evidence");

        for (guint i = 0; i < verdict->evidence->len; i++)
                cJSON_AddItemToArray(evidence,
                                     cJSON_CreateString(g_ptr_array_index(verdict->evidence, i)));
}

static void add_shortfalls(cJSON *record, uint32_t unapplied) {
        cJSON *keys = unapplied ? cJSON_AddArrayToObject(record, "not_passed_on") : NULL;
        const Shortfall *shortfall;

        for (size_t i = 0; (shortfall = shortfall_at(i)); i++)
                if (unapplied & shortfall->bit)
                        cJSON_AddItemToArray(keys, cJSON_CreateString(shortfall->key));
}

static void add_usage(cJSON *record, const Facts *facts) {
        uint64_t wall = facts_wall_usec(facts);
        cJSON *usage;

        if (facts->stage != STAGE_EXECUTED)
                return; /* nothing of it ran */
        usage = cJSON_AddObjectToObject(record, "usage");

        if (wall != FACTS_UNKNOWN)
                add_number(usage, "wall_usec", wall);
        for (size_t i = 0; i < G_N_ELEMENTS(measures); i++) {
                uint64_t value = *(const uint64_t *)((const char *)facts + measures[i].offset);

                if (value != FACTS_UNKNOWN)
                        add_number(usage, measures[i].key, value);
        }
        if (facts->outlived != FACTS_UNKNOWN)
                add_number(record, "outlived", facts->outlived);
}

/* How much of it is whole: a cut may have split the last character, which has at most four bytes. */
static size_t whole_characters(const GByteArray *bytes, bool is_truncated) {
        const char *data = (const char *)bytes->data, *end = NULL;

        if (!is_truncated || bytes->len == 0 || g_utf8_validate(data, bytes->len, &end))
                return bytes->len;

        size_t whole = (size_t)(end - data), rest = bytes->len - whole;
        bool is_split = rest < 4 && *end != '\0' &&
                        g_utf8_get_char_validated(end, (gssize)rest) == (gunichar)-2;

        return is_split ? whole : bytes->len;
}

static void add_stream(cJSON *record, const char *name, const Capture *capture) {
        g_autofree char *truncated = g_strconcat(name, "_truncated", NULL);

        if (!capture)
                return;

        const GByteArray *bytes = capture_bytes(capture);
        const char *data = bytes->len > 0 ? (const char *)bytes->data : "";
        size_t size = whole_characters(bytes, capture_is_truncated(capture));

        if (g_utf8_validate(data, (gssize)size, NULL)) {
                g_autofree char *text = g_strndup(data, size);

                add_string(record, name, text);
        } else {
                g_autofree char *key = g_strconcat(name, "_base64", NULL);
                g_autofree char *text = g_base64_encode(bytes->data, bytes->len);

                add_string(record, key, text);
        }
        cJSON_AddBoolToObject(record, truncated, capture_is_truncated(capture));
}

static void add_time(cJSON *record, const char *key, uint64_t usec) {
        if (usec == 0 || usec == FACTS_UNKNOWN)
                return;

        g_autoptr(GDateTime)
                second = g_date_time_new_from_unix_utc((gint64)(usec / G_USEC_PER_SEC));
        g_autofree char *date = g_date_time_format(second, "%Y-%m-%dT%H:%M:%S");
        g_autofree char *text = g_strdup_printf("%s.%06uZ", date,
                                                (unsigned)(usec % G_USEC_PER_SEC));

        add_string(record, key, text);
}

char *record_to_json(const RecordSource *source, bool is_pretty) {
        cJSON *record = cJSON_CreateObject();
        char *text, *copy;

        add_number(record, "schema", SCHEMA);
        add_names(record, source);
        add_request(record, source);
        add_verdict(record, source->verdict);
        add_limits(record, source);
        add_evidence(record, source->verdict);
        if (source->facts->stage == STAGE_EXECUTED)
                add_shortfalls(record, source->unapplied);
        add_usage(record, source->facts);
        add_stream(record, "stdout", source->output);
        add_stream(record, "stderr", source->errors);
        if (source->facts->stage == STAGE_EXECUTED) {
                add_time(record, "started_at", source->facts->started_realtime_usec);
                add_time(record, "ended_at", source->facts->ended_realtime_usec);
        }
        add_string(record, "invocation_id", source->invocation_id);
        add_string(record, "cordon_version", source->manager ? CORDON_VERSION : NULL);
        add_string(record, "systemd_version", source->manager_version);

        text = is_pretty ? cJSON_Print(record) : cJSON_PrintUnformatted(record);
        copy = g_strdup(text);
        cJSON_free(text);
        cJSON_Delete(record);
        return copy;
}
