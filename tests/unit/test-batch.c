/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of a batch that need nobody: lines, the gauge, the ledger, the tally. */

#include <string.h>
#include <tap.h>

#include "launcher/batch/gauge.h"
#include "launcher/batch/ledger.h"
#include "launcher/batch/lines.h"
#include "launcher/batch/tally.h"

/* Lines: pieces with "|" between, and what comes of them: a line in brackets, "!" for a huge one, "~" for a torn one. */
static const struct {
        const char *pieces, *seen;
} streams[] = {
        { "", "" },
        { "a\n", "[a]" },
        { "a", "[a]~" },
        { "a\nb\n", "[a][b]" },
        { "a|b|c\n|d", "[abc][d]~" },
        { "\n\n", "[][]" },
        { "a\r\n", "[a\r]" },
        { "12345678\n", "[12345678]" },
        { "123456789\nx\n", "![x]" },
        { "12345|6789|abc\nx\n", "![x]" },
        { "123456789", "!" },
        { "12345678|9", "!" },
        { "123456789\n123456789\nx", "!![x]~" },
        { "a\n|123456789|0|\n\nb|", "[a]![][b]~" },
};

static void drain(Lines *lines, GString *seen, bool *ret_ended) {
        const char *text;
        size_t size;

        for (;;)
                switch (lines_next(lines, &text, &size)) {
                case LINES_LINE:
                        g_string_append_printf(seen, "[%s]%s", text,
                                               lines_is_torn(lines) ? "~" : "");
                        break;
                case LINES_HUGE:
                        g_string_append_c(seen, '!');
                        break;
                case LINES_ENDED:
                        *ret_ended = true;
                        return;
                default:
                        return;
                }
}

static void test_lines(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++) {
                g_autoptr(Lines) lines = lines_new(8);
                g_auto(GStrv) pieces = g_strsplit(streams[i].pieces, "|", -1);
                g_autoptr(GString) seen = g_string_new(NULL);
                g_autofree char *name = g_strescape(streams[i].pieces, NULL);
                bool ended = false;

                for (char **piece = pieces; *piece; piece++) {
                        lines_put(lines, *piece, strlen(*piece));
                        drain(lines, seen, &ended);
                        if (ended)
                                fail("\"%s\" ended early", name);
                }
                lines_end(lines);
                drain(lines, seen, &ended);
                is(seen->str, streams[i].seen, "\"%s\"", name);
                ok(ended, "\"%s\" ends", name);
        }
}

static void test_line_numbers(void) {
        static const char input[] = "one\n\nvery-long-line\nfour\n";
        g_autoptr(Lines) lines = lines_new(8);
        const char *text;
        size_t size;

        lines_put(lines, input, strlen(input));
        for (uint64_t i = 1; i <= 4; i++) {
                (void)lines_next(lines, &text, &size);
                cmp_ok(lines_number(lines), "==", i, "line %d has its number", (int)i);
        }
        cmp_ok(lines_consumed(lines), "==", strlen(input), "all of it was consumed");
}

/* The gauge: a manager that does `at_once` starts in 5 ms each without loss, and beyond that one after the other. */
typedef struct {
        Gauge gauge;
        double now_usec;
        unsigned at_once;
        double loss;
} Starts;

static void do_starts(Starts *starts, int count, unsigned most) {
        Gauge *gauge = &starts->gauge;

        for (int i = 0; i < count; i++) {
                while (gauge_has_room(gauge) && gauge->under_way < most)
                        gauge_begin(gauge, (uint64_t)starts->now_usec);

                double waiting = gauge->under_way > starts->at_once
                                         ? gauge->under_way - starts->at_once
                                         : 0;

                starts->now_usec += 5000 * (1 + waiting / starts->at_once * starts->loss) /
                                    gauge->under_way;
                gauge_end(gauge, (uint64_t)starts->now_usec);
        }
        while (gauge->under_way > 0)
                gauge_end(gauge, (uint64_t)starts->now_usec);
}

static unsigned settle(unsigned at_once, double loss, unsigned parallel) {
        Starts starts = { .now_usec = 1, .at_once = at_once, .loss = loss };

        gauge_init(&starts.gauge, parallel);
        do_starts(&starts, 4000, parallel);
        return starts.gauge.bound;
}

static void test_pauses(void) {
        Starts starts = { .now_usec = 1, .at_once = 4, .loss = 1 };
        unsigned bound;

        gauge_init(&starts.gauge, 64);
        do_starts(&starts, 4000, 64);
        bound = starts.gauge.bound;
        for (int i = 0; i < 500; i++) {
                starts.now_usec += 1e6;
                do_starts(&starts, 10, 64);
        }
        cmp_ok(starts.gauge.bound, "==", bound, "pauses between jobs are not the manager's");
}

static void test_gauge(void) {
        Gauge gauge;
        unsigned one = settle(1, 1, 64), four = settle(4, 1, 64), many = settle(1000, 1, 64);

        cmp_ok(one, "<=", GAUGE_MIN + 1, "a manager that does one at a time is not flooded");
        ok(four >= 4 && four <= 6, "one that does four gets about as many: %u", four);
        cmp_ok(many, ">=", GAUGE_MAX - 1, "one that does as many as it gets, the most");
        cmp_ok(settle(1, 100, 64), "<=", GAUGE_MIN + 1, "one that chokes, the least");
        cmp_ok(settle(1000, 1, 5), "<=", 5, "nobody starts more than may run");
        cmp_ok(settle(1, 1, 3), "==", GAUGE_MIN, "and less than those is tried, too");
        gauge_init(&gauge, 64);
        for (int i = 0; i < GAUGE_BEGIN; i++)
                gauge_begin(&gauge, 1);
        ok(!gauge_has_room(&gauge), "at its bound it has no room");
        gauge_drop(&gauge);
        ok(gauge_has_room(&gauge), "who never started makes room");
        cmp_ok(gauge.starts, "==", 0, "and says nothing of how long it takes");
        test_pauses();
}

/* The ledger */

#define RECORD(id, index, code)                            \
        "{\"schema\":1,\"id\":\"" id "\",\"index\":" index \
        ",\"outcome\":\"refused\",\"ok\":false,"           \
        "\"error\":{\"code\":\"" code "\"}}"

static void check_noted(Ledger *ledger, const char *text, bool is_record) {
        ok(ledger_note(ledger, text, strlen(text)) == is_record, "%s: %.40s",
           is_record ? "a record" : "no record", text);
}

static void test_ledger(void) {
        g_auto(Ledger) ledger = { 0 };

        ledger_init(&ledger);
        check_noted(&ledger, "{\"id\":\"a\",\"index\":0,\"outcome\":\"exited\",\"ok\":true}", true);
        check_noted(&ledger, "{\"id\":\"x.1\",\"index\":1,\"outcome\":\"exited\",\"ok\":true}",
                    true);
        check_noted(&ledger, RECORD("twin", "3", "duplicate-id"), true);
        check_noted(&ledger, RECORD("bad", "4", "bad-value"), true);
        check_noted(&ledger, "{\"id\":\"torn\",\"index\":9,\"outcome\":\"exi", false);
        check_noted(&ledger, "{\"id\":\"job\",\"command\":[\"true\"]}", false);
        check_noted(&ledger, "[1]", false);
        check_noted(&ledger, "", false);
        cmp_ok(ledger.records, "==", 4, "four records");
        cmp_ok(ledger.not_ok, "==", 2, "two of them not ok");

        cmp_ok(ledger_look_up(&ledger, "a", 7), "==", LEDGER_DONE, "by its id, wherever it is now");
        cmp_ok(ledger_look_up(&ledger, NULL, 1), "==", LEDGER_DONE, "by its index");
        cmp_ok(ledger_look_up(&ledger, NULL, 2), "==", LEDGER_NEW, "no record by its index");
        cmp_ok(ledger_look_up(&ledger, "torn", 9), "==", LEDGER_NEW, "a torn record is none");
        cmp_ok(ledger_look_up(&ledger, "twin", 2), "==", LEDGER_NEW,
               "its namesake was refused, which says nothing of it");
        cmp_ok(ledger_look_up(&ledger, "twin", 3), "==", LEDGER_DONE, "its namesake is done");
        cmp_ok(ledger_look_up(&ledger, "twin", 5), "==", LEDGER_REPEATED, "a third one is not");
        cmp_ok(ledger_look_up(&ledger, "bad", 4), "==", LEDGER_DONE, "refused is done");
}

static void add(Tally *tally, Outcome outcome, bool is_ok, uint64_t wall_usec, const char *id) {
        Verdict verdict = { .outcome = outcome, .is_ok = is_ok };
        g_auto(Facts) facts = { 0 };

        facts_init(&facts);
        facts.stage = outcome == OUTCOME_REFUSED ? STAGE_REFUSED : STAGE_EXECUTED;
        facts.started_usec = 1;
        facts.ended_usec = 1 + wall_usec;
        facts.cpu_usec = wall_usec / 2;
        facts.memory_peak_bytes = wall_usec;
        tally_add(tally, &verdict, &facts, id, 7);
}

static void test_tally(void) {
        g_auto(Tally) tally = { 0 };
        g_autofree char *nothing = tally_line(&tally, 0, 0, 0, 80), *line = NULL, *narrow = NULL;
        g_autofree char *table = NULL;

        is(nothing, "0 done, 0 running", "nothing yet");
        add(&tally, OUTCOME_EXITED, true, 1000000, "a");
        add(&tally, OUTCOME_EXITED, false, 4000000, "b");
        add(&tally, OUTCOME_TIMEOUT, false, 3000000, "c");
        add(&tally, OUTCOME_REFUSED, false, 9000000, "d");
        add(&tally, OUTCOME_EXITED, true, 2000000, "e");
        line = tally_line(&tally, 2, 10, 2000000, 100);
        is(line,
           "5 done, 2 running, 3 failed (exited 1, timeout 1, refused 1), 2.5/s, about 2.0s left",
           "how it goes");
        narrow = tally_line(&tally, 2, 10, 2000000, 10);
        cmp_ok(g_utf8_strlen(narrow, -1), "==", 10, "no wider than it may be");
        table = tally_table(&tally, 2000000);
        is(table,
           "5 jobs, 2 ok, in 2.0s (2.5/s)\n"
           "  outcome          jobs    CPU time\n"
           "  exited              3        3.5s\n"
           "  timeout             1        1.5s\n"
           "  refused             1        0.0s\n"
           "  all                 5        5.0s\n"
           "  slowest: b (line 7) 4.0s, c (line 7) 3.0s, e (line 7) 2.0s\n"
           "  hungriest: b (line 7) 3.8M, c (line 7) 2.9M, e (line 7) 1.9M\n",
           "what came of all");
}

int main(void) {
        plan(NO_PLAN);
        test_lines();
        test_line_numbers();
        test_gauge();
        test_ledger();
        test_tally();
        done_testing();
}
