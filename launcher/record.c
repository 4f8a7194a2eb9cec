/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts and verdict → JSON. Measures are a table; the rest is one small function for each part of the record. */

#include "record.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "carrier.h"
#include "config.h"
#include "shortfall.h"
#include "units/name.h"
#include "units/signame.h"
#include "units/untrusted.h"

#define SCHEMA 1
#define PIECE  ((size_t)8192) /* of a captured stream, at a time */

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

static void add_place(cJSON *record, const RecordPlace *place) {
        if (!place)
                return;
        add_number(record, "index", place->index);
        add_number(record, "line", place->line);
        add_number(record, "attempts", place->attempts);
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
        add_string(record, "id", source->place ? source->place->id : source->spec->id);
        add_place(record, source->place);
        if (source->manager && source->spec->id) {
                g_autofree char *unit = name_unit(source->spec->id, source->spec->is_scope);
                g_autofree char *slice = name_slice(source->spec->pool, source->spec->id);

                add_string(record, "unit", unit);
                add_string(record, "slice", slice);
        }
        add_string(record, "profile", source->spec->profile);
        add_string(record, "pool", source->spec->pool);
        add_string(record, "manager", source->manager);
        add_string(record, "mode", source->spec->is_scope ? "scope" : "service");
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
                   carrier_of_limit(source->spec, limit, effective && effective->is_stand_in));
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

/* What was asked, and what opened of it. */
static void add_allow(cJSON *entry, const Allow *allow) {
        g_autofree char *text = g_strconcat("allow=", allow->text, NULL);
        cJSON *addresses;

        add_string(entry, "requested", text);
        if (allow->networks->len == 0)
                return; /* it did not get that far */
        addresses = cJSON_AddArrayToObject(entry, "addresses");
        for (guint i = 0; i < allow->networks->len; i++) {
                g_autofree char *network = allow_network_text(
                        &g_array_index(allow->networks, AllowNetwork, i));

                add_text_item(addresses, network);
        }
}

/* What of the option's text is worth knowing: true, its word, or its paths. */
static void add_requested(cJSON *entry, const IsolationSet *set, Isolation isolation) {
        cJSON *paths;

        if (isolation == ISOLATION_NET && set->allow)
                add_allow(entry, set->allow);
        else if (isolation == ISOLATION_NET)
                add_string(entry, "requested", "none");
        else if (isolation == ISOLATION_FS)
                add_string(entry, "requested", "strict");
        if (isolation == ISOLATION_FS)
                add_string(entry, "workspace", set->workspace);
        if (isolation == ISOLATION_PRIVATE_TMP || isolation == ISOLATION_UNTRUSTED)
                cJSON_AddBoolToObject(entry, "requested", true);
        if (isolation < ISOLATION_RO)
                return;
        paths = cJSON_AddArrayToObject(entry, "requested");
        for (guint i = 0; i < set->rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(set->rules, i);

                if (rule->kind != isolation)
                        continue;
                g_autofree char *text = isolation_rule_text(rule);

                add_text_item(paths, text);
        }
}

static void add_residuals(cJSON *entry, unsigned residuals) {
        cJSON *words = residuals ? cJSON_AddArrayToObject(entry, "residuals") : NULL;

        for (int i = 0; i < _RESIDUAL_MAX; i++)
                if (residuals & (1U << i))
                        add_text_item(words, untrusted_residual_info((UntrustedResidual)i)->word);
}

static void add_isolation(cJSON *record, const RecordSource *source) {
        const IsolationSet *set = &source->spec->isolation;
        cJSON *isolations = isolation_any(set) ? cJSON_AddObjectToObject(record, "isolation")
                                               : NULL;

        for (int i = 0; isolations && i < _ISOLATION_MAX; i++) {
                const IsolationInfo *info = isolation_info((Isolation)i);
                cJSON *entry;

                if (!isolation_is_asked(set, (Isolation)i))
                        continue;
                entry = cJSON_AddObjectToObject(isolations, info->key);
                add_requested(entry, set, (Isolation)i);
                add_string(entry, "by",
                           carrier_of_isolation(source->spec, (Isolation)i,
                                                source->readback && source->readback->is_landlock));
                if (source->readback && source->readback->is_read)
                        cJSON_AddBoolToObject(entry, "enforced", source->readback->isolation[i]);
                if (source->readback && i == ISOLATION_UNTRUSTED)
                        add_residuals(entry, source->readback->residuals);
        }
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

/* The streams are not in cJSON's hands: it would hold each of them three times, with six bytes for a byte. */

typedef struct {
        RecordPut put;
        void *userdata;
        bool is_pretty;
} Writer;

static void put_text(const Writer *writer, const char *text) {
        writer->put(writer->userdata, text, strlen(text));
}

static void put_key(const Writer *writer, const char *name, const char *suffix) {
        g_autofree char *text = g_strconcat(writer->is_pretty ? ",\n\t\"" : ",\"", name, suffix,
                                            writer->is_pretty ? "\":\t" : "\":", NULL);

        put_text(writer, text);
}

static void append_escaped(GString *text, char c) {
        static const char digits[] = "0123456789abcdef";
        static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs */

        for (const char *pair = named; *pair; pair += 2)
                if (c == pair[0]) {
                        g_string_append_c(text, '\\');
                        g_string_append_c(text, pair[1]);
                        return;
                }
        if ((unsigned char)c < ' ') {
                const char escape[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

                g_string_append_len(text, escape, sizeof escape);
        } else
                g_string_append_c(text, c);
}

static void put_escaped(const Writer *writer, const char *data, size_t size) {
        g_autoptr(GString) text = g_string_sized_new(8 * PIECE);

        for (size_t i = 0; i < size; i++) {
                append_escaped(text, data[i]);
                if (i + 1 < size && (i + 1) % PIECE != 0)
                        continue;
                writer->put(writer->userdata, text->str, text->len);
                g_string_truncate(text, 0);
        }
}

static void put_base64(const Writer *writer, const guint8 *data, size_t size) {
        char text[2 * PIECE];
        int state = 0, save = 0;

        for (size_t done = 0; done < size; done += PIECE)
                writer->put(writer->userdata, text,
                            g_base64_encode_step(data + done, MIN(size - done, PIECE), FALSE, text,
                                                 &state, &save));
        writer->put(writer->userdata, text, g_base64_encode_close(FALSE, text, &state, &save));
}

static void put_text_value(const Writer *writer, const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        put_text(writer, "\"");
        put_escaped(writer, valid, strlen(valid));
        put_text(writer, "\"");
}

static void put_bytes(const Writer *writer, const char *name, const Capture *capture) {
        const GByteArray *bytes = capture_bytes(capture);
        const char *data = bytes->len > 0 ? (const char *)bytes->data : "";
        size_t size = whole_characters(bytes, capture_is_truncated(capture));
        bool is_text = g_utf8_validate(data, (gssize)size, NULL);

        put_key(writer, name, is_text ? "" : "_base64");
        put_text(writer, "\"");
        if (is_text)
                put_escaped(writer, data, size);
        else
                put_base64(writer, bytes->data, bytes->len);
        put_text(writer, "\"");
}

/* In the record, or where it is. */
static void put_stream(const Writer *writer, const char *name, const Capture *capture,
                       const char *file) {
        if (!capture)
                return;
        if (file) {
                put_key(writer, name, "_file");
                put_text_value(writer, file);
        } else {
                put_bytes(writer, name, capture);
        }
        put_key(writer, name, "_truncated");
        put_text(writer, capture_is_truncated(capture) ? "true" : "false");
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

/* Everything but the streams. */
static cJSON *head_of(const RecordSource *source) {
        cJSON *record = cJSON_CreateObject();

        add_number(record, "schema", SCHEMA);
        add_names(record, source);
        add_request(record, source);
        add_verdict(record, source->verdict);
        add_limits(record, source);
        add_isolation(record, source);
        add_evidence(record, source->verdict);
        if (source->facts->stage == STAGE_EXECUTED)
                add_shortfalls(record, source->unapplied);
        add_usage(record, source->facts);
        if (source->facts->stage == STAGE_EXECUTED) {
                add_time(record, "started_at", source->facts->started_realtime_usec);
                add_time(record, "ended_at", source->facts->ended_realtime_usec);
        }
        add_string(record, "invocation_id", source->invocation_id);
        add_string(record, "cordon_version", source->manager ? CORDON_VERSION : NULL);
        add_string(record, "systemd_version", source->manager_version);
        return record;
}

/* What a reader cannot do without, of a request too large for a text. */
static cJSON *least_of(const RecordSource *source) {
        cJSON *record = cJSON_CreateObject();

        add_number(record, "schema", SCHEMA);
        add_names(record, source);
        add_verdict(record, source->verdict);
        return record;
}

/* cJSON's texts end at 2 GB; NULL then. */
static char *print(cJSON *record, bool is_pretty) {
        char *text = is_pretty ? cJSON_Print(record) : cJSON_PrintUnformatted(record);

        cJSON_Delete(record);
        return text;
}

static const char *file_of(const RecordSource *source, int fd) {
        return source->place ? source->place->files[fd] : NULL;
}

void record_put(const RecordSource *source, bool is_pretty, RecordPut put, void *userdata) {
        Writer writer = { .put = put, .userdata = userdata, .is_pretty = is_pretty };
        const char *end = is_pretty ? "\n}" : "}";
        char *head = print(head_of(source), is_pretty) ?: print(least_of(source), is_pretty);

        g_assert(head && g_str_has_suffix(head, end));
        put(userdata, head, strlen(head) - strlen(end));
        cJSON_free(head);
        put_stream(&writer, "stdout", source->output, file_of(source, STDOUT_FILENO));
        put_stream(&writer, "stderr", source->errors, file_of(source, STDERR_FILENO));
        put_text(&writer, end);
}
