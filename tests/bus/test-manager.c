/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every call alone: what is sent, what comes back, and each way in which it can come to nothing. */

#include <signal.h>
#include <string.h>
#include <tap.h>

#include "dbus/error.h"
#include "dbus/manager.h"
#include "talk.h"
#include "units/property.h"

#define UNIT_PATH "/org/freedesktop/systemd1/unit/t_2eservice"

static const Fault none = { .text = "none" };

static ManagerCall *start(Talk *talk) {
        g_autoptr(PropertyList) unit = property_list_new(), slice = property_list_new();

        return manager_start_transient(talk_caller(talk), "t.service", unit, "t.slice", slice);
}

static Talk *talk_with_unit(void) {
        Talk *talk = talk_new(&none, 0);

        talk_await(talk, start(talk));
        talk_settle(talk);
        return talk;
}

/* The calls, one a row, on a unit that runs: how it is made, and what the manager got. */

static ManagerCall *make_stop(Talk *talk) {
        return manager_stop_unit(talk_caller(talk), "t.slice");
}

static ManagerCall *make_kill(Talk *talk) {
        return manager_kill_unit(talk_caller(talk), "t.slice", SIGKILL);
}

static ManagerCall *make_reset(Talk *talk) {
        return manager_reset_failed(talk_caller(talk), "t.service");
}

static ManagerCall *make_subscribe(Talk *talk) {
        return manager_subscribe(talk_caller(talk));
}

static ManagerCall *make_list(Talk *talk) {
        return manager_list_units(talk_caller(talk), (const char *const[]){ "t.*", NULL });
}

static ManagerCall *make_version(Talk *talk) {
        return manager_get(talk_caller(talk), MANAGER_PATH, MANAGER_INTERFACE, "Version");
}

static ManagerCall *make_get_all(Talk *talk) {
        return manager_get_all(talk_caller(talk), UNIT_PATH, "org.freedesktop.systemd1.Unit");
}

static const struct {
        ManagerCall *(*make)(Talk *talk);
        const char *method;
        const char *doing; /* as messages say it */
} calls[] = {
        { start, "StartTransientUnit", "starting the unit" },
        { make_stop, "StopUnit", "stopping the unit" },
        { make_kill, "KillUnit", "killing the unit" },
        { make_reset, "ResetFailedUnit", "clearing the unit" },
        { make_subscribe, "Subscribe", "subscribing to the manager's signals" },
        { make_list, "ListUnitsByPatterns", "listing units" },
        { make_version, "Get", "asking for a property" },
        { make_get_all, "GetAll", "reading the unit" },
};

static void test_answered(size_t i) {
        g_autoptr(Talk) talk = calls[i].make == start ? talk_new(&none, 0) : talk_with_unit();
        g_autofree char *sent = g_strdup_printf("> %s", calls[i].method), *log = NULL;

        talk_await(talk, calls[i].make(talk));
        log = fake_log_text(talk->fake);
        ok(strstr(log, sent), "%s is called", calls[i].method);
        ok(talk->reply && !talk->error, "… and its answer is handed on");
}

static void test_refused(size_t i) {
        Fault fault = { .refused_method = calls[i].method,
                        .error_name = "org.freedesktop.systemd1.Whatever",
                        .error_words = "The stars are wrong." };
        g_autofree char *message = g_strdup_printf("%s: The stars are wrong.", calls[i].doing);
        g_autoptr(Talk) talk = talk_new(&fault, 0);

        talk_await(talk, calls[i].make(talk));
        ok(!talk->reply && g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_FAILED),
           "%s may be refused", calls[i].method);
        is(talk->error->message, message, "… in the manager's words");
}

static void test_silent(size_t i) {
        Fault fault = { .silent_method = calls[i].method };
        g_autoptr(Talk) talk = talk_new(&fault, 1000);
        g_autofree char *message = g_strdup_printf("%s: Method call timed out", calls[i].doing);

        talk_await(talk, calls[i].make(talk));
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_NO_ANSWER), "%s has a deadline",
           calls[i].method);
        is(talk->error->message, message, "… and says so");
}

static void test_disconnected(size_t i) {
        g_autoptr(Talk) talk = talk_new(&none, 0);
        g_autofree char *message = g_strdup_printf("%s: Connection reset by peer", calls[i].doing);
        ManagerCall *call = calls[i].make(talk);

        fake_drop(talk->fake, true);
        talk_await(talk, call);
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED),
           "%s fails when the connection ends", calls[i].method);
        is(talk->error->message, message, "… and says so");
}

/* The call that cannot be sent answers from the loop, like all others, and once. */
static void test_closed(size_t i) {
        g_autoptr(Talk) talk = talk_new(&none, 0);

        talk_settle(talk);
        fake_drop(talk->fake, true);
        talk_settle(talk);

        ManagerCall *call = calls[i].make(talk);

        cmp_ok(talk->n_answers, "==", 0,
               "%s over a dead connection does not fail before it returns", calls[i].method);
        talk_await(talk, call);
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED), "… but soon");
        talk_settle(talk);
        cmp_ok(talk->n_answers, "==", 1, "… and once");
}

static void test_dropped(size_t i) {
        g_autoptr(Talk) talk = talk_new(&none, 0);

        manager_call_free(calls[i].make(talk));
        talk_settle(talk);
        cmp_ok(talk->n_answers, "==", 0, "the handler of a dropped %s never runs", calls[i].method);

        ManagerCall *call = calls[i].make(talk);

        fake_drop(talk->fake, true);
        manager_call_free(call);
        talk_settle(talk);
        cmp_ok(talk->n_answers, "==", 0, "… not when the connection ends either");

        manager_call_free(calls[i].make(talk));
        talk_settle(talk);
        cmp_ok(talk->n_answers, "==", 0, "… nor when it could not be sent");
}

static void test_nobody_asks(size_t i) {
        g_autoptr(Talk) talk = talk_new(&none, 0);
        ManagerCaller nobody = { .bus = talk->bus };
        ManagerCall *call = manager_stop_unit(nobody, "t.slice");

        talk_settle(talk);
        fake_drop(talk->fake, true);
        talk_settle(talk);
        manager_call_free(call);
        manager_call_free(manager_stop_unit(nobody, "t.slice"));
        talk_settle(talk);
        pass("a call without a handler may be answered, fail, or not be sent");
}

/* Errors */

static const struct {
        const char *name;
        DbusError code;
} errors[] = {
        { "org.freedesktop.DBus.Error.AccessDenied", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.AuthFailed", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", DBUS_ERROR_ACCESS },
        { "org.freedesktop.DBus.Error.PropertyReadOnly", DBUS_ERROR_UNKNOWN_PROPERTY },
        { "org.freedesktop.DBus.Error.UnknownProperty", DBUS_ERROR_UNKNOWN_PROPERTY },
        { "org.freedesktop.DBus.Error.NoReply", DBUS_ERROR_NO_ANSWER },
        { "org.freedesktop.DBus.Error.Timeout", DBUS_ERROR_NO_ANSWER },
        { "org.freedesktop.DBus.Error.Disconnected", DBUS_ERROR_DISCONNECTED },
        { "org.freedesktop.systemd1.UnitExists", DBUS_ERROR_EXISTS },
        { "org.freedesktop.systemd1.NoSuchUnit", DBUS_ERROR_NO_SUCH_UNIT },
        { "org.freedesktop.systemd1.BadUnitSetting", DBUS_ERROR_FAILED },
        { "org.freedesktop.DBus.Error.LimitsExceeded", DBUS_ERROR_FAILED },
        { "org.freedesktop.DBus.Error.InvalidArgs", DBUS_ERROR_FAILED },
        { "org.example.NobodyKnows", DBUS_ERROR_FAILED },
};

static void test_error(size_t i) {
        Fault fault = { .refused_method = "StartTransientUnit",
                        .error_name = errors[i].name,
                        .error_words = "words" };
        g_autoptr(Talk) talk = talk_new(&fault, 0);

        talk_await(talk, start(talk));
        cmp_ok(talk->error->code, "==", errors[i].code, "%s has its code", errors[i].name);
        is(talk->error->message, "starting the unit: words", "… and keeps the manager's words");
}

/* What calls do */

static void test_effects(void) {
        g_autoptr(Talk) talk = talk_with_unit();

        talk_await(talk, start(talk));
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_EXISTS),
           "a second unit of the name is refused");
        is(talk->error->message,
           "starting the unit: Unit t.service was already loaded or has a fragment file.",
           "… in systemd's words");
        talk_await(talk, make_kill(talk));
        talk_settle(talk);
        talk_await(talk, make_reset(talk));
        talk_settle(talk);
        ok(!fake_has_unit(talk->fake, "t.service"), "killed, failed and cleared it is gone");
        talk_await(talk, make_stop(talk));
        talk_settle(talk);
        ok(!fake_has_unit(talk->fake, "t.slice"), "… and stopped, its slice is");
        talk_await(talk, make_reset(talk));
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_NO_SUCH_UNIT),
           "what is gone cannot be cleared");
        is(talk->error->message, "clearing the unit: Unit t.service not loaded.",
           "… in systemd's words");
}

static void test_list(void) {
        g_autoptr(Talk) talk = talk_with_unit();
        g_autoptr(GPtrArray) units = NULL, none_left = NULL;
        g_autoptr(GError) error = NULL;

        talk_await(talk, make_list(talk));
        ok(manager_read_units(talk->reply, &units, &error), "a list of units is read");
        cmp_ok(units->len, "==", 2, "… and has the two that match");
        const ManagerUnit *first = units->pdata[0], *second = units->pdata[1];
        is(first->name, "t.service", "… the one that was asked for first");
        is(second->name, "t.slice", "… and its slice");
        is(second->description, "a description", "… with a description");

        talk_await(talk, manager_list_units(talk_caller(talk),
                                            (const char *const[]){ "nothing*", NULL }));
        ok(manager_read_units(talk->reply, &none_left, &error), "an empty list is read");
        cmp_ok(none_left->len, "==", 0, "… and is empty");

        talk_await(talk, make_version(talk));
        g_autoptr(GPtrArray) wrong = NULL;
        ok(!manager_read_units(talk->reply, &wrong, &error) && !wrong,
           "what is no list is refused");
        like(error->message,
             "^reading the list of units: ", "… and the message says what it was for");
}

static void test_version(void) {
        g_autoptr(Talk) talk = talk_new(&none, 0);
        const char *version = NULL;

        talk_await(talk, make_version(talk));
        cmp_ok(sd_bus_message_read(talk->reply, "v", "s", &version), ">=", 0,
               "the version is a text in a variant");
        is(version, FAKE_VERSION, "… and the manager's own");
}

int main(void) {
        static void (*const tests[])(size_t i) = { test_answered,     test_refused, test_silent,
                                                   test_disconnected, test_closed,  test_dropped,
                                                   test_nobody_asks };

        plan(NO_PLAN);
        for (size_t test = 0; test < G_N_ELEMENTS(tests); test++)
                for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
                        tests[test](i);
        for (size_t i = 0; i < G_N_ELEMENTS(errors); i++)
                test_error(i);
        test_effects();
        test_list();
        test_version();
        done_testing();
}
