/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A terminal that goes away says so twice, by its end of file and by SIGHUP; that is one wish, and the second time is
 * not taken for impatience. */

#include "attend.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "launcher/kernel/caller.h"

/* Of a run that was ended before its time, how long somebody is waited for who reads nothing of what it said. */
#define PATIENCE_USEC G_USEC_PER_SEC

static void on_output(void *userdata, const void *data, size_t size) {
        const Attendance *attendance = userdata;

        capture_feed(launch_capture(attendance->launch, STDOUT_FILENO), data, size);
}

static bool has_ended(const void *userdata) {
        const Attendance *attendance = userdata;

        return launch_facts(attendance->launch)->ended_usec > 0;
}

/* What comes when it has ended by itself changes nothing any more. */
static void cancel(const Attendance *attendance, int signal) {
        if (!has_ended(attendance))
                launch_cancel(attendance->launch, signal);
}

static void on_escape(void *userdata) {
        cancel(userdata, 0);
}

static void on_hang_up(void *userdata) {
        Attendance *attendance = userdata;

        if (attendance->has_hung_up)
                return;
        attendance->has_hung_up = true;
        if (attendance->heeds_hang_up)
                cancel(attendance, SIGHUP);
}

static void on_unwritable(void *userdata, int error_number) {
        Attendance *attendance = userdata;

        if (error_number != EPIPE)
                attendance->complaint = g_strdup_printf("cannot write to standard output: %s",
                                                        g_strerror(error_number));
        cancel(attendance, SIGPIPE);
}

static void on_finished(void *userdata) {
        const Attendance *attendance = userdata;

        (void)sd_event_exit(attendance->event, 0);
}

bool attend_open(Attendance *attendance, LaunchSettings *settings, GError **error) {
        TerminalSettings order = {
                .event = settings->event,
                .input_fd = settings->stdio[STDIN_FILENO],
                .output_fd = settings->stdio[STDOUT_FILENO],
                .on_output = settings->is_capture ? on_output : NULL,
                .has_ended = has_ended,
                .on_escape = on_escape,
                .on_hang_up = on_hang_up,
                .on_unwritable = on_unwritable,
                .on_finished = on_finished,
                .userdata = attendance,
        };
        bool has_errors = settings->is_capture || isatty(settings->stdio[STDERR_FILENO]);

        attendance->event = settings->event;
        attendance->heeds_hang_up = !(settings->caller->signal_ignored &
                                      (UINT64_C(1) << (SIGHUP - 1)));
        attendance->terminal = terminal_new(&order, error);
        if (!attendance->terminal)
                return false;

        attendance->has_keys = isatty(order.input_fd);
        settings->has_terminal = true;
        for (int i = STDIN_FILENO; i < (has_errors ? CAPTURE_STREAMS : STDERR_FILENO); i++)
                settings->stdio[i] = terminal_program_end(attendance->terminal);
        return true;
}

void attend_begin(Attendance *attendance, Launch *launch) {
        attendance->launch = launch;
        if (attendance->terminal)
                terminal_begin(attendance->terminal);
}

/* Who does not wait for what is left has the words and the record like one who reads nothing: the signal is still there
 * when we would have to wait for him. */
static void heed(Attendance *attendance, Launch *launch, int signal) {
        if (!attendance->terminal) {
                launch_cancel(launch, signal);
        } else if (terminal_is_finishing(attendance->terminal)) {
                (void)raise(signal);
                (void)sd_event_exit(attendance->event, 0);
        } else if (signal != SIGHUP || !attendance->has_hung_up) {
                attendance->has_hung_up |= signal == SIGHUP;
                launch_cancel(launch, signal);
        }
}

void attend_signal(Attendance *attendance, Launch *launch, const struct signalfd_siginfo *info) {
        attendance->is_interrupt_typed |= info->ssi_signo == SIGINT && info->ssi_code == SI_KERNEL;
        if (!launch_leaves_to_program(launch, info))
                heed(attendance, launch, (int)info->ssi_signo);
}

/* Of a key alone a program with a terminal of its own hears. */
bool attend_was_interrupted(const Attendance *attendance, const Facts *facts,
                            const Verdict *verdict) {
        if (verdict->outcome == OUTCOME_CANCELLED)
                return attendance->is_interrupt_typed;
        return verdict->outcome == OUTCOME_SIGNALED && facts->exec_main_status == SIGINT &&
               (attendance->is_interrupt_typed || attendance->has_keys);
}

static bool was_ended(const Facts *facts) {
        for (int i = 0; i < _ACT_MAX; i++)
                if (facts->act_usec[i] > 0)
                        return true;
        return facts->is_lost;
}

void attend_finish(Attendance *attendance, Launch *launch, sd_event *event) {
        attendance->launch = launch;
        if (attendance->terminal)
                terminal_finish(attendance->terminal,
                                was_ended(launch_facts(launch)) ? PATIENCE_USEC : TERMINAL_PATIENT);
        else
                (void)sd_event_exit(event, 0);
}

void attend_end(Attendance *attendance) {
        if (attendance->terminal)
                terminal_end(attendance->terminal);
}

void attend_clear(Attendance *attendance) {
        terminal_free(attendance->terminal);
        g_free(attendance->complaint);
}
