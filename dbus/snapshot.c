/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table and its reader. A property of an unexpected type is skipped, not guessed: the field keeps saying
 * "unknown". */

#include "snapshot.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"

/* Which of the two interfaces of a unit tells of a change of it. */
typedef enum {
        TOLD_NOWHERE = 0,      /* it is asked for */
        TOLD_ONCE = 1 << 0,    /* by the first, and it stays what it is */
        TOLD_STATE = 1 << 1,   /* by that which all units have, at its beginning */
        TOLD_OF_UNIT = 1 << 2, /* likewise, somewhere */
        TOLD_OF_KIND = 1 << 3, /* by that of its kind */
} Told;

typedef struct {
        const char *name;
        const char *type;
        size_t offset;
        Told told;
} Field;

#define FIELD(property, signature, member, interface)                                              \
        {                                                                                          \
                .name = (property), .type = (signature), .offset = offsetof(UnitSnapshot, member), \
                .told = (interface)                                                                \
        }

static const Field fields[] = {
        FIELD("LoadState", "s", load_state, TOLD_NOWHERE),
        FIELD("ActiveState", "s", active_state, TOLD_STATE),
        FIELD("SubState", "s", sub_state, TOLD_STATE),
        FIELD("Result", "s", result, TOLD_OF_KIND),
        FIELD("InvocationID", "ay", invocation_id, TOLD_ONCE),
        FIELD("ExecMainCode", "i", exec_main_code, TOLD_OF_KIND),
        FIELD("ExecMainStatus", "i", exec_main_status, TOLD_OF_KIND),
        FIELD("ExecMainExitTimestampMonotonic", "t", exec_main_exit_usec, TOLD_OF_KIND),
        FIELD("ActiveExitTimestampMonotonic", "t", active_exit_usec, TOLD_OF_UNIT),
        FIELD("IPIngressBytes", "t", net_in_bytes, TOLD_NOWHERE),
        FIELD("IPEgressBytes", "t", net_out_bytes, TOLD_NOWHERE),
};

void unit_snapshot_init(UnitSnapshot *snapshot) {
        *snapshot = (UnitSnapshot){ .net_in_bytes = UINT64_MAX, .net_out_bytes = UINT64_MAX };
}

void unit_snapshot_clear(UnitSnapshot *snapshot) {
        g_free(snapshot->load_state);
        g_free(snapshot->active_state);
        g_free(snapshot->sub_state);
        g_free(snapshot->result);
        g_free(snapshot->invocation_id);
        unit_snapshot_init(snapshot);
}

static const Field *field_find(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
                if (strcmp(fields[i].name, name) == 0)
                        return &fields[i];
        return NULL;
}

/* Positive: it is of the field's type. */
static int has_type(sd_bus_message *message, const Field *field) {
        const char *type = NULL;
        int r = sd_bus_message_peek_type(message, NULL, &type);

        return r < 0 ? r : g_strcmp0(type, field->type) == 0;
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

static int take(UnitSnapshot *snapshot, const Field *field, sd_bus_message *message) {
        int r = field ? has_type(message, field) : 0;

        if (r < 0)
                return r;
        return r > 0 ? read_field(message, field, snapshot) : sd_bus_message_skip(message, "v");
}

int unit_snapshot_absorb_value(UnitSnapshot *snapshot, const char *name, sd_bus_message *message) {
        return take(snapshot, field_find(name), message);
}

static int absorb_entry(UnitSnapshot *snapshot, sd_bus_message *message, const Field **ret_field) {
        const char *name = NULL;
        int r = sd_bus_message_read_basic(message, 's', &name);

        if (r < 0)
                return r;
        *ret_field = field_find(name);
        return take(snapshot, *ret_field, message);
}

static unsigned count_told(unsigned told) {
        unsigned count = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
                count += (fields[i].told & told) != 0;
        return count;
}

/* Every property is in it once: when as many were seen as are told so, there is none left to be found. 0: all are wanted. */
static int absorb_array(UnitSnapshot *snapshot, sd_bus_message *message, unsigned told) {
        unsigned left = told == 0 ? UINT_MAX : count_told(told);
        int r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "{sv}");

        while (r >= 0 && left > 0) {
                const Field *field = NULL;

                r = sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, "sv");
                if (r == 0)
                        return sd_bus_message_exit_container(message);
                if (r > 0)
                        r = absorb_entry(snapshot, message, &field);
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (field && (field->told & told))
                        left--;
        }
        return r;
}

int unit_snapshot_absorb(UnitSnapshot *snapshot, sd_bus_message *message) {
        return absorb_array(snapshot, message, 0);
}

static int enter_change(sd_bus_message *message, UnitChange *ret_change) {
        const char *interface = NULL;
        int r = sd_bus_message_read_basic(message, 's', &interface);

        if (r >= 0)
                *ret_change = strcmp(interface, UNIT_INTERFACE) == 0 ? CHANGE_OF_UNIT
                                                                     : CHANGE_OF_KIND;
        return r;
}

int unit_snapshot_glance(UnitSnapshot *snapshot, sd_bus_message *message, UnitChange *ret_change) {
        int r = enter_change(message, ret_change);

        return r < 0 || *ret_change != CHANGE_OF_UNIT ? r
                                                      : absorb_array(snapshot, message, TOLD_STATE);
}

int unit_snapshot_absorb_change(UnitSnapshot *snapshot, sd_bus_message *message) {
        static const unsigned told[_CHANGE_MAX] = {
                [CHANGE_OF_UNIT] = TOLD_STATE | TOLD_OF_UNIT,
                [CHANGE_OF_KIND] = TOLD_OF_KIND,
        };
        UnitChange change = CHANGE_OF_KIND;
        int r = enter_change(message, &change);

        return r < 0 ? r
                     : absorb_array(snapshot, message,
                                    told[change] | (snapshot->invocation_id ? 0 : TOLD_ONCE));
}

static int sift_entry(sd_bus_message *from, sd_bus_message *to) {
        const char *name = NULL;
        const Field *field = NULL;
        int r = sd_bus_message_read_basic(from, 's', &name);

        if (r >= 0)
                field = field_find(name);
        if (field)
                r = has_type(from, field);
        if (!field || r <= 0)
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

static bool is_failed(const UnitSnapshot *snapshot) {
        return g_strcmp0(snapshot->active_state, "failed") == 0;
}

/* "exited": a drop-in for all services can say RemainAfterExit=. */
bool unit_snapshot_is_at_rest(const UnitSnapshot *snapshot) {
        return is_failed(snapshot) || g_strcmp0(snapshot->sub_state, "exited") == 0 ||
               g_strcmp0(snapshot->active_state, "inactive") == 0;
}

bool unit_snapshot_has_ended(const UnitSnapshot *snapshot) {
        return snapshot->exec_main_code != 0 && unit_snapshot_is_at_rest(snapshot);
}

bool unit_snapshot_has_ended_well(const UnitSnapshot *snapshot) {
        return unit_snapshot_has_ended(snapshot) && !is_failed(snapshot);
}

bool unit_snapshot_is_stopping(const UnitSnapshot *snapshot) {
        return g_strcmp0(snapshot->active_state, "deactivating") == 0;
}

bool unit_snapshot_was_stopped(const UnitSnapshot *snapshot) {
        return snapshot->active_exit_usec != 0 &&
               snapshot->active_exit_usec < snapshot->exec_main_exit_usec;
}
