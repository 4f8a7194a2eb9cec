/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One table of what is told of a unit, in the order in which systemd 252 tells it, read both by GetAll and by
 * PropertiesChanged. It is a choice of the more than 300 real ones: those that a consumer may ask for, and some that it
 * has to skip. */

#include "fake-unit.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
        const char *interface;
        const char *name;
        const char *type; /* "ay" is the invocation id, "(uo)" the job */
        size_t offset;
        bool is_news;
} Told;

#define TOLD(of, property, signature, member, news)                         \
        {                                                                   \
                .interface = (of), .name = (property), .type = (signature), \
                .offset = offsetof(FakeUnit, member), .is_news = (news)     \
        }

/* clang-format off */
static const Told told[] = {
        TOLD(UNIT_INTERFACE, "Id", "s", name, false),
        TOLD(UNIT_INTERFACE, "LoadState", "s", load, false),
        TOLD(UNIT_INTERFACE, "ActiveState", "s", active, true),
        TOLD(UNIT_INTERFACE, "FreezerState", "s", freezer, true),
        TOLD(UNIT_INTERFACE, "SubState", "s", sub, true),
        TOLD(UNIT_INTERFACE, "Job", "(uo)", job, true),
        TOLD(UNIT_INTERFACE, "InvocationID", "ay", exec_main_pid, true),
        TOLD(SERVICE_INTERFACE, "MainPID", "u", main_pid, true),
        TOLD(SERVICE_INTERFACE, "ControlPID", "u", control_pid, true),
        TOLD(SERVICE_INTERFACE, "StatusText", "s", status_text, true),
        TOLD(SERVICE_INTERFACE, "Result", "s", result, true),
        TOLD(SERVICE_INTERFACE, "UID", "u", uid, true),
        TOLD(SERVICE_INTERFACE, "ExecMainStartTimestampMonotonic", "t", exec_start_usec, true),
        TOLD(SERVICE_INTERFACE, "ExecMainExitTimestampMonotonic", "t", exec_exit_usec, true),
        TOLD(SERVICE_INTERFACE, "ExecMainPID", "u", exec_main_pid, true),
        TOLD(SERVICE_INTERFACE, "ExecMainCode", "i", exec_main_code, true),
        TOLD(SERVICE_INTERFACE, "ExecMainStatus", "i", exec_main_status, true),
        TOLD(SERVICE_INTERFACE, "ControlGroup", "s", group, false),
        TOLD(SERVICE_INTERFACE, "MemoryCurrent", "t", memory_current, false),
        TOLD(SERVICE_INTERFACE, "IPIngressBytes", "t", net_in_bytes, false),
        TOLD(SERVICE_INTERFACE, "IPEgressBytes", "t", net_out_bytes, false),
        TOLD(SLICE_INTERFACE, "ControlGroup", "s", group, false),
        TOLD(SLICE_INTERFACE, "MemoryCurrent", "t", memory_current, false),
        TOLD(SLICE_INTERFACE, "IPIngressBytes", "t", net_in_bytes, false),
        TOLD(SLICE_INTERFACE, "IPEgressBytes", "t", net_out_bytes, false),
};
/* clang-format on */

FakeUnit *fake_unit_new(const char *name) {
        FakeUnit *unit = g_new0(FakeUnit, 1);
        int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", name, &unit->path);

        g_assert(r >= 0);
        unit->name = g_strdup(name);
        unit->asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                            (GDestroyNotify)g_variant_unref);
        unit->load = "loaded";
        unit->freezer = "running";
        unit->result = "success";
        unit->group = unit->status_text = "";
        unit->uid = UINT32_MAX;
        unit->memory_current = unit->net_in_bytes = unit->net_out_bytes = UINT64_MAX;
        fake_unit_set_state(unit, "inactive", "dead");
        return unit;
}

void fake_unit_free(FakeUnit *unit) {
        g_clear_pointer(&unit->fds, g_array_unref);
        g_hash_table_unref(unit->asked);
        free(unit->path); /* sd-bus allocated it */
        g_free(unit->name);
        g_free(unit->slice);
        g_free(unit);
}

bool fake_unit_is_slice(const FakeUnit *unit) {
        return g_str_has_suffix(unit->name, ".slice");
}

void fake_unit_set_state(FakeUnit *unit, const char *active, const char *sub) {
        unit->active = active;
        unit->sub = sub;
}

void fake_unit_job_path(const FakeUnit *unit, char ret_path[static 64]) {
        if (unit->job == 0)
                g_strlcpy(ret_path, "/", 64);
        else
                g_snprintf(ret_path, 64, "/org/freedesktop/systemd1/job/%u", unit->job);
}

static int append_job(const FakeUnit *unit, sd_bus_message *message) {
        char path[64];

        fake_unit_job_path(unit, path);
        return sd_bus_message_append(message, "(uo)", unit->job, path);
}

/* Sixteen bytes once the program was forked, none before. */
static int append_invocation(const FakeUnit *unit, sd_bus_message *message) {
        static const uint8_t bytes[16] = { 0xc0, 0x4d, 0x01, 7, 7, 7, 7, 7,
                                           7,    7,    7,    7, 7, 7, 7, 0xff };

        return sd_bus_message_append_array(message, 'y', bytes,
                                           unit->exec_main_pid ? sizeof(bytes) : 0);
}

static int append_value(const Told *row, const FakeUnit *unit, sd_bus_message *message) {
        const void *place = (const char *)unit + row->offset;

        switch (row->type[0]) {
        case 's':
                return sd_bus_message_append_basic(message, 's', *(const char *const *)place);
        case '(':
                return append_job(unit, message);
        case 'a':
                return append_invocation(unit, message);
        default:
                return sd_bus_message_append_basic(message, row->type[0], place);
        }
}

static int append_boxed(const Told *row, const FakeUnit *unit, sd_bus_message *message) {
        int r = sd_bus_message_open_container(message, 'v', row->type);

        if (r >= 0)
                r = append_value(row, unit, message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_odd(const Told *row, sd_bus_message *message) {
        if (row->type[0] == 's')
                return sd_bus_message_append(message, "v", "u", 4711);
        return sd_bus_message_append(message, "v", "s", "4711");
}

static int append_entry(const Told *row, const FakeUnit *unit, sd_bus_message *message,
                        bool is_odd) {
        int r = sd_bus_message_open_container(message, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", row->name);
        if (r >= 0)
                r = is_odd ? append_odd(row, message) : append_boxed(row, unit, message);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int fake_unit_append(const FakeUnit *unit, sd_bus_message *message, const char *interface,
                     bool is_news, bool has_odd_types) {
        int r = sd_bus_message_open_container(message, 'a', "{sv}");

        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(told); i++)
                if (strcmp(told[i].interface, interface) == 0 && (told[i].is_news || !is_news))
                        r = append_entry(&told[i], unit, message, has_odd_types);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

int fake_unit_append_one(const FakeUnit *unit, sd_bus_message *message, const char *interface,
                         const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(told); i++)
                if (strcmp(told[i].interface, interface) == 0 && strcmp(told[i].name, name) == 0)
                        return append_boxed(&told[i], unit, message);
        return -ENOENT;
}
