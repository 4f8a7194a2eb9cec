/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table and its reader. A property of an unexpected type is skipped, not guessed: the field keeps saying
 * "unknown". */

#include "snapshot.h"

#include <stddef.h>
#include <string.h>

typedef struct {
        const char *name;
        const char *type;
        size_t offset;
} Field;

#define FIELD(property, signature, member) \
        { .name = (property), .type = (signature), .offset = offsetof(UnitSnapshot, member) }

static const Field fields[] = {
        FIELD("LoadState", "s", load_state),
        FIELD("ActiveState", "s", active_state),
        FIELD("SubState", "s", sub_state),
        FIELD("Result", "s", result),
        FIELD("ControlGroup", "s", control_group),
        FIELD("InvocationID", "ay", invocation_id),
        FIELD("MainPID", "u", main_pid),
        FIELD("ExecMainCode", "i", exec_main_code),
        FIELD("ExecMainStatus", "i", exec_main_status),
        FIELD("ExecMainExitTimestampMonotonic", "t", exec_main_exit_usec),
        FIELD("ActiveExitTimestampMonotonic", "t", active_exit_usec),
        FIELD("IPIngressBytes", "t", net_in_bytes),
        FIELD("IPEgressBytes", "t", net_out_bytes),
};

void unit_snapshot_init(UnitSnapshot *snapshot) {
        *snapshot = (UnitSnapshot){ .net_in_bytes = UINT64_MAX, .net_out_bytes = UINT64_MAX };
}

void unit_snapshot_clear(UnitSnapshot *snapshot) {
        g_free(snapshot->load_state);
        g_free(snapshot->active_state);
        g_free(snapshot->sub_state);
        g_free(snapshot->result);
        g_free(snapshot->control_group);
        g_free(snapshot->invocation_id);
        unit_snapshot_init(snapshot);
}

static const Field *field_find(const char *name, const char *type) {
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
                if (strcmp(fields[i].name, name) == 0 && strcmp(fields[i].type, type) == 0)
                        return &fields[i];
        return NULL;
}

static int read_string(sd_bus_message *message, char **field) {
        const char *text = NULL;
        int r = sd_bus_message_read_basic(message, 's', &text);

        if (r < 0)
                return r;
        g_free(*field);
        *field = g_strdup(text);
        return 0;
}

static int read_hex(sd_bus_message *message, char **field) {
        const uint8_t *bytes = NULL;
        size_t size = 0;
        g_autoptr(GString) hex = g_string_new(NULL);
        int r = sd_bus_message_read_array(message, 'y', (const void **)&bytes, &size);

        if (r < 0)
                return r;
        for (size_t i = 0; i < size; i++)
                g_string_append_printf(hex, "%02x", bytes[i]);
        g_free(*field);
        *field = size > 0 ? g_strdup(hex->str) : NULL;
        return 0;
}

static int read_field(sd_bus_message *message, const Field *field, UnitSnapshot *snapshot) {
        void *place = (char *)snapshot + field->offset;
        int r = sd_bus_message_enter_container(message, SD_BUS_TYPE_VARIANT, field->type);

        if (r < 0)
                return r;
        if (strcmp(field->type, "s") == 0)
                r = read_string(message, place);
        else if (strcmp(field->type, "ay") == 0)
                r = read_hex(message, place);
        else
                r = sd_bus_message_read_basic(message, field->type[0], place);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

int unit_snapshot_absorb_value(UnitSnapshot *snapshot, const char *name, sd_bus_message *message) {
        const char *type = NULL;
        int r = sd_bus_message_peek_type(message, NULL, &type);

        if (r < 0)
                return r;

        const Field *field = field_find(name, type);

        return field ? read_field(message, field, snapshot) : sd_bus_message_skip(message, "v");
}

static int read_entry(sd_bus_message *message, UnitSnapshot *snapshot) {
        const char *name = NULL;
        int r = sd_bus_message_read_basic(message, 's', &name);

        return r < 0 ? r : unit_snapshot_absorb_value(snapshot, name, message);
}

int unit_snapshot_absorb(UnitSnapshot *snapshot, sd_bus_message *message) {
        int r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "{sv}");

        while (r >= 0) {
                r = sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, "sv");
                if (r == 0)
                        return sd_bus_message_exit_container(message);
                if (r > 0)
                        r = read_entry(message, snapshot);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static int sift_entry(sd_bus_message *from, sd_bus_message *to) {
        const char *name = NULL, *type = NULL;
        int r = sd_bus_message_read_basic(from, 's', &name);

        if (r >= 0)
                r = sd_bus_message_peek_type(from, NULL, &type);
        if (r < 0 || !field_find(name, type))
                return r < 0 ? r : sd_bus_message_skip(from, "v");
        r = sd_bus_message_open_container(to, SD_BUS_TYPE_DICT_ENTRY, "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(to, 's', name);
        if (r >= 0)
                r = sd_bus_message_copy(to, from, false);
        return r < 0 ? r : sd_bus_message_close_container(to);
}

static int sift_array(sd_bus_message *from, sd_bus_message *to) {
        int r = sd_bus_message_enter_container(from, SD_BUS_TYPE_ARRAY, "{sv}");

        while (r >= 0) {
                r = sd_bus_message_enter_container(from, SD_BUS_TYPE_DICT_ENTRY, "sv");
                if (r == 0)
                        return sd_bus_message_exit_container(from);
                if (r > 0)
                        r = sift_entry(from, to);
                if (r >= 0)
                        r = sd_bus_message_exit_container(from);
        }
        return r;
}

int unit_snapshot_sift(sd_bus_message *from, sd_bus_message *to) {
        const char *interface = NULL;
        int r = sd_bus_message_read_basic(from, 's', &interface);

        if (r >= 0)
                r = sd_bus_message_append_basic(to, 's', interface);
        if (r >= 0)
                r = sd_bus_message_open_container(to, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r >= 0)
                r = sift_array(from, to);
        if (r >= 0)
                r = sd_bus_message_close_container(to);
        return r < 0 ? r : sd_bus_message_append(to, "as", 0);
}

bool unit_snapshot_is_at_rest(const UnitSnapshot *snapshot) {
        return g_strcmp0(snapshot->sub_state, "exited") == 0 ||
               g_strcmp0(snapshot->active_state, "failed") == 0 ||
               g_strcmp0(snapshot->active_state, "inactive") == 0;
}

bool unit_snapshot_has_ended(const UnitSnapshot *snapshot) {
        return snapshot->exec_main_code != 0 && unit_snapshot_is_at_rest(snapshot);
}

bool unit_snapshot_is_stopping(const UnitSnapshot *snapshot) {
        return g_strcmp0(snapshot->active_state, "deactivating") == 0;
}

bool unit_snapshot_was_stopped(const UnitSnapshot *snapshot) {
        return snapshot->active_exit_usec != 0 &&
               snapshot->active_exit_usec < snapshot->exec_main_exit_usec;
}
