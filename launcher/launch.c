/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a run, in phases:
 *
 *   STARTING  guard told, units asked for, gate awaited; then limits are read back and "go" is said
 *   RUNNING   until the main process is dead, its stragglers too, and the manager has said how it ended
 *   ENDING    instead of RUNNING, when it must not run: until the manager sees that the gate is gone
 *   CLEARING  counters are read, then slice and unit are stopped and forgotten, by us or, where nobody stays for it,
 *             by the guard
 *   OVER
 *
 * Where the manager has made nothing, it is over at once. The hard part is that the manager, the gate and the kernel
 * tell the same story at different times: decide() may be called at any moment, any number of times, and acts only on
 * what is true now. */

#include "launch.h"

#include <signal.h>

#include "dbus/error.h"
#include "deadline.h"
#include "launcher/kernel/error.h"
#include "launcher/rundir.h"
#include "starting.h"
#include "units/name.h"
#include "units/text.h"

#define WORD_PATIENCE_USEC  (30 * G_USEC_PER_SEC) /* for the manager to say how it died */
#define CLEAR_PATIENCE_USEC (30 * G_USEC_PER_SEC)
#define TREE_LOOK_USEC      (100 * 1000)

static int on_over(sd_event_source *source, void *userdata) {
        Launch *launch = userdata;

        launch->over = sd_event_source_disable_unref(launch->over);
        launch->settings.handler(launch->settings.userdata);
        return 0;
}

static void disarm_all(Launch *launch) {
        deadline_disarm(&launch->patience);
        if (launch->program)
                program_hush(launch->program);
}

void life_end(Launch *launch, bool is_clean) {
        int r;

        if (launch->phase == PHASE_OVER)
                return;
        launch->phase = PHASE_OVER;
        unit_watch_settle(launch->watch);
        g_clear_pointer(&launch->enforcer, enforcer_free);
        disarm_all(launch);
        capture_set_finish(&launch->captures);
        if (is_clean && launch->guard)
                guard_watch_done(launch->guard);
        r = sd_event_add_defer(launch->settings.event, &launch->over, on_over, launch);
        g_assert(r >= 0);
}

static void read_facts(Launch *launch) {
        if (launch->enforcer)
                enforcer_read_facts(launch->enforcer);
        else if (launch->cgroup)
                cgroup_read_facts(launch->cgroup, &launch->facts);
}

/* What the manager has counted is asked for first, so that it is answered first. */
static void ask_to_clear(Launch *launch) {
        if (launch->settings.is_network_counted)
                unit_watch_count(launch->watch);
        if (!launch->settings.is_hurried)
                unit_watch_clear_away(launch->watch);
}

static void clear_away(Launch *launch) {
        launch->phase = PHASE_CLEARING;
        unit_watch_settle(launch->watch);
        disarm_all(launch);
        deadline_arm(launch->settings.event, &launch->patience, CLEAR_PATIENCE_USEC,
                     life_on_patience, launch);
        if (!launch->is_concluded) /* else all is read, and there may be nothing left to read */
                read_facts(launch);
        g_clear_pointer(&launch->enforcer, enforcer_free);
        ask_to_clear(launch);
        life_decide(launch);
}

void life_end_unstarted(Launch *launch) {
        launch->phase = PHASE_ENDING;
        disarm_all(launch);
        gate_channel_hang_up(program_gate(launch->program));
        deadline_arm(launch->settings.event, &launch->patience, CLEAR_PATIENCE_USEC,
                     life_on_patience, launch);
        unit_watch_kill(launch->watch, SIGKILL);
        life_decide(launch);
}

void life_refuse(Launch *launch, const char *code, const char *message) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->facts.stage != STAGE_CANCELLED)
                facts_set_refusal(&launch->facts, code, message);
        if (state->is_accepted)
                life_end_unstarted(launch);
        else
                life_end(launch, !launch->is_asked || unit_state_is_refused(state));
}

void life_refuse_error(Launch *launch, const GError *error) {
        life_refuse(launch, launcher_error_word(error), error->message);
}

static void be_lost(Launch *launch, const char *message) {
        launch->facts.is_lost = true;
        text_replace(&launch->facts.lost_message, message);
        if (launch->enforcer)
                enforcer_read_facts(launch->enforcer);
        if (launch->cgroup)
                cgroup_kill(launch->cgroup); /* no manager, no guard: nobody else may be left */
        life_end(launch, false);
}

static void on_output_full(void *userdata) {
        Launch *launch = userdata;

        launch->facts.is_output_truncated = true;
        if (launch->settings.is_kill_on_output && launch->enforcer)
                (void)enforcer_act(launch->enforcer, ACT_OUTPUT);
}

/* All that is still missing is the manager's word. */
static bool has_ended_alone(const Launch *launch) {
        return program_is_dead(launch->program) &&
               (!launch->settings.is_tree_awaited || launch->facts.ended_usec > 0);
}

void launch_cancel(Launch *launch, int signal) {
        launch->signals++;
        if (launch->phase == PHASE_STARTING && launch->signals == 1) {
                facts_set_cancelled(&launch->facts, signal, (uint64_t)g_get_monotonic_time());
                life_decide(launch);
        } else if (launch->phase != PHASE_RUNNING) {
                life_end(launch, false); /* who insists does not wait: the guard has the rest */
        } else if (enforcer_act(launch->enforcer, ACT_CANCEL)) {
                launch->facts.cancel_signal = signal;
        } else if (launch->signals > (has_ended_alone(launch) ? 1 : 2)) {
                be_lost(launch, "its caller did not wait until the manager had said how it ended");
        } else {
                enforcer_kill(launch->enforcer);
        }
}

static void note_end(Launch *launch, uint64_t usec, uint64_t realtime_usec) {
        if (launch->facts.ended_usec > 0)
                return;
        enforcer_note_death(launch->enforcer);
        launch->facts.ended_usec = usec;
        launch->facts.ended_realtime_usec = realtime_usec;
}

/* What is known of the program without the manager. */
static void note_program(Launch *launch) {
        const GateFailure *failure = gate_channel_failure(program_gate(launch->program));
        bool is_running = launch->phase == PHASE_RUNNING;

        if (failure->type == GATE_FAILURE) {
                launch->facts.exec_errno = failure->error_number;
                if (is_running)
                        launch->facts.stage = STAGE_NOT_EXECUTED;
        }
        if (is_running && program_death_usec(launch->program) > 0 &&
            !launch->settings.is_tree_awaited)
                note_end(launch, program_death_usec(launch->program),
                         program_death_realtime_usec(launch->program));
}

void life_on_program(void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_OVER)
                return;
        note_program(launch);
        life_decide(launch);
}

static void await_word(Launch *launch) {
        gate_channel_dismiss(program_gate(launch->program));
        deadline_arm(launch->settings.event, &launch->patience, WORD_PATIENCE_USEC,
                     life_on_patience, launch);
}

/* The manager says when the tree has ended; but one that is silent must not keep us for ever, nor a gate that waits for
 * our word, and no deadline is met by a tree that is over. */
static int on_tree_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (program_count_others(launch->program, launch->cgroup) == 0) {
                note_end(launch, (uint64_t)g_get_monotonic_time(), (uint64_t)g_get_real_time());
                await_word(launch);
        } else {
                deadline_arm(launch->settings.event, &launch->patience, TREE_LOOK_USEC,
                             on_tree_look, launch);
        }
        return 0;
}

/* It is over but for the manager's word: that and the clearing away go together, in one round. */
static void conclude(Launch *launch) {
        launch->is_concluded = true;
        read_facts(launch);
        unit_watch_catch_up(launch->watch);
        ask_to_clear(launch);
}

static void see_to_stragglers(Launch *launch) {
        if (launch->facts.outlived != FACTS_UNKNOWN)
                return;
        if (launch->settings.is_tree_awaited) {
                launch->facts.outlived = 0;
                on_tree_look(NULL, 0, launch);
                return;
        }
        launch->facts.outlived = program_count_others(launch->program, launch->cgroup);
        if (launch->facts.outlived > 0)
                enforcer_kill(launch->enforcer);
        else if (program_asks_nothing_more(launch->program))
                conclude(launch);
        await_word(launch);
}

/* A manager that re-executes itself closes its connections; the run goes on meanwhile. */
static void on_comeback(bool is_back, void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_STARTING)
                starting_on_comeback(launch, is_back);
        if (launch->phase == PHASE_OVER || launch->phase == PHASE_STARTING)
                return;
        if (!is_back && launch->phase == PHASE_CLEARING)
                life_end(launch, false); /* how the program ended is known */
        else if (!is_back)
                be_lost(launch, "the manager went away and did not come back");
        if (!is_back)
                return;
        unit_watch_go_on(launch->watch);
        if (launch->enforcer)
                enforcer_again(launch->enforcer);
        if (launch->phase == PHASE_CLEARING)
                ask_to_clear(launch);
}

static void decide_running(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (program_gate_ended(launch->program) && launch->facts.stage == STAGE_EXECUTED &&
            launch->settings.on_started)
                launch->settings.on_started(launch->settings.userdata);

        if (unit_snapshot_is_stopping(&state->snapshot))
                enforcer_read_facts(launch->enforcer); /* its slice may go with it */
        if (program_is_dead(launch->program))
                see_to_stragglers(launch);
        if (program_is_dead(launch->program) && program_has_ended(launch->program, state)) {
                note_end(launch, (uint64_t)g_get_monotonic_time(), (uint64_t)g_get_real_time());
                unit_watch_settle(launch->watch);
                program_put_end(launch->program, state, &launch->facts);
                clear_away(launch);
        } else if (state->is_removed && !state->is_refreshing &&
                   !program_is_ending(launch->program) && !program_is_dying(launch->program)) {
                be_lost(launch, "the unit vanished from the manager before its end was learnt");
        }
}

/* A scope whose process was dead before it came into it is empty, and its manager never notices. */
static void decide_ending(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_removed || program_is_ending(launch->program) ||
            unit_state_has_come_to_rest(state))
                clear_away(launch);
}

static void tell_end(Launch *launch) {
        if (launch->is_told)
                return;
        launch->is_told = true;
        capture_set_finish(&launch->captures);
        if (launch->settings.on_ended)
                launch->settings.on_ended(launch->settings.userdata);
}

static bool hand_over(Launch *launch) {
        return launch->guard && guard_watch_clear(launch->guard, launch->slice, launch->unit);
}

static void decide_clearing(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->settings.is_network_counted && !state->is_counted)
                return;
        launch->facts.net_in_bytes = state->snapshot.net_in_bytes;
        launch->facts.net_out_bytes = state->snapshot.net_out_bytes;
        tell_end(launch);
        if (launch->settings.is_hurried && hand_over(launch)) {
                life_end(launch, true);
        } else if (launch->settings.is_hurried) {
                launch->settings.is_hurried = false;
                ask_to_clear(launch);
        } else if (state->is_cleared) {
                life_end(launch, state->clear_error == NULL);
        }
}

/* The phase has lasted too long. */
int life_on_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_STARTING && program_gate_ended(launch->program))
                starting_refuse_gate(launch);
        else if (launch->phase == PHASE_STARTING && starting_awaits_gate(launch))
                life_refuse(launch, "gate",
                            "the unit was started, but what is set up before its program hangs");
        else if (launch->phase == PHASE_STARTING && starting_awaits_guard(launch))
                life_refuse(launch, "guard",
                            "no guard could be had, which would end the run if cordon died: it "
                            "does not answer");
        else if (launch->phase == PHASE_STARTING)
                life_refuse(launch, "manager-unreachable",
                            "the manager did not start the unit in time");
        else if (launch->phase == PHASE_RUNNING)
                be_lost(launch, "the program ended, but the manager did not say how");
        else if (launch->phase == PHASE_ENDING)
                clear_away(launch);
        else
                life_end(launch, false);
        return 0;
}

void life_decide(void *userdata) {
        static void (*const deciders[])(Launch *) = {
                [PHASE_STARTING] = starting_decide,
                [PHASE_RUNNING] = decide_running,
                [PHASE_ENDING] = decide_ending,
                [PHASE_CLEARING] = decide_clearing,
        };
        Launch *launch = userdata;

        if (!launch->watch || launch->phase == PHASE_OVER)
                return;
        deciders[launch->phase](launch);
}

void life_on_guard(void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_RUNNING) {
                const GError *error = guard_watch_error(launch->guard);

                text_replace(&launch->facts.guard_message, error ? error->message : NULL);
                if (error && launch->settings.on_unguarded)
                        launch->settings.on_unguarded(launch->settings.userdata);
        }
        life_decide(launch);
}

static bool enlist(Launch *launch, const char *id, GError **error) {
        launch->fleet = fleet_join(launch->settings.event, launch->settings.door);
        if (fleet_enlist(launch->fleet, id, on_comeback, launch))
                return true;

        g_autofree char *message = name_in_use(id);

        g_set_error_literal(error, DBUS_ERROR, DBUS_ERROR_EXISTS, message);
        return false;
}

Launch *launch_new(const LaunchSettings *settings, GError **error) {
        g_autoptr(Launch) launch = g_new0(Launch, 1);
        const char *id = settings->spec->id;

        launch->settings = *settings;
        if (!enlist(launch, id, error))
                return NULL;
        launch->unit = name_unit(id, settings->spec->is_scope);
        launch->slice = name_slice(settings->spec->pool, id);
        launch->check = (CheckSource){
                .settings = &launch->settings,
                .slice = launch->slice,
                .gate_path = fleet_gate_path(launch->fleet),
        };
        if (!check_open(&launch->check, error))
                return NULL;
        facts_init(&launch->facts);
        limit_set_copy(&settings->spec->limits, &launch->facts.limits);
        launch->facts.pool = g_strdup(settings->spec->pool);
        if (settings->is_capture &&
            !capture_set_open(&launch->captures, settings->has_terminal ? NULL : settings->event,
                              settings->files, settings->spec->limits.value[LIMIT_OUTPUT],
                              on_output_full, launch, error))
                return NULL;

        launch->pool = pool_slice_new(settings->event, settings->door, settings->spec,
                                      settings->is_best_effort, life_decide, launch);
        launch->obstacle = obstacle_new(settings->event, settings->door, id, launch->pool,
                                        starting_on_obstacle, launch);
        if (!starting_begin(launch, error))
                return NULL;
        return g_steal_pointer(&launch);
}

void launch_free(Launch *launch) {
        if (!launch)
                return;
        disarm_all(launch);
        launch->over = sd_event_source_disable_unref(launch->over);
        enforcer_free(launch->enforcer);
        obstacle_free(launch->obstacle);
        pool_slice_free(launch->pool);
        guard_watch_free(launch->guard);
        unit_watch_free(launch->watch);
        program_free(launch->program);
        cgroup_free(launch->cgroup);
        check_clear(&launch->check);
        capture_set_clear(&launch->captures);
        facts_clear(&launch->facts);
        g_free(launch->unit);
        g_free(launch->slice);
        fleet_discharge(launch->fleet, launch->settings.spec->id, launch);
        fleet_leave(launch->fleet);
        g_free(launch);
}

bool launch_leaves_to_program(const Launch *launch, const struct signalfd_siginfo *info) {
        return launch->phase == PHASE_RUNNING && info->ssi_code == SI_KERNEL &&
               info->ssi_signo != SIGHUP && program_shares_terminal(launch->program);
}

const Facts *launch_facts(const Launch *launch) {
        return &launch->facts;
}

Capture *launch_capture(const Launch *launch, int fd) {
        return launch->captures.streams[fd];
}

const Readback *launch_readback(const Launch *launch) {
        return &launch->readback;
}

const UnitState *launch_unit_state(const Launch *launch) {
        return unit_watch_state(launch->watch);
}

uint32_t launch_unapplied(const Launch *launch) {
        return launch->program ? gate_channel_hello(program_gate(launch->program))->unapplied : 0;
}
