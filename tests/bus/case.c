/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runner. A fault that is a silence needs a deadline, and a deadline on a busy machine can pass for other reasons:
 * see case_run. */

#include "case.h"

#include <tap.h>

#define HANG_USEC     (20 * G_USEC_PER_SEC)
#define DEADLINE_USEC (40 * 1000)
#define SLOWEST       64
#define HANGS         "hangs: "

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)

struct Case {
        sd_event *event;
        Fake *fake;
        sd_bus *bus;
        const CaseRow *row;
        uint64_t deadline_usec;
        unsigned slowness;
};

sd_event *case_event(const Case *run) {
        return run->event;
}

Fake *case_fake(const Case *run) {
        return run->fake;
}

const Fault *case_fault(const Case *run) {
        return &faults[run->row->fault];
}

unsigned case_slowness(const Case *run) {
        return run->slowness;
}

const Program *case_program(const Case *run) {
        return &programs[run->row->program];
}

sd_bus *case_reconnect(Case *run) {
        sd_bus *bus = fake_connect(run->fake, run->deadline_usec);

        if (!bus)
                return NULL;
        sd_bus_close_unref(run->bus);
        run->bus = bus;
        return bus;
}

void case_is_over(Case *run) {
        int r = sd_event_exit(run->event, 0);

        g_assert(r >= 0);
}

static int on_hang(sd_event_source *source, uint64_t usec, void *userdata) {
        return sd_event_exit(sd_event_source_get_event(source), 1);
}

/* sd-bus lets its deadlines pass a quarter of a second late to save wake-ups; it looks at them whenever the loop turns. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata) {
        int r = sd_event_source_set_time(source, usec + DEADLINE_USEC / 4);

        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int count_fds(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
        int count = 0;

        while (g_dir_read_name(dir))
                count++;
        return count;
}

static char *units_left(const Fake *fake) {
        bool has_unit = fake_has_unit(fake, CASE_UNIT), has_slice = fake_has_unit(fake, CASE_SLICE);

        if (!has_unit && !has_slice)
                return NULL;
        return g_strconcat(has_unit ? CASE_UNIT " " : "", has_slice ? CASE_SLICE : "", NULL);
}

static void look_after(Case *run, CaseResult *ret_result) {
        fake_settle(run->fake);
        ret_result->left = run->row->drop_after == CASE_NEVER ? units_left(run->fake) : NULL;
        ret_result->log = fake_log_text(run->fake);
        ret_result->n_messages = fake_count_messages(run->fake);
        ret_result->told = *fake_told(run->fake);
}

/* Before a connection stands, sending a descriptor waits for it, and the loop with it. */
static void shake_hands(sd_event *event) {
        while (sd_event_run(event, 0) > 0)
                ;
}

static void run_once(const CaseRow *row, uint64_t deadline_usec, unsigned slowness,
                     CaseResult *ret_result) {
        g_autoptr(sd_event) event = NULL;
        int before = count_fds();
        int r = sd_event_new(&event);

        g_assert(r >= 0);
        r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, HANG_USEC, 0, on_hang, NULL);
        g_assert(r >= 0);
        if (deadline_usec > 0) {
                r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, DEADLINE_USEC, 1,
                                               on_tick, NULL);
                g_assert(r >= 0);
        }

        Case run = {
                .event = event, .row = row, .deadline_usec = deadline_usec, .slowness = slowness
        };

        run.fake = fake_new(event, &programs[row->program], &faults[row->fault]);
        run.bus = fake_connect(run.fake, deadline_usec);
        if (row->drop_after != 0)
                shake_hands(event);
        if (row->drop_after != CASE_NEVER)
                fake_drop_after(run.fake, (unsigned)row->drop_after);

        void *subject = row->subject->begin(&run, run.bus);
        int code = sd_event_loop(event);
        g_autofree char *line = row->subject->end(subject);

        *ret_result = (CaseResult){ .line = g_strconcat(code ? HANGS : "", line, NULL) };
        look_after(&run, ret_result);
        sd_bus_close_unref(run.bus);
        fake_free(run.fake);
        g_clear_pointer(&event, sd_event_unref);
        ret_result->fds = count_fds() - before;
}

static bool is_good(const CaseRow *row, const CaseResult *result) {
        g_assert(row->is_good || row->expected);
        return row->is_good ? row->is_good(row, result) : g_str_equal(result->line, row->expected);
}

/* On a machine that is busy elsewhere a call that was answered can miss a short deadline too, and a subject can lose a
 * short patience. What is not good counts only when it comes with long ones; who hangs has had time. */
void case_run(const CaseRow *row, CaseResult *ret_result) {
        bool is_silent = faults[row->fault].silent_method,
             is_timed = is_silent || row->subject->is_timed;
        unsigned slowness = 1;

        run_once(row, is_silent ? DEADLINE_USEC : 0, slowness, ret_result);
        while (is_timed && slowness < SLOWEST && !is_good(row, ret_result) &&
               !g_str_has_prefix(ret_result->line, HANGS)) {
                diag("%s: once more, and slower", ret_result->line);
                case_result_clear(ret_result);
                slowness *= 8;
                run_once(row, is_silent ? DEADLINE_USEC * slowness : 0, slowness, ret_result);
        }
}

void case_result_clear(CaseResult *result) {
        g_free(result->line);
        g_free(result->left);
        g_free(result->log);
        *result = (CaseResult){ 0 };
}
