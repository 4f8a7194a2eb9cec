/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every program once per fault, and with the connection ending after every single message. The subject is the smallest
 * consumer a watch can have: it starts, kills what does not end, clears away, and goes on over a new connection. What
 * the state says of the run is compared word by word. */

#include <signal.h>
#include <string.h>
#include <tap.h>

#include "case.h"
#include "dbus/error.h"
#include "dbus/watch.h"
#include "talk.h"
#include "units/property.h"

typedef struct {
        Case *run; /* borrowed */
        Switchboard *board;
        UnitWatch *watch;
        char *result; /* the manager's word before clearing resets it; NULL: not at the end yet */
        bool is_killed, is_clearing, is_lost, is_over;
} Consumer;

static bool has_ended(const UnitSnapshot *snapshot) {
        return snapshot->exec_main_code != 0 &&
               (g_strcmp0(snapshot->active_state, "failed") == 0 ||
                g_strcmp0(snapshot->active_state, "inactive") == 0);
}

static bool is_refused(const UnitState *state) {
        return state->start_error &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_NO_ANSWER) &&
               !g_error_matches(state->start_error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED);
}

static bool is_at_end(const UnitState *state) {
        return state->start_error || state->is_removed || has_ended(&state->snapshot) ||
               (state->job_result && strcmp(state->job_result, "done") != 0);
}

static bool is_running(const UnitState *state) {
        return g_strcmp0(state->job_result, "done") == 0 &&
               g_strcmp0(state->snapshot.sub_state, "running") == 0;
}

static void finish(Consumer *consumer) {
        consumer->is_over = true;
        case_is_over(consumer->run);
}

static void go_on(Consumer *consumer) {
        sd_bus *bus = case_reconnect(consumer->run);

        consumer->is_clearing = consumer->is_killed =
                false; /* what was asked for may not have been read */
        consumer->is_lost = !bus;
        if (!bus) {
                finish(consumer);
                return;
        }
        switchboard_attach(consumer->board, bus);
        unit_watch_go_on(consumer->watch);
}

static void clear(Consumer *consumer, const UnitState *state) {
        consumer->is_clearing = true;
        if (!consumer->result)
                consumer->result = g_strdup(state->snapshot.result ?: "-");
        if (is_refused(state))
                finish(consumer);
        else
                unit_watch_clear_away(consumer->watch);
}

static void decide(void *userdata) {
        Consumer *consumer = userdata;
        const UnitState *state = unit_watch_state(consumer->watch);

        if (consumer->is_over)
                return;
        if (state->is_disconnected)
                go_on(consumer);
        else if (state->is_refreshing)
                return;
        else if (consumer->is_clearing && state->is_cleared)
                finish(consumer);
        else if (!consumer->is_clearing && is_at_end(state))
                clear(consumer, state);
        else if (!consumer->is_killed && !case_program(consumer->run)->ends && is_running(state)) {
                consumer->is_killed = true;
                unit_watch_kill(consumer->watch, SIGKILL);
        }
}

static void *begin(Case *run, sd_bus *bus) {
        Consumer *consumer = g_new0(Consumer, 1);
        g_autoptr(PropertyList) unit = property_list_new(), slice = property_list_new();

        property_list_set_string(unit, "Slice", CASE_SLICE);
        property_list_set_uint64(slice, "MemoryMax", 100000000);
        property_list_set(slice, "Before", g_variant_new_strv((const char *[]){ CASE_UNIT }, 1));
        consumer->run = run;
        consumer->board = switchboard_new(bus, NULL, NULL);
        consumer->watch = unit_watch_new(consumer->board, CASE_UNIT, CASE_SLICE, decide, consumer);
        unit_watch_start(consumer->watch, unit, slice);
        return consumer;
}

/* The line */

static const char *const code_words[] = {
        [DBUS_ERROR_UNREACHABLE] = "unreachable",
        [DBUS_ERROR_NO_ANSWER] = "no answer",
        [DBUS_ERROR_DISCONNECTED] = "disconnected",
        [DBUS_ERROR_ACCESS] = "access",
        [DBUS_ERROR_EXISTS] = "exists",
        [DBUS_ERROR_NO_SUCH_UNIT] = "no such unit",
        [DBUS_ERROR_UNKNOWN_PROPERTY] = "unknown property",
        [DBUS_ERROR_FAILED] = "failed",
};

static void add_start(GString *line, const UnitState *state) {
        if (is_refused(state))
                g_string_append_printf(line, "refused (%s)", code_words[state->start_error->code]);
        else
                g_string_append(line, state->is_accepted ? "accepted" : "unanswered");
}

static void add_end(GString *line, const UnitSnapshot *snapshot) {
        const char *word = snapshot->exec_main_code == CLD_EXITED ? "exited" : "killed";

        if (snapshot->exec_main_code == 0)
                g_string_append(line, ", no end");
        else
                g_string_append_printf(line, ", %s %d", word, snapshot->exec_main_status);
}

static char *end(void *subject) {
        Consumer *consumer = subject;
        const UnitState *state = unit_watch_state(consumer->watch);
        GString *line = g_string_new(NULL);

        add_start(line, state);
        g_string_append_printf(line, ", job %s", state->job_result ?: "unknown");
        add_end(line, &state->snapshot);
        if (consumer->is_lost)
                g_string_append(line, ", lost");
        else
                g_string_append_printf(line, ", %s", consumer->result ?: "-");
        if (state->is_cleared && state->clear_error)
                g_string_append_printf(line, ", clear failed (%s)",
                                       code_words[state->clear_error->code]);
        else if (state->is_cleared)
                g_string_append(line, ", cleared");
        unit_watch_free(consumer->watch);
        switchboard_free(consumer->board);
        g_free(consumer->result);
        g_free(consumer);
        return g_string_free(line, FALSE);
}

static const Subject subject = { begin, end };

/* What must come out */

static const struct {
        const char *end;  /* after the first word, where nothing is lost */
        const char *gone; /* … and where the unit goes before its end is told */
} plain[_PROGRAM_MAX] = {
        [PROGRAM_EXITS_0] = { "job done, exited 0, success", "job done, no end, success" },
        [PROGRAM_EXITS_3] = { "job done, exited 3, exit-code", "job done, no end, success" },
        [PROGRAM_KILLED_9] = { "job done, killed 9, signal", "job done, no end, success" },
        [PROGRAM_KILLED_15] = { "job done, killed 15, success", "job done, no end, success" },
        [PROGRAM_NOT_EXECUTED] = { "job done, exited 203, exit-code", "job done, no end, success" },
        [PROGRAM_HANGS] = { "job done, killed 9, signal", "job done, no end, success" },
        [PROGRAM_NEVER_ENDS] = { "job done, killed 9, signal", "job done, no end, success" },
};

/* A row that is empty comes out as if nothing had gone wrong. */
static const struct {
        const char *whole;         /* the same for every program */
        const char *start, *clear; /* in place of "accepted" and "cleared" */
        bool is_gone;
        const char *left;
} expected[_FAULT_MAX] = {
        [FAULT_REFUSE_ACCESS] = { .whole = "refused (access), job unknown, no end, -" },
        [FAULT_REFUSE_POLKIT] = { .whole = "refused (access), job unknown, no end, -" },
        [FAULT_REFUSE_EXISTS] = { .whole = "refused (exists), job unknown, no end, -" },
        [FAULT_REFUSE_PROPERTY] = { .whole = "refused (unknown property), job unknown, no end, -" },
        [FAULT_REFUSE_UNKNOWN_PROPERTY] = { .whole =
                                                    "refused (unknown property), job unknown, no end, -" },
        [FAULT_REFUSE_SETTING] = { .whole = "refused (failed), job unknown, no end, -" },
        [FAULT_REFUSE_LIMITS] = { .whole = "refused (failed), job unknown, no end, -" },
        [FAULT_REFUSE_SLICE] = { .whole = "refused (no such unit), job unknown, no end, -" },
        [FAULT_REFUSE_SLICE_TWICE] = { .whole = "refused (no such unit), job unknown, no end, -" },
        [FAULT_JOB_FAILED] = { .whole = "accepted, job failed, no end, resources, cleared" },
        [FAULT_JOB_TIMEOUT] = { .whole = "accepted, job timeout, no end, success, cleared" },
        [FAULT_JOB_CANCELED] = { .whole = "accepted, job canceled, no end, success, cleared" },
        [FAULT_JOB_DEPENDENCY] = { .whole = "accepted, job dependency, no end, success, cleared" },
        [FAULT_JOB_SKIPPED] = { .whole = "accepted, job skipped, no end, success, cleared" },
        [FAULT_SILENT_START] = { .start = "unanswered" },
        [FAULT_SILENT_STOP] = { .clear = "clear failed (no answer)" },
        [FAULT_SILENT_RESET] = { .clear = "clear failed (no answer)" },
        [FAULT_REEXEC_GONE] = { .is_gone = true },
        [FAULT_REMOVED] = { .is_gone = true },
        [FAULT_STOP_NO_UNIT] = { .left = "?" },
        [FAULT_STOP_REFUSED] = { .clear = "clear failed (access)", .left = "?" },
};

static char *expected_line(ProgramKind program, FaultKind fault) {
        bool is_unasked = fault == FAULT_SILENT_RESET && !programs[program].fails;
        bool is_gone = expected[fault].is_gone ||
                       (fault == FAULT_REEXEC_GONE_AFTER_END && !programs[program].ends);

        if (expected[fault].whole)
                return g_strdup(expected[fault].whole);
        return g_strdup_printf("%s, %s, %s", expected[fault].start ?: "accepted",
                               is_gone ? plain[program].gone : plain[program].end,
                               is_unasked ? "cleared" : expected[fault].clear ?: "cleared");
}

static void test_case(ProgramKind program, FaultKind fault) {
        g_autofree char *line = expected_line(program, fault);
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { &subject, program, fault, CASE_NEVER, .expected = line };

        case_run(&row, &result);
        if (!is(result.line, line, "it %s; %s", programs[program].text, faults[fault].text))
                diag("%s", result.log);
        if (!expected[fault].left)
                is(result.left, NULL, "… and leaves no unit");
        cmp_ok(result.fds, "==", 0, "… and no descriptor");
}

/* The connection ends for good: all that was told is known, and nothing else. */
static char *told_line(const CaseResult *result) {
        const FakeTold *told = &result->told;
        GString *line = g_string_new(told->is_start_answered ? "accepted" : "unanswered");
        const UnitSnapshot snapshot = { .exec_main_code = told->exec_main_code,
                                        .exec_main_status = told->exec_main_status };

        g_string_append_printf(line, ", job %s", told->job_result ?: "unknown");
        add_end(line, &snapshot);
        g_string_append(line, ", lost");
        return g_string_free(line, FALSE);
}

static void test_drop(ProgramKind program, int drop_after) {
        g_autofree char *line = expected_line(program, FAULT_NONE), *told = NULL;
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { &subject, program, FAULT_NONE, drop_after, .expected = line };
        bool is_answered;

        case_run(&row, &result);
        told = told_line(&result);
        is_answered = strstr(result.log, "< StopUnit answered") &&
                      (!programs[program].fails ||
                       strstr(result.log, "< ResetFailedUnit answered"));
        if (!is(result.line, is_answered ? line : told,
                "it %s; the connection ends after %d messages", programs[program].text, drop_after))
                diag("%s", result.log);
        cmp_ok(result.fds, "==", 0, "… and leaves no descriptor");
}

/* That a run without a fault has. */
static unsigned count_messages(ProgramKind program) {
        g_autofree char *line = expected_line(program, FAULT_NONE);
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { &subject, program, FAULT_NONE, CASE_NEVER, .expected = line };

        case_run(&row, &result);
        is(result.line, line, "it %s; nothing goes wrong", programs[program].text);
        return result.n_messages;
}

/* Single calls */

typedef struct {
        Talk *talk;
        Switchboard *board;
        UnitWatch *watch;
        unsigned n_news;
        bool drops_itself;
} Listener;

static void on_news(void *userdata) {
        Listener *listener = userdata;

        listener->n_news++;
        if (listener->drops_itself)
                g_clear_pointer(&listener->watch, unit_watch_free);
}

static void listen_under(Listener *listener, FaultKind fault) {
        *listener = (Listener){ .talk = talk_new(&faults[fault], 0) };
        listener->board = switchboard_new(listener->talk->bus, NULL, NULL);
        listener->watch = unit_watch_new(listener->board, CASE_UNIT, CASE_SLICE, on_news, listener);
}

static void listen_no_more(Listener *listener) {
        unit_watch_free(listener->watch);
        switchboard_free(listener->board);
}

static void go_on_over(Listener *listener, sd_bus *bus) {
        switchboard_attach(listener->board, bus);
        unit_watch_go_on(listener->watch);
}

static void listen(Listener *listener) {
        listen_under(listener, FAULT_NONE);
}

static void start(Listener *listener) {
        g_autoptr(PropertyList) none = property_list_new();

        unit_watch_start(listener->watch, none, none);
        talk_settle(listener->talk);
}

/* A manager that re-executes may have told of the start job to nobody: that it was active is known all the same. */
static void test_job_unheard(void) {
        static const Fault fault = { .loses_job = true };
        g_autoptr(PropertyList) unit = property_list_new(), slice = property_list_new();
        Listener listener = { .talk = talk_new(&fault, 0) };

        property_list_set(slice, "Before", g_variant_new_strv((const char *[]){ CASE_UNIT }, 1));
        listener.board = switchboard_new(listener.talk->bus, NULL, NULL);
        listener.watch = unit_watch_new(listener.board, CASE_UNIT, CASE_SLICE, on_news, &listener);
        unit_watch_start(listener.watch, unit, slice);
        talk_settle(listener.talk);
        fake_exit(listener.talk->fake, CASE_UNIT, 0);
        talk_settle(listener.talk);

        const UnitState *state = unit_watch_state(listener.watch);

        ok(!state->job_result && !state->is_removed,
           "of the start job nothing was told, and the unit is there");
        ok(unit_snapshot_has_ended_well(&state->snapshot), "… and its end is known");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_start(void) {
        Listener listener;

        listen(&listener);
        is(unit_watch_state(listener.watch)->manager_version, NULL,
           "at first the manager's version is not known");
        start(&listener);
        is(unit_watch_state(listener.watch)->manager_version, FAKE_VERSION,
           "… and after the start it is");
        unit_watch_settle(listener.watch);
        is(unit_watch_state(listener.watch)->snapshot.invocation_id,
           "c04d01070707070707070707070707ff", "… so is the invocation");
        is(unit_watch_state(listener.watch)->snapshot.load_state, NULL,
           "… but whether it is loaded is not told");
        unit_watch_refresh(listener.watch);
        ok(unit_watch_state(listener.watch)->is_refreshing, "a refresh is under way");
        talk_settle(listener.talk);
        ok(!unit_watch_state(listener.watch)->is_refreshing, "… until it is answered");
        is(unit_watch_state(listener.watch)->snapshot.load_state, "loaded",
           "… with what is not told otherwise");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static ManagerCall *start_former(ManagerCaller caller) {
        g_autoptr(PropertyList) none = property_list_new();

        return manager_start_transient(caller, CASE_UNIT, none, CASE_SLICE, none);
}

/* An id may be used again while the one that had it is still being cleared away. */
static void test_former(void) {
        Listener listener;
        const UnitState *state;
        ManagerCaller caller;

        listen(&listener);
        state = unit_watch_state(listener.watch);
        caller = talk_caller(listener.talk);
        talk_await(listener.talk, start_former(caller));
        talk_settle(listener.talk);
        talk_await(listener.talk, manager_stop_unit(caller, CASE_SLICE));
        talk_settle(listener.talk);
        cmp_ok(listener.n_news, ">", 2, "a watch hears of another unit of its name");
        ok(!fake_has_unit(listener.talk->fake, CASE_UNIT), "… until that one is gone");
        ok(!state->is_removed, "… which is not its own being gone");
        is(state->job_result, NULL, "… nor was that its job");
        is(state->snapshot.active_state, NULL, "… nor its state");
        start(&listener);
        ok(state->is_accepted && !state->is_removed, "then its own is made");
        is(state->job_result, "done", "… with a job of its own");
        is(state->snapshot.active_state, "active", "… and a state");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_counters(void) {
        Listener listener;

        listen(&listener);
        start(&listener);
        fake_count_network(listener.talk->fake, CASE_SLICE, 1000, 2000);
        fake_count_network(listener.talk->fake, CASE_UNIT, 1, 2);
        unit_watch_count(listener.watch);
        unit_watch_clear_away(listener.watch);
        talk_settle(listener.talk);
        ok(unit_watch_state(listener.watch)->is_counted, "the network is counted");
        cmp_ok(unit_watch_state(listener.watch)->snapshot.net_in_bytes, "==", 1000,
               "what came in is the slice's count");
        cmp_ok(unit_watch_state(listener.watch)->snapshot.net_out_bytes, "==", 2000,
               "… what went out, too");
        unit_watch_count(listener.watch);
        talk_settle(listener.talk);
        cmp_ok(unit_watch_state(listener.watch)->snapshot.net_in_bytes, "==", 1000,
               "… and stay known when the slice is gone");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_dead_connection(void) {
        Listener listener;

        listen(&listener);
        start(&listener);
        fake_drop(listener.talk->fake, true);
        talk_settle(listener.talk);
        ok(unit_watch_state(listener.watch)->is_disconnected, "the end of the connection is news");
        unit_watch_kill(listener.watch, SIGKILL);
        unit_watch_refresh(listener.watch);
        unit_watch_catch_up(listener.watch);
        unit_watch_count(listener.watch);
        unit_watch_clear_away(listener.watch);
        talk_settle(listener.talk);
        ok(!unit_watch_state(listener.watch)->is_cleared, "nothing can be cleared away after it");
        listener.n_news = 0;
        go_on_over(&listener, listener.talk->bus);
        talk_settle(listener.talk);
        cmp_ok(listener.n_news, ">", 0, "going on over a connection that is dead is heard of");
        ok(unit_watch_state(listener.watch)->is_disconnected, "… as one that is dead");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

/* A start over a connection that is dead. */
static void test_dead_start(void) {
        Listener listener;

        listen(&listener);
        fake_drop(listener.talk->fake, true);
        talk_settle(listener.talk);
        listener.n_news = 0;
        start(&listener);
        ok(g_error_matches(unit_watch_state(listener.watch)->start_error, DBUS_ERROR,
                           DBUS_ERROR_DISCONNECTED),
           "a start over a dead connection fails");
        cmp_ok(listener.n_news, ">", 0, "… and is heard of");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_clear_again(void) {
        Listener listener;
        const UnitState *state;

        listen_under(&listener, FAULT_STOP_REFUSED);
        state = unit_watch_state(listener.watch);
        start(&listener);
        unit_watch_clear_away(listener.watch);
        talk_settle(listener.talk);
        ok(state->is_cleared && state->clear_error, "clearing away may be refused");
        unit_watch_clear_away(listener.watch);
        ok(!state->is_cleared && !state->clear_error, "… and tried again, from the beginning");
        unit_watch_clear_away(listener.watch);
        talk_settle(listener.talk);
        ok(state->is_cleared, "… once at a time");

        sd_bus *bus = fake_connect(listener.talk->fake, 0);

        unit_watch_clear_away(listener.watch);
        go_on_over(&listener, bus);
        unit_watch_clear_away(listener.watch);
        ok(!state->is_cleared, "over a new connection nothing is under way that was before");
        talk_settle(listener.talk);
        ok(state->is_cleared, "… and clearing away begins anew");
        listen_no_more(&listener);
        sd_bus_close_unref(bus);
        talk_free(listener.talk);
}

static void test_unreadable_news(void) {
        Listener listener;
        g_autofree char *log = NULL;

        listen_under(&listener, FAULT_ODD_TYPES);
        start(&listener);
        log = fake_log_text(listener.talk->fake);
        ok(strstr(log, "> GetAll"), "unreadable news are a reason to ask");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

/* Turns the loop up to the answer and no further: the manager's own word that the unit has gone comes after it. */
static void test_never_there(void) {
        Listener listener;

        listen(&listener);
        unit_watch_refresh(listener.watch);
        while (unit_watch_state(listener.watch)->is_refreshing)
                g_assert(sd_event_run(listener.talk->event, G_USEC_PER_SEC) > 0);
        ok(unit_watch_state(listener.watch)->is_removed, "a unit that is not found is gone");
        is(unit_watch_state(listener.watch)->snapshot.active_state, NULL,
           "… and its defaults say nothing of it");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_end(void) {
        Listener listener;
        const UnitState *state;

        listen(&listener);
        state = unit_watch_state(listener.watch);
        start(&listener);
        unit_watch_catch_up(listener.watch);
        unit_watch_clear_away(listener.watch);
        ok(state->is_refreshing, "the end is asked for");
        while (state->is_refreshing)
                g_assert(sd_event_run(listener.talk->event, G_USEC_PER_SEC) > 0);
        is(state->snapshot.active_state, "active",
           "… and answered as it was before the clearing away");
        ok(!state->was_stopping && !state->is_removed, "… of a unit that nobody was ending");
        talk_settle(listener.talk);
        ok(state->is_cleared && !state->clear_error, "… which is cleared away in the same round");
        ok(state->is_removed, "of what came after it nothing is missed");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

static void test_dropped_by_news(void) {
        Listener listener;

        listen(&listener);
        listener.drops_itself = true;
        start(&listener);
        ok(!listener.watch && listener.n_news == 1, "a handler may free its watch");
        listen_no_more(&listener);
        talk_free(listener.talk);
}

int main(void) {
        plan(NO_PLAN);
        test_job_unheard();
        test_start();
        test_former();
        test_counters();
        test_end();
        test_dead_connection();
        test_dead_start();
        test_clear_again();
        test_unreadable_news();
        test_never_there();
        test_dropped_by_news();
        for (ProgramKind program = 0; program < _PROGRAM_MAX; program++)
                for (FaultKind fault = 0; fault < _FAULT_MAX; fault++)
                        test_case(program, fault);
        for (ProgramKind program = 0; program < _PROGRAM_MAX; program++) {
                unsigned n_messages = count_messages(program);

                cmp_ok(n_messages, ">", 20, "it %s in %u messages", programs[program].text,
                       n_messages);
                for (unsigned n = 0; n < n_messages; n++)
                        test_drop(program, (int)n);
        }
        done_testing();
}
