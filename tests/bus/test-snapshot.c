/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the snapshot takes from a{sv}, and what it leaves alone. The messages never leave the process. */

#include <stdarg.h>
#include <string.h>
#include <tap.h>

#include "dbus/snapshot.h"
#include "talk.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

static Talk *talk; /* for a bus to make messages with */

static sd_bus_message *message_with(const char *types, va_list arguments) {
        sd_bus_message *message = NULL;
        int r = sd_bus_message_new_signal(talk->bus, &message, "/x", "x.x", "X");

        if (r >= 0 && types)
                r = sd_bus_message_appendv(message, types, arguments);
        if (r >= 0)
                r = sd_bus_message_seal(message, 1, 0);
        if (r >= 0)
                r = sd_bus_message_rewind(message, true);
        g_assert(r >= 0);
        return message;
}

/* A message with that body, read by the snapshot. */
static int absorb(UnitSnapshot *snapshot, const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;

        va_start(arguments, types);
        message = message_with(types, arguments);
        va_end(arguments);
        return unit_snapshot_absorb(snapshot, message);
}

/* Likewise, as a change. */
static int absorb_change(UnitSnapshot *snapshot, const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;

        va_start(arguments, types);
        message = message_with(types, arguments);
        va_end(arguments);
        return unit_snapshot_absorb_change(snapshot, message);
}

static int glance(UnitSnapshot *snapshot, UnitChange *ret_change, const char *types, ...) {
        g_autoptr(sd_bus_message) message = NULL;
        va_list arguments;

        va_start(arguments, types);
        message = message_with(types, arguments);
        va_end(arguments);
        return unit_snapshot_glance(snapshot, message, ret_change);
}

static void test_every_field(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        ok(!snapshot.load_state && snapshot.exec_main_code == 0, "at first nothing is known");
        cmp_ok(snapshot.net_in_bytes, "==", UINT64_MAX, "… nor counted");
        cmp_ok(absorb(&snapshot, "a{sv}", 11, "LoadState", "s", "loaded", "ActiveState", "s",
                      "active", "SubState", "s", "running", "Result", "s", "success",
                      "InvocationID", "ay", 3, 0x00, 0x7f, 0xff, "ExecMainCode", "i", 2,
                      "ExecMainStatus", "i", -9, "ExecMainExitTimestampMonotonic", "t",
                      (uint64_t)1 << 63, "ActiveExitTimestampMonotonic", "t", (uint64_t)7,
                      "IPIngressBytes", "t", (uint64_t)5, "IPEgressBytes", "t", (uint64_t)6),
               ">=", 0, "every property of the table is read");
        is(snapshot.load_state, "loaded", "LoadState");
        is(snapshot.active_state, "active", "ActiveState");
        is(snapshot.sub_state, "running", "SubState");
        is(snapshot.result, "success", "Result");
        is(snapshot.invocation_id, "007fff", "InvocationID in hexadecimal");
        cmp_ok(snapshot.exec_main_code, "==", 2, "ExecMainCode");
        cmp_ok(snapshot.exec_main_status, "==", -9, "ExecMainStatus");
        cmp_ok(snapshot.exec_main_exit_usec, "==", (uint64_t)1 << 63,
               "ExecMainExitTimestampMonotonic");
        cmp_ok(snapshot.active_exit_usec, "==", 7, "ActiveExitTimestampMonotonic");
        cmp_ok(snapshot.net_in_bytes, "==", 5, "IPIngressBytes");
        cmp_ok(snapshot.net_out_bytes, "==", 6, "IPEgressBytes");
}

static void test_keeps(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        absorb(&snapshot, "a{sv}", 2, "Result", "s", "signal", "ExecMainStatus", "i", 9);
        cmp_ok(absorb(&snapshot, "a{sv}", 1, "ActiveState", "s", "failed"), ">=", 0,
               "a part is read");
        is(snapshot.result, "signal", "… and what it does not name stays");
        is(snapshot.active_state, "failed", "… and what it names is new");
        cmp_ok(absorb(&snapshot, "a{sv}", 0), ">=", 0, "nothing is read");
        is(snapshot.result, "signal", "… and changes nothing");
        absorb(&snapshot, "a{sv}", 1, "InvocationID", "ay", 1, 1);
        absorb(&snapshot, "a{sv}", 1, "InvocationID", "ay", 0);
        is(snapshot.invocation_id, NULL, "an empty invocation id is none");
}

static void test_skips(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        cmp_ok(absorb(&snapshot, "a{sv}", 4, "Result", "u", 7, "Nonsense", "a(sasb)", 1, "x", 1,
                      "y", 1, "ExecMainCode", "s", "1", "ExecMainStatus", "i", 3),
               ">=", 0, "unknown names and unexpected types are no error");
        is(snapshot.result, NULL, "a property of another type is not guessed");
        cmp_ok(snapshot.exec_main_code, "==", 0, "… not from a text either");
        cmp_ok(snapshot.exec_main_status, "==", 3, "… and what follows is read");
        cmp_ok(absorb(&snapshot, "a{sv}", 1, "ExecMainStatus", "x", (int64_t)4), ">=", 0,
               "a wider number is another type");
        cmp_ok(snapshot.exec_main_status, "==", 3, "… and changes nothing");
}

static void test_unreadable(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        cmp_ok(absorb(&snapshot, "a{ss}", 1, "Result", "x"), "<", 0,
               "another dictionary is an error");
        cmp_ok(absorb(&snapshot, "s", "x"), "<", 0, "a text is an error");
        cmp_ok(absorb(&snapshot, NULL), "<", 0, "an empty body is an error");
        is(snapshot.result, NULL, "… and nothing was read");
}

#define UNIT "org.freedesktop.systemd1.Unit"

/* The states alone, and of which interface it is. */
static void test_glances(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };
        UnitChange change = _CHANGE_MAX;

        unit_snapshot_init(&snapshot);
        cmp_ok(glance(&snapshot, &change, "sa{sv}as", "org.freedesktop.systemd1.Service", 1,
                      "ExecMainStatus", "i", 3, 0),
               ">=", 0, "a glance at a change of the service");
        ok(change == CHANGE_OF_KIND && snapshot.exec_main_status == 0, "… takes nothing of it");
        cmp_ok(glance(&snapshot, &change, "sa{sv}as", UNIT, 3, "SubState", "s", "exited",
                      "ActiveState", "s", "active", "ActiveExitTimestampMonotonic", "t",
                      (uint64_t)9, 0),
               ">=", 0, "a glance at a change of the unit");
        is(snapshot.active_state, "active", "… takes its states");
        is(snapshot.sub_state, "exited", "… both");
        ok(change == CHANGE_OF_UNIT && snapshot.active_exit_usec == 0, "… and nothing else");
        cmp_ok(glance(&snapshot, &change, "u", 1), "<", 0, "without an interface it is an error");
}

/* What stands behind the last that can be of interest is not looked at, as soon as the id is known. */
static void test_changes(void) {
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        cmp_ok(absorb_change(&snapshot, "sa{sv}as", UNIT, 4, "ActiveState", "s", "active",
                             "SubState", "s", "running", "ActiveExitTimestampMonotonic", "t",
                             (uint64_t)1, "InvocationID", "ay", 1, 0xab, 0),
               ">=", 0, "a change of the unit is read");
        is(snapshot.active_state, "active", "… with its state");
        is(snapshot.invocation_id, "ab", "… and the id at the end, the first time");
        cmp_ok(absorb_change(&snapshot, "sa{sv}as", "org.freedesktop.systemd1.Service", 6, "Other",
                             "as", 1, "x", "ExecMainExitTimestampMonotonic", "t", (uint64_t)2,
                             "ExecMainCode", "i", 1, "Result", "u", 1, "Other", "b", 0,
                             "ExecMainStatus", "i", 3, 0),
               ">=", 0, "a change of the service is read");
        cmp_ok(snapshot.exec_main_status, "==", 3, "… to its last property");
        is(snapshot.result, NULL, "… and what is of another type is not taken");
        cmp_ok(absorb_change(&snapshot, "sa{sv}as", UNIT, 4, "ActiveExitTimestampMonotonic", "t",
                             (uint64_t)9, "SubState", "s", "exited", "ActiveState", "s", "inactive",
                             "InvocationID", "ay", 1, 0xcd, 0),
               ">=", 0, "the next change, in another order");
        is(snapshot.sub_state, "exited", "… is read");
        is(snapshot.active_state, "inactive", "… whole");
        is(snapshot.invocation_id, "ab", "… but for the id, which stays what it is");
        cmp_ok(absorb_change(&snapshot, "sa{sv}as", UNIT, 0, 0), ">=", 0,
               "an empty change is none");
        cmp_ok(absorb_change(&snapshot, "u", 1), "<", 0, "without an interface it is an error");
        cmp_ok(absorb_change(&snapshot, "sas", UNIT, 0), "<", 0, "… and without values");
}

/* Who ends by itself has ended before the manager makes anything of it. */
static void test_stopped(void) {
        static const struct {
                uint64_t active_exit, main_exit;
                bool was_stopped;
                const char *name;
        } rows[] = {
                { 0, 0, false, "one that runs" },
                { 0, 20, false, "one that ended and is kept" },
                { 30, 20, false, "one that failed" },
                { 20, 20, false, "one that failed in the same moment" },
                { 10, 20, true, "one that was stopped" },
                { 10, 0, false, "one that is being stopped" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                UnitSnapshot snapshot = { .active_exit_usec = rows[i].active_exit,
                                          .exec_main_exit_usec = rows[i].main_exit };

                ok(unit_snapshot_was_stopped(&snapshot) == rows[i].was_stopped, "%s was%s stopped",
                   rows[i].name, rows[i].was_stopped ? "" : " not");
        }

        g_auto(UnitSnapshot) snapshot = { 0 };

        ok(!unit_snapshot_is_stopping(&snapshot), "what is not known is not being stopped");
        absorb(&snapshot, "a{sv}", 1, "ActiveState", "s", "deactivating");
        ok(unit_snapshot_is_stopping(&snapshot), "what is deactivating is");
}

int main(void) {
        plan(NO_PLAN);
        talk = talk_new(&faults[FAULT_NONE], 0);
        test_every_field();
        test_keeps();
        test_skips();
        test_unreadable();
        test_glances();
        test_changes();
        test_stopped();
        talk_free(talk);
        done_testing();
}
