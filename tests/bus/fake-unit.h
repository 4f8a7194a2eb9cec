/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A unit as the fake manager keeps it: what was asked of it, and the properties that a manager tells of it. It sends
 * nothing. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define UNIT_INTERFACE    "org.freedesktop.systemd1.Unit"
#define SERVICE_INTERFACE "org.freedesktop.systemd1.Service"
#define SLICE_INTERFACE   "org.freedesktop.systemd1.Slice"

typedef struct {
        char *name, *path, *slice; /* slice: of a service, NULL where none was made for it */
        GHashTable *asked;         /* name → GVariant: what StartTransientUnit brought */
        GArray *fds;               /* … and its descriptors */

        /* What is told; the strings are static. */
        const char *load, *active, *sub, *freezer, *result, *group, *status_text;
        uint32_t main_pid, control_pid, exec_main_pid, uid, job;
        int32_t exec_main_code, exec_main_status;
        uint64_t exec_start_usec, exec_exit_usec, memory_current, net_in_bytes, net_out_bytes;
} FakeUnit;

FakeUnit *fake_unit_new(const char *name);
void fake_unit_free(FakeUnit *unit);
bool fake_unit_is_slice(const FakeUnit *unit);
void fake_unit_set_state(FakeUnit *unit, const char *active, const char *sub);
void fake_unit_job_path(const FakeUnit *unit, char ret_path[static 64]);

/* Appends a{sv}: every property of the interface, or (is_news) what PropertiesChanged tells of it. With has_odd_types
 * every value has another type than it should. */
int fake_unit_append(const FakeUnit *unit, sd_bus_message *message, const char *interface,
                     bool is_news, bool has_odd_types);

/* Appends v, one property; −ENOENT when there is none of that name. */
int fake_unit_append_one(const FakeUnit *unit, sd_bus_message *message, const char *interface,
                         const char *name);
