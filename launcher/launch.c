/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a run, in phases:
 *
 *   STARTING  guard told, units asked for, gate awaited; then limits are read back and "go" is said
 *   RUNNING   until the main process is dead, its stragglers too, and the manager has said how it ended
 *   ENDING    instead of RUNNING, when it must not run: until the manager sees that the gate is gone
 *   CLEARING  counters are read, then slice and unit are stopped and forgotten
 *   OVER
 *
 * Where the manager has made nothing, it is over at once. The hard part is that the manager, the gate and the kernel
 * tell the same story at different times: decide() may be called at any moment, any number of times, and acts only on
 * what is true now. */

#include "launch.h"

#include <signal.h>
#include <unistd.h>

#include "birth.h"
#include "check.h"
#include "comeback.h"
#include "dbus/error.h"
#include "dbus/watch.h"
#include "deadline.h"
#include "enforcer.h"
#include "launcher/gate/channel.h"
#include "launcher/guard/link.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/kernel/error.h"
#include "launcher/rundir.h"
#include "obstacle.h"
#include "program.h"
#include "units/name.h"
#include "units/text.h"

#define HELLO_PATIENCE_USEC (25 * G_USEC_PER_SEC) /* less than the manager has from units/compose */
#define START_PATIENCE_USEC (90 * G_USEC_PER_SEC) /* an emulated machine needs a good part of it */
#define WORD_PATIENCE_USEC  (30 * G_USEC_PER_SEC) /* for the manager to say how it died */
#define CLEAR_PATIENCE_USEC (30 * G_USEC_PER_SEC)
#define TREE_LOOK_USEC      (100 * 1000)

typedef enum {
        PHASE_STARTING,
        PHASE_RUNNING,
        PHASE_ENDING,
        PHASE_CLEARING,
        PHASE_OVER,
} Phase;

struct Launch {
        LaunchSettings settings;
        char *unit, *slice, *gate_path;
        char *empty_root; /* NULL: none is needed */
        char *owner;      /* ourselves, as the slice and the guard know us */
        Phase phase;
        Facts facts;
        Readback readback;
        CheckSource check;

        Program *program;
        bool is_guard_awaited;
        UnitWatch *watch;
        GuardLink *guard;
        Enforcer *enforcer; /* from "go" on */
        Obstacle *obstacle;
        Cgroup *cgroup;
        CaptureSet captures;
        unsigned signals; /* to us */

        sd_event_source *over;
        sd_event_source *patience; /* of the phase: starting, the manager's last word, clearing */
        Comeback *comeback;        /* while the manager is away */
};

static void decide(void *userdata);
static int on_patience(sd_event_source *source, uint64_t usec, void *userdata);
static bool begin(Launch *launch, GError **error);
static void refuse_start(Launch *launch);

static const LimitSet *limits_of(const Launch *launch) {
        return &launch->settings.spec->limits;
}

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

/* is_clean: nothing of the run is left at the manager. Else the guard is left to end it. */
static void be_over(Launch *launch, bool is_clean) {
        int r;

        if (launch->phase == PHASE_OVER)
                return;
        launch->phase = PHASE_OVER;
        g_clear_pointer(&launch->enforcer, enforcer_free);
        g_clear_pointer(&launch->comeback, comeback_free);
        disarm_all(launch);
        capture_set_finish(&launch->captures);
        if (is_clean && launch->guard)
                guard_link_done(launch->guard);
        r = sd_event_add_defer(launch->settings.event, &launch->over, on_over, launch);
        g_assert(r >= 0);
}

static void clear_away(Launch *launch) {
        launch->phase = PHASE_CLEARING;
        disarm_all(launch);
        deadline_arm(launch->settings.event, &launch->patience, CLEAR_PATIENCE_USEC, on_patience,
                     launch);
        if (launch->enforcer)
                enforcer_read_facts(launch->enforcer);
        else if (launch->cgroup)
                cgroup_read_facts(launch->cgroup, &launch->facts);
        g_clear_pointer(&launch->enforcer, enforcer_free);
        unit_watch_read_counters(launch->watch);
        unit_watch_clear_away(launch->watch);
}

/* The gate hears that there is nobody any more, or is killed. Only a unit that has come to rest can be cleared away: one
 * that fails afterwards would stay. */
static void end_unstarted(Launch *launch) {
        launch->phase = PHASE_ENDING;
        disarm_all(launch);
        gate_channel_hang_up(program_gate(launch->program));
        deadline_arm(launch->settings.event, &launch->patience, CLEAR_PATIENCE_USEC, on_patience,
                     launch);
        unit_watch_kill(launch->watch, SIGKILL);
        decide(launch);
}

/* Nothing of the program has run. What the manager has made for us is killed and cleared away; where it has not answered
 * it may still make it, and the guard sees to that. Where it said no, the unit of that name, if any, is not ours. */
static void refuse(Launch *launch, const char *code, const char *message) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->facts.stage != STAGE_CANCELLED)
                facts_set_refusal(&launch->facts, code, message);
        if (state->is_accepted)
                end_unstarted(launch);
        else
                be_over(launch, unit_state_is_refused(state));
}

static void refuse_error(Launch *launch, const GError *error) {
        refuse(launch, launcher_error_word(error), error->message);
}

static void be_lost(Launch *launch, const char *message) {
        launch->facts.is_lost = true;
        text_replace(&launch->facts.lost_message, message);
        if (launch->enforcer)
                enforcer_read_facts(launch->enforcer);
        if (launch->cgroup)
                cgroup_kill(launch->cgroup); /* no manager, no guard: nobody else may be left */
        be_over(launch, false);
}

static void on_output_full(void *userdata) {
        Launch *launch = userdata;

        launch->facts.is_output_truncated = true;
        if (launch->settings.is_kill_on_output && launch->enforcer)
                (void)enforcer_act(launch->enforcer, ACT_OUTPUT);
}

/* All that is still missing is the manager's word. */
static bool has_ended_alone(const Launch *launch) {
        return program_is_dead(launch->program) && !launch->settings.is_tree_awaited;
}

void launch_cancel(Launch *launch, int signal) {
        launch->signals++;
        if (launch->phase == PHASE_STARTING && launch->signals == 1) {
                facts_set_cancelled(&launch->facts, signal, (uint64_t)g_get_monotonic_time());
                decide(launch);
        } else if (launch->phase != PHASE_RUNNING) {
                be_over(launch, false); /* who insists does not wait: the guard has the rest */
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

static void on_program(void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_OVER)
                return;
        note_program(launch);
        decide(launch);
}

static void go(Launch *launch) {
        g_autoptr(GError) error = NULL;
        EnforcerSettings enforcer = {
                .event = launch->settings.event,
                .limits = limits_of(launch),
                .watch = launch->watch,
                .readback = &launch->readback,
                .disk = launch->settings.disk,
                .facts = &launch->facts,
        };

        if (!check_gate(&launch->check, &launch->cgroup, &launch->readback, &error)) {
                refuse_error(launch, error);
                return;
        }

        launch->phase = PHASE_RUNNING;
        deadline_disarm(&launch->patience);
        launch->facts.stage = STAGE_EXECUTED; /* unless the gate says otherwise */
        launch->facts.started_realtime_usec = (uint64_t)g_get_real_time();
        launch->facts.started_usec = (uint64_t)g_get_monotonic_time();
        enforcer.cgroup = launch->cgroup;
        launch->enforcer = enforcer_new(&enforcer);
        capture_set_drop_write_ends(&launch->captures); /* the gate has its own */
        program_go(launch->program);
}

static void on_obstacle(bool is_gone, void *userdata) {
        Launch *launch = userdata;
        g_autoptr(GError) error = NULL;

        if (launch->phase != PHASE_STARTING)
                return; /* cancelled meanwhile */
        if (!is_gone)
                refuse_start(launch);
        else if (!begin(launch, &error))
                refuse_error(launch, error);
}

static void refuse_start(Launch *launch) {
        const GError *error = unit_watch_state(launch->watch)->start_error;
        g_autofree char *message = birth_explain(launch->settings.spec, error);

        if (obstacle_remove(launch->obstacle, error))
                return;
        refuse(launch, launcher_error_word(error), message ?: error->message);
}

static void refuse_gate(Launch *launch) {
        g_autoptr(GError) error = NULL;

        if (gate_channel_failure(program_gate(launch->program))->type == GATE_FAILURE)
                check_explain_failure(&launch->check, &error);
        else
                check_explain_end(&launch->check, unit_watch_state(launch->watch), &error);
        refuse_error(launch, error);
}

/* Before the manager has answered nobody knows whether there is something to end. */
static void decide_cancelled(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_accepted)
                end_unstarted(launch);
        else if (state->start_error || state->is_disconnected)
                be_over(launch, unit_state_is_refused(state));
}

static void await_guard(Launch *launch) {
        launch->is_guard_awaited = true;
        deadline_arm(launch->settings.event, &launch->patience, HELLO_PATIENCE_USEC, on_patience,
                     launch);
}

/* Not only when the guard watches: one in other namespaces may never get to understand us. */
static void decide_ready(Launch *launch) {
        g_autoptr(GError) error = NULL;

        if (!check_world(&launch->check, &error))
                refuse_error(launch, error);
        else if (guard_link_is_watched(launch->guard))
                go(launch);
        else if (!launch->is_guard_awaited)
                await_guard(launch);
}

static void decide_starting(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->facts.stage == STAGE_CANCELLED)
                decide_cancelled(launch);
        else if (guard_link_error(launch->guard) && (state->is_accepted || state->start_error))
                refuse_error(launch, guard_link_error(launch->guard));
        else if (state->start_error)
                refuse_start(launch);
        else if (state->is_disconnected &&
                 !(program_gate_ended(launch->program) && state->is_accepted))
                refuse(launch, "manager-unreachable",
                       "the manager closed the connection while it started the unit");
        else if (!state->is_accepted)
                return; /* also when the gate's end is closed: that is how a manager refuses it */
        else if (birth_has_failed(launch->program, state))
                refuse_gate(launch);
        else if (birth_is_over(launch->program, state))
                decide_ready(launch);
}

static uint64_t count_stragglers(const Launch *launch) {
        uint64_t count = cgroup_count_processes(launch->cgroup);
        bool has_gate = gate_channel_init_fd(program_gate(launch->program)) >= 0;

        return has_gate && count > 0 ? count - 1 : count;
}

static void await_word(Launch *launch) {
        gate_channel_dismiss(program_gate(launch->program));
        deadline_arm(launch->settings.event, &launch->patience, WORD_PATIENCE_USEC, on_patience,
                     launch);
}

/* The manager says when the tree has ended; but one that is silent must not keep us for ever, nor a gate that waits for
 * our word. */
static int on_tree_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (count_stragglers(launch) == 0)
                await_word(launch);
        else
                deadline_arm(launch->settings.event, &launch->patience, TREE_LOOK_USEC,
                             on_tree_look, launch);
        return 0;
}

static void see_to_stragglers(Launch *launch) {
        if (launch->facts.outlived != FACTS_UNKNOWN)
                return;
        if (launch->settings.is_tree_awaited) {
                launch->facts.outlived = 0;
                on_tree_look(NULL, 0, launch);
                return;
        }
        launch->facts.outlived = count_stragglers(launch);
        if (launch->facts.outlived > 0)
                enforcer_kill(launch->enforcer);
        else if (program_asks_nothing_more(launch->program))
                unit_watch_refresh(launch->watch);
        await_word(launch);
}

static void on_comeback(bool is_back, void *userdata) {
        Launch *launch = userdata;

        g_clear_pointer(&launch->comeback, comeback_free);
        if (!is_back && launch->phase == PHASE_CLEARING)
                be_over(launch, false); /* how the program ended is known */
        else if (!is_back)
                be_lost(launch, "the manager went away and did not come back");
        if (!is_back)
                return;
        unit_watch_attach(launch->watch, launch->settings.door->bus);
        guard_link_reopened(launch->guard);
        if (launch->enforcer)
                enforcer_again(launch->enforcer);
        if (launch->phase == PHASE_CLEARING)
                unit_watch_clear_away(launch->watch);
}

/* A manager that re-executes itself closes its connections; the run goes on meanwhile. */
static void await_manager(Launch *launch) {
        if (!launch->comeback && launch->phase != PHASE_OVER)
                launch->comeback = comeback_new(launch->settings.event, launch->settings.door,
                                                on_comeback, launch);
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
                program_put_end(launch->program, state, &launch->facts);
                clear_away(launch);
        } else if (state->is_removed && !state->is_refreshing &&
                   !program_is_ending(launch->program)) {
                be_lost(launch, "the unit vanished from the manager before its end was learnt");
        }
}

/* A scope whose process was dead before it came into it is empty, and its manager never notices. */
static void decide_ending(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_removed || program_is_ending(launch->program) ||
            (state->job_result && unit_snapshot_is_at_rest(&state->snapshot)))
                clear_away(launch);
}

static void decide_clearing(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_cleared) {
                launch->facts.net_in_bytes = state->snapshot.net_in_bytes;
                launch->facts.net_out_bytes = state->snapshot.net_out_bytes;
                be_over(launch, state->clear_error == NULL);
        }
}

/* The phase has lasted too long. */
static int on_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_STARTING && program_gate_ended(launch->program))
                refuse_gate(launch);
        else if (launch->phase == PHASE_STARTING)
                refuse(launch, "manager-unreachable", "the manager did not start the unit in time");
        else if (launch->phase == PHASE_RUNNING)
                be_lost(launch, "the program ended, but the manager did not say how");
        else if (launch->phase == PHASE_ENDING)
                clear_away(launch);
        else
                be_over(launch, false);
        return 0;
}

/* Also the handler of whoever has news. */
static void decide(void *userdata) {
        static void (*const deciders[])(Launch *) = {
                [PHASE_STARTING] = decide_starting,
                [PHASE_RUNNING] = decide_running,
                [PHASE_ENDING] = decide_ending,
                [PHASE_CLEARING] = decide_clearing,
        };
        Launch *launch = userdata;

        /* A guard link may fail before there is anything to decide. */
        if (!launch->watch || launch->phase == PHASE_OVER)
                return;
        deciders[launch->phase](launch);
        if (launch->phase != PHASE_STARTING && unit_watch_state(launch->watch)->is_disconnected)
                await_manager(launch);
}

static void on_guard(void *userdata) {
        Launch *launch = userdata;

        if (launch->phase == PHASE_RUNNING) {
                const GError *error = guard_link_error(launch->guard);

                text_replace(&launch->facts.guard_message, error ? error->message : NULL);
                if (error && launch->settings.on_unguarded)
                        launch->settings.on_unguarded(launch->settings.userdata);
        }
        decide(launch);
}

static void drop_attempt(Launch *launch) {
        g_clear_pointer(&launch->program, program_free);
        g_clear_pointer(&launch->watch, unit_watch_free);
}

/* One attempt at a start: gate, watch, units. */
static bool begin(Launch *launch, GError **error) {
        const LaunchSettings *settings = &launch->settings;

        drop_attempt(launch);
        launch->watch = unit_watch_new(settings->door->bus, launch->unit, launch->slice, decide,
                                       launch);
        launch->program = birth_program(settings, &launch->check, launch->owner, &launch->captures,
                                        on_program, launch, error);
        if (!launch->program)
                return false;
        launch->check.gate = program_gate(launch->program);
        birth_units(&launch->check, launch->owner, launch->program, launch->watch);
        return true;
}

Launch *launch_new(const LaunchSettings *settings, GError **error) {
        g_autoptr(Launch) launch = g_new0(Launch, 1);
        const char *id = settings->spec->id;

        launch->settings = *settings;
        launch->unit = name_unit(id, settings->spec->is_scope);
        launch->slice = name_slice(id);
        launch->owner = caller_process_identity(getpid()) ?: g_strdup("0:0");
        launch->gate_path = door_program_path("cordon-gate");
        launch->check = (CheckSource){
                .settings = &launch->settings,
                .slice = launch->slice,
                .gate_path = launch->gate_path,
        };
        if (!enclosing_make(settings->spec, settings->is_best_effort, &launch->check.enclosing,
                            error))
                return NULL;
        if (check_needs_empty_root(&launch->check) &&
            !(launch->check.empty_root = launch->empty_root = rundir_make(settings->door->guard_dir,
                                                                          RUNDIR_ROOT, id, 0755,
                                                                          error)))
                return NULL;
        facts_init(&launch->facts);
        limit_set_copy(limits_of(launch), &launch->facts.limits);
        if (settings->is_capture &&
            !capture_set_open(&launch->captures, settings->has_terminal ? NULL : settings->event,
                              settings->files, limits_of(launch)->value[LIMIT_OUTPUT],
                              on_output_full, launch, error))
                return NULL;

        launch->obstacle = obstacle_new(settings->event, settings->door, id, on_obstacle, launch);
        deadline_arm(settings->event, &launch->patience, START_PATIENCE_USEC, on_patience, launch);
        launch->guard = guard_link_new(settings->event, settings->door, id, launch->owner, on_guard,
                                       launch);
        if (!begin(launch, error))
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
        comeback_free(launch->comeback);
        guard_link_free(launch->guard);
        unit_watch_free(launch->watch);
        program_free(launch->program);
        cgroup_free(launch->cgroup);
        enclosing_clear(&launch->check.enclosing);
        capture_set_clear(&launch->captures);
        facts_clear(&launch->facts);
        g_free(launch->unit);
        g_free(launch->slice);
        g_free(launch->owner);
        g_free(launch->gate_path);
        rundir_remove(launch->empty_root);
        g_free(launch->empty_root);
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
