/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the program does is of no interest, nor whether there is one: all that counts has been seen when it could be
 * executed, and there it ends. */

#include "trial.h"

#include <signal.h>
#include <systemd/sd-event.h>

#include "launcher/deadline.h"
#include "launcher/diskwatch.h"
#include "launcher/interrupt.h"
#include "launcher/kernel/error.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/request.h"
#include "launcher/rundir.h"
#include "launcher/session.h"

extern char **environ;

struct TrialGround {
        Door *door; /* borrowed, as the caller */
        const Caller *caller;
        sd_event *event;
        Launch *launch;         /* under way; borrowed; NULL: none */
        bool is_ready, is_over; /* of that one */
        int signal;
};

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        TrialGround *ground = userdata;

        ground->signal = (int)info->ssi_signo;
        if (ground->launch)
                launch_cancel(ground->launch, ground->signal);
        return 0;
}

static bool watch(TrialGround *ground) {
        int number;

        if (sd_event_new(&ground->event) < 0 ||
            sd_bus_attach_event(ground->door->bus, ground->event, SD_EVENT_PRIORITY_NORMAL) < 0)
                return false;
        interrupt_hold();
        for (size_t i = 0; (number = interrupt_signal(i)) != 0; i++)
                if (!(ground->caller->signal_ignored & (UINT64_C(1) << (number - 1))) &&
                    sd_event_add_signal(ground->event, NULL, number, on_signal, ground) < 0)
                        return false;
        return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

TrialGround *trial_ground_new(Door *door, const Caller *caller, GError **error) {
        g_autoptr(TrialGround) ground = g_new0(TrialGround, 1);

        ground->door = door;
        ground->caller = caller;
        if (watch(ground))
                return g_steal_pointer(&ground);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot set up the event loop");
        return NULL;
}

void trial_ground_free(TrialGround *ground) {
        if (!ground)
                return;
        if (ground->event)
                (void)sd_bus_detach_event(ground->door->bus);
        sd_event_unref(ground->event);
        g_free(ground);
}

int trial_ground_signal(const TrialGround *ground) {
        return ground->signal;
}

void trial_clear(Trial *trial) {
        g_clear_pointer(&trial->code, g_free);
        g_clear_pointer(&trial->message, g_free);
        g_clear_pointer(&trial->manager_version, g_free);
}

static void fail(Trial *trial, const char *code, const char *message) {
        trial->code = g_strdup(code);
        trial->message = g_strdup(message);
}

static void take(const TrialGround *ground, const Launch *launch, Trial *trial) {
        const Facts *facts = launch_facts(launch);
        const UnitState *state = launch_unit_state(launch);

        trial->manager_version = g_strdup(state->manager_version);
        trial->readback = *launch_readback(launch);
        trial->has_accounting = facts->net_in_bytes != FACTS_UNKNOWN;
        if (facts->is_lost)
                fail(trial, "lost", facts->lost_message);
        else if (facts->stage == STAGE_REFUSED)
                fail(trial, facts->refusal_code, facts->refusal_message);
        trial->is_started = !trial->code && ground->is_ready;
}

/* It is as if its caller had thought better of it. */
static void on_ready(void *userdata) {
        TrialGround *ground = userdata;

        ground->is_ready = true;
        launch_cancel(ground->launch, SIGTERM);
}

static void on_over(void *userdata) {
        TrialGround *ground = userdata;

        ground->is_over = true;
}

static bool start_and_wait(TrialGround *ground, const TrialOrder *order, Trial *trial,
                           GError **error) {
        LaunchSettings settings = {
                .disk = order->disk,
                .event = ground->event,
                .door = ground->door,
                .spec = order->spec,
                .caller = order->caller,
                .stdio = { -1, -1, -1 },
                .is_capture = order->is_capture,
                .is_best_effort = order->is_best_effort,
                .is_network_counted = true,
                .on_ready = on_ready,
                .handler = on_over,
                .userdata = ground,
        };
        g_autofree char *pins = NULL;
        g_autoptr(Launch) launch = session_settle(&settings, order->spec, &pins, error)
                                           ? launch_new(&settings, error)
                                           : NULL;
        int r = 0;

        if (!launch) {
                rundir_remove(pins);
                return false;
        }
        ground->launch = launch;
        ground->is_ready = ground->is_over = false;
        while (r >= 0 && !ground->is_over)
                r = sd_event_run(ground->event, UINT64_MAX);
        ground->launch = NULL;
        rundir_remove(pins);
        if (r < 0)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "the event loop failed: %s", g_strerror(-r));
        else
                take(ground, launch, trial);
        return r >= 0;
}

/* The way of a run: options, request, launch. */
static bool try(TrialGround *ground, char **argv, Trial *trial, GError **error) {
        g_auto(Options) options = { 0 };
        g_autoptr(Spec) spec = NULL;
        Caller caller = *ground->caller;
        DiskWatch *disk = NULL;
        bool is_done;

        options_init(&options);
        if (!options_parse(&options, argv, error))
                return false;
        spec = request_spec(&options, environ);
        caller.directory = NULL;
        is_done = caller_read_place(&caller, options.directory, error) &&
                  request_complete(&options, &caller.directory, spec, error) &&
                  disk_watch_open(spec, options.is_best_effort, &disk, error);
        if (is_done) {
                TrialOrder order = { .spec = spec,
                                     .caller = &caller,
                                     .disk = disk,
                                     .is_capture = options.is_capture,
                                     .is_best_effort = options.is_best_effort };

                is_done = start_and_wait(ground, &order, trial, error);
        }
        disk_watch_free(disk);
        g_free(caller.directory);
        return is_done;
}

void trial_run(TrialGround *ground, const GPtrArray *words, const char *directory,
               bool is_best_effort, Trial *ret_trial) {
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_autoptr(GError) error = NULL;

        *ret_trial = (Trial){ 0 };
        for (guint i = 0; i < words->len; i++)
                g_ptr_array_add(argv, g_ptr_array_index(words, i));
        if (is_best_effort)
                g_ptr_array_add(argv, (char *)"--best-effort");
        g_ptr_array_add(argv, (char *)"-C");
        g_ptr_array_add(argv, (char *)directory);
        g_ptr_array_add(argv, (char *)"--");
        g_ptr_array_add(argv, (char *)"true");
        g_ptr_array_add(argv, NULL);
        if (ground->signal == 0 && !try(ground, (char **)argv->pdata, ret_trial, &error))
                fail(ret_trial, launcher_error_word(error), error->message);
}

void trial_rehearse(TrialGround *ground, const TrialOrder *order, Trial *ret_trial) {
        g_autoptr(GError) error = NULL;

        *ret_trial = (Trial){ 0 };
        if (ground->signal == 0 && !start_and_wait(ground, order, ret_trial, &error))
                fail(ret_trial, launcher_error_word(error), error->message);
}
