/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What somebody else may do to a run, who goes past cordon: the process is killed, or the unit is killed or stopped at
 * the manager. It is not the caller and no limit; the record says what ended the program, and who stopped it. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define STOPPED "unit stopped at the manager before the main process ended"

typedef enum {
        KILL_SERVICE,
        KILL_SLICE,
        STOP_SERVICE,
        STOP_SLICE,
        STOP_ALL, /* cordon.slice, and with it the guard */
} Deed;

/* clang-format off */
static const struct {
        const char *name;
        Deed deed;
        int signal; /* of a kill */
        const char *const *options;
        const char *const *verbs; /* of the program, before it says "ready" and pauses */
        Expected expected;
} deeds[] = {
        { "the unit is killed", KILL_SERVICE, SIGKILL, WORDS("--memory", "64M", "--cpu-time", "5m"), NULL,
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "killed (SIGKILL)", .words = "cordon: killed (SIGKILL) after *s\n" } },
        { "the slice is killed", KILL_SLICE, SIGKILL, WORDS("--memory", "64M", "--timeout", "5m"),
          WORDS("child", "leave", "pause", "then"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "killed (SIGKILL)", .words = "cordon: killed (SIGKILL) after *s\n" } },
        { "the unit gets SIGTERM", KILL_SERVICE, SIGTERM, NULL, NULL,
          { .outcome = "signaled", .status = 143, .exit_code = ABSENT, .signal = SIGTERM,
            .message = "killed (SIGTERM)", .words = "cordon: killed (SIGTERM) after *s\n" } },
        { "the unit gets SIGTERM and handles it", KILL_SERVICE, SIGTERM, NULL, WORDS("quit-on", "TERM"),
          { .outcome = "exited", .message = "exited with 0" } },
        { "the unit is stopped", STOP_SERVICE, 0, WORDS("--timeout", "5m"), NULL,
          { .outcome = "signaled", .status = 143, .exit_code = ABSENT, .signal = SIGTERM,
            .message = "stopped at the manager: killed (SIGTERM)",
            .words = "cordon: stopped at the manager: killed (SIGTERM) after *s\n" } },
        { "the unit is stopped and exits with 0", STOP_SERVICE, 0, NULL, WORDS("quit-on", "TERM"),
          { .outcome = "exited", .message = "stopped at the manager: exited with 0",
            .words = "cordon: stopped at the manager: exited with 0 after *s\n" } },
        { "the slice is stopped", STOP_SLICE, 0, NULL, WORDS("child", "leave", "pause", "then"),
          { .outcome = "signaled", .status = 143, .exit_code = ABSENT, .signal = SIGTERM,
            .message = "stopped at the manager: killed (SIGTERM)",
            .words = "cordon: stopped at the manager: killed (SIGTERM) after *s\n" } },
        { "the slice is stopped and the program ignores it", STOP_SLICE, 0, WORDS("--grace", "300ms", "--timeout", "5m"),
          WORDS("ignore", "TERM"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "stopped at the manager: killed (SIGKILL)",
            .words = "cordon: stopped at the manager: killed (SIGKILL) after *s\n" } },
        { "cordon.slice is stopped", STOP_ALL, 0, NULL, NULL,
          { .outcome = "signaled", .status = 143, .exit_code = ABSENT, .signal = SIGTERM,
            .message = "stopped at the manager: killed (SIGTERM)",
            .words = "cordon: stopped at the manager: killed (SIGTERM) after *s\n" } },
};
/* clang-format on */

static bool is_done(const KitRun *run, Deed deed, int number) {
        g_autofree char *service = leftover_program_unit(run->id);
        g_autofree char *slice = leftover_unit(run->id, "slice");

        switch (deed) {
        case KILL_SERVICE:
                return manager_kill_unit(service, number);
        case KILL_SLICE:
                return manager_kill_unit(slice, number);
        case STOP_SERVICE:
                return manager_stop_unit(service);
        case STOP_SLICE:
                return manager_stop_unit(slice);
        case STOP_ALL:
                return manager_stop_unit("cordon.slice");
        }
        return false;
}

static KitRun *start(const char *const *options, const char *const *verbs) {
        g_auto(GStrv) command = kit_victim_argv(verbs);
        GPtrArray *words = g_ptr_array_new();
        KitOrder order = { .options = options };
        KitRun *run;

        for (char **word = command; *word; word++)
                g_ptr_array_add(words, *word);
        for (const char *const *word = WORDS("say", "ready", "pause", NULL); *word; word++)
                g_ptr_array_add(words, (char *)*word);
        g_ptr_array_add(words, NULL);
        order.command = (const char *const *)words->pdata;
        run = kit_start(&order);
        (void)kit_wait_line(run, "ready");
        g_ptr_array_unref(words);
        return run;
}

static void test_deeds(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(deeds); i++) {
                bool is_stop = deeds[i].deed >= STOP_SERVICE;
                Expected expected = deeds[i].expected;
                g_autoptr(KitRun) run = start(deeds[i].options, deeds[i].verbs);

                expected.said = "ready\n";
                expected.is_unmeasured = deeds[i].deed >= STOP_SLICE;
                ok(is_done(run, deeds[i].deed, deeds[i].signal), "%s: it is done", deeds[i].name);
                kit_finish(run);
                expect(run, &expected, deeds[i].name);
                ok(record_has_evidence(run, STOPPED) == is_stop,
                   "%s: the evidence says %s it was stopped", deeds[i].name,
                   is_stop ? "that" : "nothing of whether");
        }
}

/* A kill of the process itself, with somebody left who would stay. */
static void test_main_process(void) {
        KitOrder order = { .options = WORDS("--memory", "64M"),
                           .command = VICTIM("child", "leave", "ignore", "TERM", "ignore", "HUP",
                                             "pause", "then", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "signaled",
                              .status = 137,
                              .exit_code = ABSENT,
                              .signal = SIGKILL,
                              .message = "killed (SIGKILL)",
                              .words = "cordon: killed (SIGKILL) after *s\n",
                              .said = "pid *\nready\n" };
        g_autoptr(KitRun) run = kit_start(&order);
        pid_t program;

        (void)kit_wait_line(run, "ready");
        program = (pid_t)kit_said_number(run, "pid");
        ok(program > 0 && kill(program, SIGKILL) == 0, "the main process is killed");
        kit_finish(run);
        expect(run, &expected, "a main process that was killed");
        cmp_ok(record_number(run, "outlived"), "==", 1, "its child was ended with it");
        ok(!record_has_evidence(run, STOPPED), "nobody stopped the unit");
}

/* All runs at once, and the guard before them: nobody is the worse for it who comes after. */
static void test_all(void) {
        Expected stopped = { .outcome = "signaled",
                             .status = 143,
                             .exit_code = ABSENT,
                             .signal = SIGTERM,
                             .message = "stopped at the manager: killed (SIGTERM)",
                             .words = "cordon: stopped at the manager: killed (SIGTERM) after *s\n",
                             .said = "ready\n",
                             .is_unmeasured = true };
        Expected fine = { .outcome = "exited" };
        KitOrder next = { .command = VICTIM("end") };
        g_autoptr(KitRun) first = start(NULL, NULL);
        g_autoptr(KitRun) second = start(NULL, NULL);

        ok(manager_stop_unit("cordon.slice"), "cordon.slice is stopped under two runs");
        kit_finish(first);
        kit_finish(second);

        g_autoptr(KitRun) third = kit_run(&next);

        expect(first, &stopped, "the first of two");
        expect(second, &stopped, "the second of two");
        expect(third, &fine, "the next run");
        leftover_check_guard("after cordon.slice was stopped");
}

int main(void) {
        kit_init();
        test_deeds();
        test_main_process();
        test_all();
        leftover_check_guard("after all that was done to runs");
        kit_clear();
        done_testing();
}
