/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two launchers that speak to a manager over one connection: each is answered, hears of its own unit and of what concerns
 * all, and of a unit no more than anybody reads. */

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#include "case.h"
#include "dbus/connect.h"
#include "dbus/error.h"
#include "dbus/relay.h"
#include "dbus/snapshot.h"
#include "dbus/switchboard.h"
#include "talk.h"
#include "units/property.h"

#define OTHER_UNIT  "cordon-y.service"
#define OTHER_SLICE "cordon-y.slice"

typedef struct {
        Passenger *passenger;
        sd_bus *bus; /* the launcher's end */
        Switchboard *board;
        SwitchboardLine *line;
        unsigned n_properties, n_removed, n_reloaded, n_ended;
        char *job_result, *active_state;
} Rider;

static Talk *talk;
static Relay *relay;
static unsigned n_connections; /* to the manager, by the relay */

/* In place of dbus/connect: the fake manager listens nowhere. */
bool connect_direct(const char *socket_path, sd_bus **ret_bus, GError **error) {
        *ret_bus = fake_connect(talk->fake, 0);
        if (!*ret_bus)
                return false;
        sd_bus_detach_event(*ret_bus);
        n_connections++;
        return true;
}

static void on_properties(sd_bus_message *message, void *userdata) {
        Rider *rider = userdata;
        g_auto(UnitSnapshot) snapshot = { 0 };

        unit_snapshot_init(&snapshot);
        rider->n_properties++;
        if (unit_snapshot_absorb_change(&snapshot, message) < 0 || !snapshot.active_state)
                return;
        g_free(rider->active_state);
        rider->active_state = g_strdup(snapshot.active_state);
}

static void on_job_removed(const char *result, void *userdata) {
        Rider *rider = userdata;

        g_free(rider->job_result);
        rider->job_result = g_strdup(result);
}

static void on_unit_removed(void *userdata) {
        ((Rider *)userdata)->n_removed++;
}

static void on_reloaded(void *userdata) {
        ((Rider *)userdata)->n_reloaded++;
}

static void on_disconnected(void *userdata) {
        ((Rider *)userdata)->n_ended++;
}

static const SwitchboardListener listener = {
        .on_properties = on_properties,
        .on_job_removed = on_job_removed,
        .on_unit_removed = on_unit_removed,
        .on_reloaded = on_reloaded,
        .on_disconnected = on_disconnected,
};

static void board_relay(Rider *rider, const char *unit) {
        int ends[2];
        int r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);

        g_assert(r == 0);
        *rider = (Rider){ .passenger = passenger_new(relay, ends[1]) };
        r = sd_bus_new(&rider->bus);
        if (r >= 0)
                r = sd_bus_set_fd(rider->bus, ends[0], ends[0]);
        if (r >= 0)
                r = sd_bus_set_connected_signal(rider->bus, true);
        if (r >= 0)
                r = sd_bus_start(rider->bus);
        if (r >= 0)
                r = sd_bus_attach_event(rider->bus, talk->event, SD_EVENT_PRIORITY_NORMAL);
        g_assert(r >= 0);
        rider->board = switchboard_new(rider->bus, NULL, NULL);
        rider->line = switchboard_listen(rider->board, unit, &listener, rider);
        talk_settle(talk);
}

static void get_off(Rider *rider) {
        switchboard_line_free(rider->line);
        switchboard_free(rider->board);
        sd_bus_close_unref(rider->bus);
        passenger_free(rider->passenger);
        g_free(rider->job_result);
        g_free(rider->active_state);
}

/* The talk's own connection goes with the relay's first: the fake has one at a time. */
static void begin(FaultKind fault, Rider *x, Rider *y) {
        talk = talk_new(&faults[fault], 0);
        relay = relay_new(talk->event, "nowhere");
        n_connections = 0;
        board_relay(x, CASE_UNIT);
        board_relay(y, OTHER_UNIT);
}

static void end(Rider *x, Rider *y) {
        get_off(x);
        get_off(y);
        relay_free(relay);
        talk_free(talk);
}

static void call(Rider *rider, ManagerCall *(*make)(ManagerCaller caller)) {
        ManagerCaller caller = talk_caller(talk);

        caller.bus = rider->bus;
        talk_await(talk, make(caller));
        talk_settle(talk);
}

static ManagerCall *start_x(ManagerCaller caller) {
        g_autoptr(PropertyList) none = property_list_new();

        return manager_start_transient(caller, CASE_UNIT, none, CASE_SLICE, none);
}

static ManagerCall *start_y(ManagerCaller caller) {
        g_autoptr(PropertyList) none = property_list_new();

        return manager_start_transient(caller, OTHER_UNIT, none, OTHER_SLICE, none);
}

static void test_own_news(void) {
        Rider x, y;

        begin(FAULT_NONE, &x, &y);
        cmp_ok(n_connections, "==", 1, "two launchers share a connection");
        call(&x, start_x);
        ok(talk->reply && !talk->error, "a call is answered");
        is(x.job_result, "done", "who starts a unit hears of its job");
        is(x.active_state, "active", "… and of its state");
        is(y.job_result, NULL, "another does not hear of that job");
        cmp_ok(y.n_properties, "==", 0, "… nor of that unit");
        call(&y, start_y);
        is(y.job_result, "done", "… but of its own");
        x.n_properties = 0;
        fake_kill(talk->fake, OTHER_UNIT, SIGKILL);
        talk_settle(talk);
        cmp_ok(x.n_properties, "==", 0, "news of that one go to nobody else");
        end(&x, &y);
}

static ManagerCall *list_nothing(ManagerCaller caller) {
        static const char *const patterns[] = { "nothing*", NULL };

        return manager_list_units(caller, patterns);
}

static void test_refused(void) {
        Rider x, y;

        begin(FAULT_REFUSE_ACCESS, &x, &y);
        call(&x, start_x);
        ok(!talk->reply && g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_ACCESS),
           "a refusal is that of the manager");
        call(&x, list_nothing);
        ok(talk->reply && !talk->error, "… and the connection goes on");
        end(&x, &y);
}

static void test_name_taken(void) {
        Rider x, y;

        begin(FAULT_NONE, &x, &y);
        call(&x, start_x);
        call(&y, start_x);
        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_EXISTS),
           "who asks for a unit that another has is refused");
        x.n_properties = 0;
        fake_kill(talk->fake, CASE_UNIT, SIGKILL);
        talk_settle(talk);
        cmp_ok(x.n_properties, ">", 0, "… and news of it go to who has it");
        cmp_ok(y.n_properties, "==", 0, "… alone");
        end(&x, &y);
}

static void test_descriptor(void) {
        Rider x, y;
        g_autoptr(PropertyList) list = property_list_new();
        g_autoptr(PropertyList) none = property_list_new();
        ManagerCaller caller;
        int ends[2];
        char byte = 0;

        begin(FAULT_NONE, &x, &y);
        g_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        property_list_set_fd(list, "StandardInputFileDescriptor", ends[1]);
        caller = talk_caller(talk);
        caller.bus = x.bus;
        talk_await(talk, manager_start_transient(caller, CASE_UNIT, list, CASE_SLICE, none));
        talk_settle(talk);
        ok(send(ends[0], "a", 1, MSG_NOSIGNAL) == 1 &&
                   recv(fake_property_fd(talk->fake, CASE_UNIT, "StandardInputFileDescriptor"),
                        &byte, 1, MSG_DONTWAIT) == 1 &&
                   byte == 'a',
           "a descriptor comes along");
        close(ends[0]);
        close(ends[1]);
        end(&x, &y);
}

static void test_reloaded(void) {
        Rider x, y;

        begin(FAULT_RELOAD, &x, &y);
        call(&x, start_x);
        cmp_ok(x.n_reloaded, "==", 1, "that the manager reloaded is told");
        cmp_ok(y.n_reloaded, "==", 1, "… to all");
        end(&x, &y);
}

static void test_manager_gone(void) {
        Rider x, y, z;

        begin(FAULT_NONE, &x, &y);
        call(&x, start_x);
        fake_drop(talk->fake, false);
        talk_settle(talk);
        ok(x.n_ended == 1 && y.n_ended == 1, "when the manager hangs up, all find it so");
        board_relay(&z, CASE_UNIT);
        cmp_ok(n_connections, "==", 2, "who comes then has a new connection");
        call(&z, list_nothing);
        ok(talk->reply && !talk->error, "… that works");
        get_off(&z);
        fake_drop(talk->fake, true);
        talk_settle(talk);
        {
                int ends[2];

                g_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
                ok(!passenger_new(relay, ends[1]), "where there is no manager nobody is taken on");
                cmp_ok(recv(ends[0], &ends[1], 1, 0), "==", 0, "… and finds end of file");
                close(ends[0]);
        }
        end(&x, &y);
}

/* A connection that has ended answers what is under way and says so last: until then nobody may take its place. */
static void test_late_comer(void) {
        Rider x, y, z;
        Passenger *late;
        sd_bus *bus;
        int ends[2];

        begin(FAULT_NONE, &x, &y);
        call(&x, start_x);
        bus = sd_bus_ref(relay_hold(relay));
        relay_let_go(relay);
        fake_drop(talk->fake, false);
        while (sd_bus_is_open(bus) > 0)
                g_assert(sd_event_run(talk->event, G_USEC_PER_SEC) > 0);
        g_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        late = passenger_new(relay, ends[1]);
        talk_settle(talk);
        ok(x.n_ended == 1 && y.n_ended == 1,
           "who comes while the manager hangs up keeps nobody from hearing of it");
        ok(!late, "… and goes to the manager himself");
        passenger_free(late);
        close(ends[0]);
        board_relay(&z, CASE_UNIT);
        call(&z, list_nothing);
        ok(talk->reply && !talk->error, "… and the next one is taken on");
        get_off(&z);
        sd_bus_unref(bus);
        end(&x, &y);
}

/* Answers that come for who has left go nowhere. */
static void test_leaves(void) {
        Rider x, y;
        ManagerCaller caller;
        ManagerCall *under_way;

        begin(FAULT_NONE, &x, &y);
        caller = talk_caller(talk);
        caller.bus = x.bus;
        caller.handler = NULL;
        under_way = start_x(caller);
        while (!fake_has_unit(talk->fake, CASE_UNIT))
                g_assert(sd_event_run(talk->event, G_USEC_PER_SEC) > 0);
        manager_call_free(under_way);
        get_off(&x);
        talk_settle(talk);
        call(&y, list_nothing);
        ok(talk->reply && !talk->error, "one may leave with a call under way, and others stay");
        board_relay(&x, CASE_UNIT);
        end(&x, &y);
}

int main(void) {
        plan(NO_PLAN);
        test_own_news();
        test_refused();
        test_name_taken();
        test_descriptor();
        test_reloaded();
        test_manager_gone();
        test_late_comer();
        test_leaves();
        done_testing();
}
