/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rows of the watch's test once more, with a launch on top: what must come out is the outcome of the record, what
 * became of the guard, and that it comes at all. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <tap.h>

#include "case.h"
#include "launcher/launch.h"
#include "units/cause.h"
#include "world.h"

#define SPEED 2000
#define SPEED_SILENT \
        200 /* a call's deadline has to be shorter than the launch's patience, as it is in earnest */

typedef struct {
        World world;
        Spec *spec;
        Caller caller;
        Launch *launch;
} Subjected;

static void on_over(void *userdata) {
        Subjected *subjected = userdata;

        case_is_over(subjected->world.run);
}

static Spec *spec_for(const Program *program) {
        Spec *spec = spec_new();
        g_autoptr(GError) error = NULL;
        bool is_good = limit_set_parse(&spec->limits, LIMIT_GRACE, "0", &error) &&
                       (program->ends ||
                        limit_set_parse(&spec->limits, LIMIT_TIMEOUT, "1s", &error));

        g_assert_no_error(error);
        g_assert(is_good);
        spec->id = g_strdup("x");
        spec->command = g_strsplit("program", " ", 0);
        spec->environment = g_new0(char *, 1);
        return spec;
}

static void *begin_as(Case *run, sd_bus *bus, const World *world, const char *pool,
                      bool is_hurried) {
        Subjected *subjected = g_new0(Subjected, 1);
        g_autoptr(GError) error = NULL;

        subjected->world = *world;
        subjected->world.speed = (case_fault(run)->silent_method ? SPEED_SILENT : SPEED) /
                                 case_slowness(run);
        world_begin(&subjected->world, run, bus);
        subjected->spec = spec_for(case_program(run));
        subjected->spec->pool = g_strdup(pool);

        LaunchSettings settings = { .event = case_event(run),
                                    .door = &subjected->world.door,
                                    .spec = subjected->spec,
                                    .caller = &subjected->caller,
                                    .disk = world_disk(&subjected->world),
                                    .stdio = { 0, 1, 2 },
                                    .is_network_counted = true,
                                    .is_hurried = is_hurried,
                                    .handler = on_over,
                                    .userdata = subjected };

        subjected->launch = launch_new(&settings, &error);
        g_assert_no_error(error);
        return subjected;
}

static void *begin_with(Case *run, sd_bus *bus, const World *world) {
        return begin_as(run, bus, world, NULL, false);
}

static void *begin_pooled(Case *run, sd_bus *bus) {
        return begin_as(run, bus, &(World){ 0 }, "p", false);
}

static void *begin_hurried(Case *run, sd_bus *bus) {
        return begin_as(run, bus, &(World){ .takes_clearing = true }, NULL, true);
}

static void *begin_hurried_alone(Case *run, sd_bus *bus) {
        return begin_as(run, bus, &(World){ 0 }, NULL, true);
}

static void *begin(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ 0 });
}

static void *begin_slow_door(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ .n_failures = 3 });
}

static void *begin_no_program(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ .exec_errno = ENOENT });
}

static void *begin_unguarded(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ .loses_guard = true });
}

static void *begin_outgrowing(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ .outgrows_disk = true });
}

static void *begin_no_guard(Case *run, sd_bus *bus) {
        return begin_with(run, bus, &(World){ .has_no_guard = true });
}

static bool has_evidence(const Verdict *verdict, const char *text) {
        for (guint i = 0; i < verdict->evidence->len; i++)
                if (g_str_equal(g_ptr_array_index(verdict->evidence, i), text))
                        return true;
        return false;
}

static char *line_of(const Subjected *subjected) {
        const Facts *facts = launch_facts(subjected->launch);
        g_auto(Verdict) verdict = { 0 };
        GString *line = g_string_new(NULL);

        cause_decide(facts, "program", &verdict);
        g_string_append(line, outcome_info(verdict.outcome)->word);
        if (verdict.error_code)
                g_string_append_printf(line, " (%s)", verdict.error_code);
        if (verdict.signal)
                g_string_append_printf(line, ", signal %d", verdict.signal);
        else if (verdict.exit_code >= 0)
                g_string_append_printf(line, ", exit code %d", verdict.exit_code);
        if (has_evidence(&verdict, "workspace grew by 4096 bytes, from 0"))
                g_string_append(line, ", grown");
        if (has_evidence(&verdict, "guard lost in mid-run: no guard"))
                g_string_append(line, ", guard lost");
        g_string_append(line, subjected->world.is_handed_over  ? ", handed over"
                              : subjected->world.is_guard_done ? ", clean"
                                                               : ", for the guard");
        return g_string_free(line, FALSE);
}

static char *end(void *subject) {
        Subjected *subjected = subject;
        char *line = line_of(subjected);

        launch_free(subjected->launch);
        world_end(&subjected->world);
        spec_free(subjected->spec);
        g_free(subjected);
        return line;
}

static const Subject launch = { begin, end, true };
static const Subject pooled = { begin_pooled, end, true };
static const Subject hurried = { begin_hurried, end, true };
static const Subject hurried_alone = { begin_hurried_alone, end, true };
static const Subject slow_door = { begin_slow_door, end, true };
static const Subject no_program = { begin_no_program, end, true };
static const Subject no_guard = { begin_no_guard, end, true };
static const Subject outgrowing = { begin_outgrowing, end, true };
static const Subject unguarded = { begin_unguarded, end, true };

/* What must come out */

static const char *const plain[_PROGRAM_MAX] = {
        [PROGRAM_EXITS_0] = "exited, exit code 0",  [PROGRAM_EXITS_3] = "exited, exit code 3",
        [PROGRAM_KILLED_9] = "signaled, signal 9",  [PROGRAM_KILLED_15] = "signaled, signal 15",
        [PROGRAM_NOT_EXECUTED] = "refused (gate)", /* it is the gate that the manager executes */
        [PROGRAM_NEVER_ENDS] = "timeout, signal 9", [PROGRAM_HANGS] = "refused (gate)",
};

/* A row that is empty comes out as if nothing had gone wrong. */
static const struct {
        const char *whole; /* the same for every program */
        const char *gate;  /* … and for the one that is not executed */
        bool is_for_guard;
} expected[_FAULT_MAX] = {
        [FAULT_REFUSE_ACCESS] = { "refused (permission-denied), clean" },
        [FAULT_REFUSE_POLKIT] = { "refused (permission-denied), clean" },
        [FAULT_REFUSE_EXISTS] = { "refused (id-in-use), clean" },
        [FAULT_REFUSE_PROPERTY] = { "refused (unenforceable), clean" },
        [FAULT_REFUSE_UNKNOWN_PROPERTY] = { "refused (unenforceable), clean" },
        [FAULT_REFUSE_SETTING] = { "refused (manager-refused), clean" },
        [FAULT_REFUSE_LIMITS] = { "refused (manager-refused), clean" },
        [FAULT_REFUSE_SLICE] = { "refused (manager-refused), clean" },
        [FAULT_JOB_FAILED] = { "refused (gate), clean" },
        [FAULT_JOB_TIMEOUT] = { "refused (gate), clean" },
        [FAULT_JOB_CANCELED] = { "refused (gate), clean" },
        [FAULT_JOB_DEPENDENCY] = { "refused (gate), clean" },
        [FAULT_JOB_SKIPPED] = { "refused (gate), clean" },
        [FAULT_SILENT_START] = { "refused (manager-unreachable), for the guard" },
        [FAULT_SILENT_STOP] = { .is_for_guard = true },
        [FAULT_SILENT_RESET] = { .is_for_guard = true },
        [FAULT_SILENT_GET_ALL] = { .gate = "refused (manager-unreachable), clean" },
        [FAULT_REEXEC_RUNNING] = { .gate = "refused (manager-unreachable), clean" },
        [FAULT_REEXEC_TWICE] = { .gate = "refused (manager-unreachable), clean" },
        [FAULT_REEXEC_GONE] = { "lost (lost), for the guard",
                                "refused (manager-unreachable), clean" },
        [FAULT_REMOVED] = { "lost (lost), for the guard", "refused (gate), clean" },
        [FAULT_STOP_REFUSED] = { .is_for_guard = true },
};

/* What does not end by itself does not end while the manager is away either. */
static FaultKind fault_of_endless(FaultKind fault) {
        if (fault == FAULT_REEXEC_ENDED)
                return FAULT_REEXEC_RUNNING;
        return fault == FAULT_REEXEC_GONE_AFTER_END ? FAULT_REEXEC_GONE : fault;
}

static char *expected_line(ProgramKind program, FaultKind said) {
        FaultKind fault = programs[program].ends ? said : fault_of_endless(said);
        bool is_gate = !programs[program].is_executed;
        bool is_unasked = fault == FAULT_SILENT_RESET && !programs[program].fails;

        if (is_gate && expected[fault].gate)
                return g_strdup(expected[fault].gate);
        if (expected[fault].whole)
                return g_strdup(expected[fault].whole);
        return g_strconcat(plain[program],
                           expected[fault].is_for_guard && !is_unasked ? ", for the guard"
                                                                       : ", clean",
                           NULL);
}

static void test_case(const Subject *subject, ProgramKind program, FaultKind fault,
                      const char *line, const char *how) {
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { subject, program, fault, CASE_NEVER, .expected = line };

        case_run(&row, &result);
        if (!is(result.line, line, "it %s; %s%s", programs[program].text, faults[fault].text, how))
                diag("%s", result.log);
        if (strstr(line, "clean") && fault != FAULT_STOP_NO_UNIT)
                is(result.left, NULL, "… and leaves no unit");
        cmp_ok(result.fds, "==", 0, "… and no descriptor");
}

/* The connection ends for good: refused before "go", lost after it, unless the end was told, or that there is no program. */
static bool is_good_drop(const CaseRow *row, const CaseResult *result) {
        g_autofree char *clean = g_strconcat(plain[row->program], ", clean", NULL);
        g_autofree char *unclean = g_strconcat(plain[row->program], ", for the guard", NULL);
        bool is_end_known = result->told.exec_main_code != 0 || !programs[row->program].is_executed;

        return g_str_equal(result->line, "refused (manager-unreachable), for the guard") ||
               g_str_equal(result->line, "lost (lost), for the guard") ||
               (is_end_known &&
                (g_str_equal(result->line, clean) || g_str_equal(result->line, unclean)));
}

static void test_drop(const Subject *subject, ProgramKind program, int drop_after) {
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { subject, program, FAULT_NONE, drop_after, .is_good = is_good_drop };

        case_run(&row, &result);
        if (!ok(is_good_drop(&row, &result), "it %s; the connection ends after %d messages: %s",
                programs[program].text, drop_after, result.line))
                diag("%s", result.log);
        cmp_ok(result.fds, "==", 0, "… and leaves no descriptor");
}

/* That a run without a fault has. */
static unsigned count_messages(const Subject *subject, ProgramKind program) {
        g_autofree char *line = expected_line(program, FAULT_NONE);
        g_auto(CaseResult) result = { 0 };
        CaseRow row = { subject, program, FAULT_NONE, CASE_NEVER, .expected = line };

        case_run(&row, &result);
        is(result.line, line, "it %s; nothing goes wrong", programs[program].text);
        return result.n_messages;
}

/* Not twice: a launch that had to try again once does not try at all when the connection ends anew (its timer is still
 * there). */
static bool has_slow_door(FaultKind fault) {
        FaultTurn turn = faults[fault].turn;

        return turn >= TURN_REEXEC_RUNNING && turn <= TURN_REEXEC_GONE_AFTER_END;
}

int main(void) {
        plan(NO_PLAN);
        for (ProgramKind program = 0; program < _PROGRAM_MAX; program++)
                for (FaultKind fault = 0; fault < _FAULT_MAX; fault++) {
                        g_autofree char *line = expected_line(program, fault);

                        test_case(&launch, program, fault, line, "");
                        test_case(&pooled, program, fault, line, ", in a pool");
                        test_case(&hurried_alone, program, fault, line, ", and it is in a hurry");
                        if (has_slow_door(fault))
                                test_case(&slow_door, program, fault, line, ", and takes its time");
                }
        for (ProgramKind program = 0; program < _PROGRAM_MAX; program++) {
                g_autofree char *line = g_strconcat(plain[program], ", handed over", NULL);

                test_case(&hurried, program, FAULT_NONE, line, ", and it is in a hurry");
                test_case(&hurried, program, FAULT_STOP_REFUSED, line, ", and it is in a hurry");
        }
        test_case(&no_program, PROGRAM_EXITS_3, FAULT_NONE,
                  "not-started (command-not-found), clean", "");
        test_case(&no_guard, PROGRAM_EXITS_3, FAULT_NONE, "refused (guard), clean",
                  ", and no guard is to be had");
        test_case(&outgrowing, PROGRAM_NEVER_ENDS, FAULT_NONE, "disk, signal 9, grown, clean",
                  ", and its workspace outgrows the limit");
        test_case(&outgrowing, PROGRAM_NEVER_ENDS, FAULT_REEXEC_RUNNING,
                  "disk, signal 9, grown, clean", ", and its workspace outgrows the limit");
        test_case(&unguarded, PROGRAM_EXITS_3, FAULT_NONE, "exited, exit code 3, guard lost, clean",
                  ", and its guard is lost");
        test_case(&unguarded, PROGRAM_EXITS_0, FAULT_REMOVED,
                  "lost (lost), guard lost, for the guard", ", and its guard is lost");
        test_case(&unguarded, PROGRAM_NOT_EXECUTED, FAULT_NONE, "refused (gate), clean",
                  ", and its guard is lost");
        for (ProgramKind program = 0; program < _PROGRAM_MAX; program++) {
                unsigned n_messages = count_messages(&launch, program);
                unsigned n_pooled = count_messages(&pooled, program);

                /* It is asked, made, made what is around it, and asked again. */
                cmp_ok(n_pooled, "==", n_messages + (programs[program].is_executed ? 8 : 0),
                       "it %s; a pool that has to be made costs four calls",
                       programs[program].text);
                for (unsigned n = 0; n < n_messages; n++)
                        test_drop(&launch, program, (int)n);
                for (unsigned n = 0; n < n_pooled; n++)
                        test_drop(&pooled, program, (int)n);
        }
        done_testing();
}
