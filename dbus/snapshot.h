/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the manager last said of a unit. One table names the properties that we care about and where they go; the same
 * table reads a PropertiesChanged signal and the answer of GetAll. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

typedef struct {
        char *load_state;   /* NULL: never heard */
        char *active_state; /* "activating", "active", "deactivating", "inactive", "failed" */
        char *sub_state;
        char *result;
        char *invocation_id;                  /* 32 hex digits; NULL unknown */
        int32_t exec_main_code;               /* CLD_…; 0: still running or never ran */
        int32_t exec_main_status;             /* exit code or signal */
        uint64_t exec_main_exit_usec;         /* monotonic; 0: not yet */
        uint64_t active_exit_usec;            /* likewise: when it was not active any more */
        uint64_t net_in_bytes, net_out_bytes; /* UINT64_MAX: not counted */
} UnitSnapshot;

void unit_snapshot_init(UnitSnapshot *snapshot);
void unit_snapshot_clear(UnitSnapshot *snapshot);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UnitSnapshot, unit_snapshot_clear)

/* Reads a{sv} at the message's position; what the table does not name is skipped. Negative errno as sd-bus. */
int unit_snapshot_absorb(UnitSnapshot *snapshot, sd_bus_message *message);

/* A PropertiesChanged signal is of the interface that all units have, or of that of its kind, and has all properties of it
 * that change at all: the last of each is as good as all of them. Both functions read its body, and where in it they stop
 * is not said; the first one takes no more than the states. */
typedef enum {
        CHANGE_OF_UNIT,
        CHANGE_OF_KIND,
        _CHANGE_MAX,
} UnitChange;

int unit_snapshot_glance(UnitSnapshot *snapshot, sd_bus_message *message, UnitChange *ret_change);
int unit_snapshot_absorb_change(UnitSnapshot *snapshot, sd_bus_message *message);

/* Likewise a variant, which is what Get answers for the property of that name. */
int unit_snapshot_absorb_value(UnitSnapshot *snapshot, const char *name, sd_bus_message *message);

/* Of a PropertiesChanged signal what anybody would absorb, as the body of another one. */
int unit_snapshot_sift(sd_bus_message *from, sd_bus_message *to);

/* No process of the unit is left: it is inactive, failed, or active with no more to do. */
bool unit_snapshot_is_at_rest(const UnitSnapshot *snapshot);

/* … and the status of the main process is known. */
bool unit_snapshot_has_ended(const UnitSnapshot *snapshot);

/* … and the unit is not a failed one, which somebody has to clear away when its slice is gone. */
bool unit_snapshot_has_ended_well(const UnitSnapshot *snapshot);

bool unit_snapshot_is_stopping(const UnitSnapshot *snapshot);

/* It was being stopped, not by the end of its main process: that came later. */
bool unit_snapshot_was_stopped(const UnitSnapshot *snapshot);
