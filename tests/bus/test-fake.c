/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The fake is only worth what it has in common with the real thing: what goes over the wire here, message by message, is
 * what systemd 252 sent over a direct connection (the slices above and the manager's own properties left out). */

#include <signal.h>
#include <string.h>
#include <tap.h>

#include "talk.h"
#include "units/property.h"

#define UNIT  "cordon-x.service"
#define SLICE "cordon-x.slice"

#define STARTED                           \
        "> StartTransientUnit " UNIT "\n" \
        "< UnitNew " UNIT "\n"            \
        "< JobNew " UNIT "\n"             \
        "< StartTransientUnit answered\n" \
        "< UnitNew " SLICE "\n"           \
        "< JobNew " SLICE "\n"            \
        "< PropertiesChanged " SLICE "\n" \
        "< PropertiesChanged " SLICE "\n" \
        "< JobRemoved " SLICE " done\n"   \
        "< PropertiesChanged " SLICE "\n" \
        "< PropertiesChanged " UNIT "\n"  \
        "< PropertiesChanged " UNIT "\n"  \
        "< PropertiesChanged " UNIT "\n"  \
        "< PropertiesChanged " UNIT "\n"  \
        "< JobRemoved " UNIT " done\n"    \
        "< PropertiesChanged " UNIT "\n"  \
        "< PropertiesChanged " UNIT "\n"
#define ENDED                            \
        "< PropertiesChanged " UNIT "\n" \
        "< PropertiesChanged " UNIT "\n"

static char *log_of(Talk *talk) {
        talk_settle(talk);
        return fake_log_text(talk->fake);
}

static void start(Talk *talk) {
        g_autoptr(PropertyList) none = property_list_new(), slice = property_list_new();

        property_list_set(slice, "Before", g_variant_new_strv((const char *[]){ UNIT }, 1));
        talk_await(talk, manager_start_transient(talk_caller(talk), UNIT, none, SLICE, slice));
        talk_settle(talk);
}

static void test_killed_and_cleared(void) {
        g_autoptr(Talk) talk = talk_new(&faults[FAULT_NONE], 0);
        g_autofree char *started = NULL, *killed = NULL, *cleared = NULL;

        start(talk);
        started = log_of(talk);
        is(started, STARTED, "a start is told as systemd tells it");
        talk_await(talk, manager_kill_unit(talk_caller(talk), SLICE, SIGKILL));
        killed = log_of(talk);
        is(killed + strlen(started), "> KillUnit " SLICE "\n< KillUnit answered\n" ENDED,
           "… and a kill");
        talk_await(talk, manager_reset_failed(talk_caller(talk), UNIT));
        talk_await(talk, manager_stop_unit(talk_caller(talk), SLICE));
        cleared = log_of(talk);
        is(cleared + strlen(killed),
           "> ResetFailedUnit " UNIT "\n"
           "< ResetFailedUnit answered\n"
           "< PropertiesChanged " UNIT "\n"
           "< PropertiesChanged " UNIT "\n"
           "> StopUnit " SLICE "\n"
           "< JobNew " SLICE "\n"
           "< StopUnit answered\n"
           "< PropertiesChanged " SLICE "\n"
           "< JobRemoved " SLICE " done\n"
           "< PropertiesChanged " SLICE "\n"
           "< UnitRemoved " SLICE "\n"
           "< UnitRemoved " UNIT "\n",
           "… and the clearing away");
}

static void test_reload(void) {
        g_autoptr(Talk) talk = talk_new(&faults[FAULT_RELOAD], 0);
        g_autofree char *log = NULL;

        start(talk);
        log = log_of(talk);
        is(log,
           STARTED "< Reloading \n"
                   "< UnitRemoved " SLICE "\n"
                   "< UnitRemoved " UNIT "\n"
                   "< UnitNew " SLICE "\n"
                   "< UnitNew " UNIT "\n"
                   "< Reloading \n",
           "a reload removes every unit and makes it anew");
}

static void test_habits(void) {
        g_autoptr(Talk) talk = talk_new(&faults[FAULT_NONE], 0);
        g_autofree char *stopped = NULL, *looked = NULL;

        talk_await(talk, manager_stop_unit(talk_caller(talk), SLICE));
        stopped = log_of(talk);
        is(stopped,
           "> StopUnit " SLICE "\n"
           "< UnitNew " SLICE "\n"
           "< JobNew " SLICE "\n"
           "< StopUnit answered\n"
           "< PropertiesChanged " SLICE "\n"
           "< JobRemoved " SLICE " done\n"
           "< PropertiesChanged " SLICE "\n"
           "< UnitRemoved " SLICE "\n",
           "stopping a slice that is not there makes one");
        talk_await(talk, manager_get_all(talk_caller(talk),
                                         "/org/freedesktop/systemd1/unit/cordon_2dx_2eservice",
                                         "org.freedesktop.systemd1.Unit"));
        looked = log_of(talk);
        is(looked + strlen(stopped),
           "> GetAll org.freedesktop.systemd1.Unit\n< GetAll not-found\n< UnitNew " UNIT
           "\n< UnitRemoved " UNIT "\n",
           "looking at a unit that is not there tells of its coming and going");
}

static void test_tables(void) {
        for (int i = 0; i < _PROGRAM_MAX; i++)
                ok(programs[i].text && programs[i].code != 0, "program %d is a row: it %s", i,
                   programs[i].text ?: "?");
        for (int i = 0; i < _FAULT_MAX; i++)
                ok(faults[i].text && !faults[i].refused_method == !faults[i].error_name,
                   "fault %d is a row: %s", i, faults[i].text ?: "?");
}

int main(void) {
        plan(NO_PLAN);
        test_tables();
        test_killed_and_cleared();
        test_reload();
        test_habits();
        done_testing();
}
