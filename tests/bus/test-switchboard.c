/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two units on one board: each hears of itself and not of the other, and both hear what concerns all. */

#include <signal.h>
#include <string.h>
#include <tap.h>

#include "case.h"
#include "dbus/switchboard.h"
#include "talk.h"
#include "units/property.h"

#define OTHER_UNIT  "cordon-y.service"
#define OTHER_SLICE "cordon-y.slice"

typedef struct Ear {
        SwitchboardLine *line;
        struct Ear *frees; /* at the end of the connection: another's line; NULL: none */
        unsigned n_properties, n_removed, n_reloaded, n_disconnected;
        char *job_result;
} Ear;

typedef struct {
        Talk *talk;
        Switchboard *board;
        Ear x, y;
        unsigned n_ended; /* of the connection, as the board tells its owner */
} Setting;

static void on_properties(sd_bus_message *message, void *userdata) {
        Ear *ear = userdata;

        ear->n_properties += sd_bus_message_peek_type(message, NULL, NULL) > 0;
}

static void on_job_removed(const char *result, void *userdata) {
        Ear *ear = userdata;

        g_free(ear->job_result);
        ear->job_result = g_strdup(result);
}

static void on_unit_removed(void *userdata) {
        ((Ear *)userdata)->n_removed++;
}

static void on_reloaded(void *userdata) {
        ((Ear *)userdata)->n_reloaded++;
}

static void on_disconnected(void *userdata) {
        Ear *ear = userdata;

        ear->n_disconnected++;
        if (ear->frees)
                g_clear_pointer(&ear->frees->line, switchboard_line_free);
}

static const SwitchboardListener listener = {
        .on_properties = on_properties,
        .on_job_removed = on_job_removed,
        .on_unit_removed = on_unit_removed,
        .on_reloaded = on_reloaded,
        .on_disconnected = on_disconnected,
};

static void on_ended(void *userdata) {
        ((Setting *)userdata)->n_ended++;
}

static void setting_init(Setting *setting, FaultKind fault) {
        *setting = (Setting){ .talk = talk_new(&faults[fault], 0) };
        setting->board = switchboard_new(setting->talk->bus, on_ended, setting);
        setting->x.line = switchboard_listen(setting->board, CASE_UNIT, &listener, &setting->x);
        setting->y.line = switchboard_listen(setting->board, OTHER_UNIT, &listener, &setting->y);
}

static void setting_clear(Setting *setting) {
        switchboard_line_free(setting->x.line);
        switchboard_line_free(setting->y.line);
        switchboard_free(setting->board);
        talk_free(setting->talk);
        g_free(setting->x.job_result);
        g_free(setting->y.job_result);
}

static void start(Setting *setting, const char *unit, const char *slice) {
        g_autoptr(PropertyList) none = property_list_new();
        ManagerCaller caller = talk_caller(setting->talk);

        caller.bus = switchboard_bus(setting->board);
        talk_await(setting->talk, manager_start_transient(caller, unit, none, slice, none));
        talk_settle(setting->talk);
}

static unsigned count(const char *text, const char *word) {
        unsigned n = 0;

        for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
                n++;
        return n;
}

static void test_own_news(void) {
        Setting setting;

        setting_init(&setting, FAULT_NONE);
        start(&setting, CASE_UNIT, CASE_SLICE);
        is(setting.x.job_result, "done", "a unit hears of its job");
        cmp_ok(setting.x.n_properties, ">", 0, "… and of its properties");
        is(setting.y.job_result, NULL, "another does not hear of that job");
        cmp_ok(setting.y.n_properties, "==", 0, "… nor of those properties");
        start(&setting, OTHER_UNIT, OTHER_SLICE);
        is(setting.y.job_result, "done", "… but of its own");
        setting_clear(&setting);
}

static void test_removed(void) {
        Setting setting;

        setting_init(&setting, FAULT_REMOVED);
        start(&setting, CASE_UNIT, CASE_SLICE);
        cmp_ok(setting.x.n_removed, "==", 1, "a unit that is removed hears of it");
        cmp_ok(setting.y.n_removed, "==", 0, "… and no other");
        setting_clear(&setting);
}

static void test_version(void) {
        Setting setting;
        g_autofree char *log = NULL;

        setting_init(&setting, FAULT_NONE);
        is(switchboard_version(setting.board), NULL,
           "the version is not known before it is asked for");
        for (int i = 0; i < 3; i++)
                switchboard_ask_version(setting.board);
        talk_settle(setting.talk);
        switchboard_ask_version(setting.board);
        talk_settle(setting.talk);
        is(switchboard_version(setting.board), FAKE_VERSION, "… and then it is");
        log = fake_log_text(setting.talk->fake);
        cmp_ok(count(log, "> Get"), "==", 1, "… and was asked for once");
        setting_clear(&setting);
}

static void test_reloaded(void) {
        Setting setting;

        setting_init(&setting, FAULT_RELOAD);
        start(&setting, CASE_UNIT, CASE_SLICE);
        cmp_ok(setting.x.n_reloaded, "==", 1, "that the manager reloaded is told");
        cmp_ok(setting.y.n_reloaded, "==", 1, "… to all");
        cmp_ok(setting.x.n_removed, "==", 0, "… and that it says all units are removed is not");
        setting_clear(&setting);
}

static void test_disconnected(void) {
        Setting setting;
        sd_bus *bus;

        setting_init(&setting, FAULT_NONE);
        start(&setting, CASE_UNIT, CASE_SLICE);
        fake_drop(setting.talk->fake, false);
        talk_settle(setting.talk);
        cmp_ok(setting.x.n_disconnected + setting.y.n_disconnected, "==", 2,
               "the end of the connection is told to all");
        cmp_ok(setting.n_ended, "==", 1, "… and once to whoever has the board");
        ok(switchboard_is_disconnected(setting.board), "… and known");

        bus = fake_connect(setting.talk->fake, 0);
        switchboard_attach(setting.board, bus);
        ok(!switchboard_is_disconnected(setting.board), "a new connection takes its place");
        setting.x.n_properties = 0;
        talk_settle(setting.talk);
        fake_kill(setting.talk->fake, CASE_UNIT, SIGKILL);
        talk_settle(setting.talk);
        cmp_ok(setting.x.n_properties, ">", 0, "… over which news come to the same lines");
        cmp_ok(setting.y.n_properties, "==", 0, "… that they concern");
        setting_clear(&setting);
        sd_bus_close_unref(bus);
}

static void test_lines_go(void) {
        Setting setting;

        setting_init(&setting, FAULT_NONE);
        setting.x.frees = &setting.y;
        setting.y.frees = &setting.x;
        fake_drop(setting.talk->fake, true);
        talk_settle(setting.talk);
        cmp_ok(setting.x.n_disconnected + setting.y.n_disconnected, "==", 1,
               "who is told may free the others, which are not told any more");
        setting_clear(&setting);
}

/* A board for a connection that is dead already: nobody will say so. */
static void test_dead(void) {
        Setting setting;
        Switchboard *late;

        setting_init(&setting, FAULT_NONE);
        fake_drop(setting.talk->fake, true);
        talk_settle(setting.talk);
        late = switchboard_new(setting.talk->bus, NULL, NULL);
        ok(switchboard_is_disconnected(late), "a connection that was dead before is seen to be");
        switchboard_free(late);
        setting_clear(&setting);
}

int main(void) {
        plan(NO_PLAN);
        test_own_news();
        test_removed();
        test_version();
        test_reloaded();
        test_disconnected();
        test_lines_go();
        test_dead();
        done_testing();
}
