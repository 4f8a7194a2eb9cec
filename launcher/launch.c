/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a run, in phases:
 *
 *   STARTING  guard told, units asked for, gate awaited; then limits are read back and "go" is said
 *   RUNNING   until the main process is dead, its stragglers too, and the manager has said how it ended
 *   CLEARING  counters are read, then slice and unit are stopped and forgotten
 *   OVER
 *
 * A request that fails on the way goes straight to CLEARING, or to OVER where the manager made nothing. The hard part
 * is that the manager, the gate and the kernel tell the same story at different times: decide() may be called at any
 * moment, any number of times, and acts only on what is true now. */

#include "launch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dbus/error.h"
#include "dbus/watch.h"
#include "deadline.h"
#include "launcher/gate/channel.h"
#include "launcher/guard/link.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/kernel/error.h"
#include "units/compose.h"
#include "units/name.h"
#include "units/text.h"

#define START_PATIENCE_USEC (90 * G_USEC_PER_SEC) /* an emulated machine needs a good part of it */
#define WORD_PATIENCE_USEC \
        (30 * G_USEC_PER_SEC) /* for the manager to say how a dead process ended */
#define CLEAR_PATIENCE_USEC (30 * G_USEC_PER_SEC)
#define RECONNECT_USEC      (50 * 1000)
#define KILL_AGAIN_USEC     (100 * 1000)

#define STREAM_COUNT 3

typedef enum {
        PHASE_STARTING,
        PHASE_RUNNING,
        PHASE_CLEARING,
        PHASE_OVER,
} Phase;

struct Launch {
        LaunchSettings settings;
        char *unit, *slice;
        Phase phase;
        Facts facts;
        Readback readback;

        GateChannel *gate;
        bool gate_said_hello, gate_ended;
        UnitWatch *watch;
        GuardLink *guard;
        Cgroup *cgroup;
        CpuTimes cpu_before;             /* what the start itself has cost: not the program's */
        Capture *captures[STREAM_COUNT]; /* by descriptor; all NULL when output is passed through */
        bool is_dead;                    /* the main process */

        sd_event_source *gate_io, *death_io, *over;
        sd_event_source *patience; /* of the phase: starting, the manager's last word, clearing */
        sd_event_source *timeout, *budget, *grace, *kill_again, *reconnect;
        uint64_t reconnect_until_usec;
};

static void decide(Launch *launch);

static uint64_t now_usec(void) {
        return (uint64_t)g_get_monotonic_time();
}

static const LimitSet *limits_of(const Launch *launch) {
        return &launch->settings.spec->limits;
}

/* The ways out */

static int on_over(sd_event_source *source, void *userdata) {
        Launch *launch = userdata;

        launch->over = sd_event_source_disable_unref(launch->over);
        launch->settings.handler(launch->settings.userdata);
        return 0;
}

static void disarm_all(Launch *launch) {
        sd_event_source **timers[] = { &launch->patience, &launch->timeout,    &launch->budget,
                                       &launch->grace,    &launch->kill_again, &launch->reconnect };

        for (size_t i = 0; i < G_N_ELEMENTS(timers); i++)
                deadline_disarm(timers[i]);
        launch->death_io = sd_event_source_disable_unref(launch->death_io);
        launch->gate_io = sd_event_source_disable_unref(launch->gate_io);
}

static void finish_captures(Launch *launch) {
        for (int i = 0; i < STREAM_COUNT; i++)
                if (launch->captures[i])
                        capture_finish(launch->captures[i]);
}

/* is_clean: nothing of the run is left at the manager. Else the guard is left to end it. */
static void be_over(Launch *launch, bool is_clean) {
        int r;

        if (launch->phase == PHASE_OVER)
                return;
        launch->phase = PHASE_OVER;
        disarm_all(launch);
        finish_captures(launch);
        if (is_clean && launch->guard)
                guard_link_done(launch->guard);
        r = sd_event_add_defer(launch->settings.event, &launch->over, on_over, launch);
        g_assert(r >= 0);
}

static int on_clear_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        be_over(userdata, false);
        return 0;
}

static uint64_t since(uint64_t now, uint64_t before) {
        if (now == FACTS_UNKNOWN || before == FACTS_UNKNOWN)
                return now;
        return now > before ? now - before : 0;
}

static void read_facts(Launch *launch) {
        Facts *facts = &launch->facts;

        cgroup_read_facts(launch->cgroup, facts);
        facts->cpu_usec = since(facts->cpu_usec, launch->cpu_before.total_usec);
        facts->cpu_user_usec = since(facts->cpu_user_usec, launch->cpu_before.user_usec);
        facts->cpu_system_usec = since(facts->cpu_system_usec, launch->cpu_before.system_usec);
}

static void clear_away(Launch *launch) {
        launch->phase = PHASE_CLEARING;
        disarm_all(launch);
        deadline_arm(launch->settings.event, &launch->patience, CLEAR_PATIENCE_USEC,
                     on_clear_patience, launch);
        if (launch->cgroup)
                read_facts(launch);
        unit_watch_read_counters(launch->watch);
        unit_watch_clear_away(launch->watch);
}

/* Nothing of the program has run. The gate sees its socket close and ends; what is in the unit is killed. */
static void refuse(Launch *launch, const char *code, const char *message) {
        launch->facts.stage = STAGE_REFUSED;
        text_replace(&launch->facts.refusal_code, code);
        text_replace(&launch->facts.refusal_message, message);
        if (unit_watch_state(launch->watch)->start_error) {
                const GError *error = unit_watch_state(launch->watch)->start_error;

                /* Without an answer it may still be started: then the guard ends it. */
                be_over(launch,
                        !g_error_matches(error, DBUS_ERROR, DBUS_ERROR_NO_ANSWER) &&
                                !g_error_matches(error, DBUS_ERROR, DBUS_ERROR_DISCONNECTED));
                return;
        }

        unit_watch_kill(launch->watch, SIGKILL);
        clear_away(launch);
}

static void refuse_error(Launch *launch, const GError *error) {
        refuse(launch, launcher_error_word(error), error->message);
}

static void be_lost(Launch *launch, const char *message) {
        launch->facts.is_lost = true;
        text_replace(&launch->facts.lost_message, message);
        be_over(launch, false);
}

/* Ending the program */

static int on_kill_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        unit_watch_kill(launch->watch, SIGKILL);
        deadline_arm(launch->settings.event, &launch->kill_again, KILL_AGAIN_USEC, on_kill_again,
                     launch);
        return 0;
}

/* Once may not be enough for a tree that forks while it dies. */
static void kill_until_empty(Launch *launch) {
        if (!launch->kill_again)
                on_kill_again(NULL, 0, launch);
}

static int on_grace(sd_event_source *source, uint64_t usec, void *userdata) {
        kill_until_empty(userdata);
        return 0;
}

static void end_with_grace(Launch *launch) {
        const LimitSet *limits = limits_of(launch);
        uint64_t grace = limits->value[LIMIT_GRACE];

        if (grace == 0) {
                kill_until_empty(launch);
                return;
        }
        unit_watch_kill(launch->watch, SIGTERM);
        unit_watch_kill(launch->watch, SIGCONT); /* a stopped one can take its TERM now */
        if (grace != LIMIT_INFINITY && !launch->grace)
                deadline_arm(launch->settings.event, &launch->grace, grace, on_grace, launch);
}

/* The first reason is the one that counts; a later one changes nothing. */
static bool act(Launch *launch, Act why) {
        for (int i = 0; i < _ACT_MAX; i++)
                if (launch->facts.act_usec[i] != 0)
                        return false;
        if (launch->is_dead)
                return false;
        launch->facts.act_usec[why] = now_usec();
        return true;
}

static void on_output_full(void *userdata) {
        Launch *launch = userdata;

        launch->facts.is_output_truncated = true;
        if (launch->settings.is_kill_on_output && launch->phase == PHASE_RUNNING &&
            act(launch, ACT_OUTPUT))
                kill_until_empty(launch);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (act(launch, ACT_TIMEOUT))
                end_with_grace(launch);
        return 0;
}

/* How many CPUs can work for the tree at the same time. */
static uint64_t cpus_usable(const Launch *launch) {
        const LimitSet *limits = limits_of(launch);
        uint64_t cpus = g_get_num_processors();

        if (limit_set_is_limited(limits, LIMIT_CPUS))
                cpus = MIN(cpus, limits->value[LIMIT_CPUS]);
        if (limit_set_is_limited(limits, LIMIT_CPU))
                cpus = MIN(cpus, (limits->value[LIMIT_CPU] + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC);
        return cpus;
}

static int on_budget(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;
        uint64_t budget = limits_of(launch)->value[LIMIT_CPU_TIME], used;
        CpuTimes now;

        cgroup_read_cpu(launch->cgroup, &now);
        used = since(now.total_usec, launch->cpu_before.total_usec);
        if (used != FACTS_UNKNOWN && used >= budget) {
                if (act(launch, ACT_CPU_TIME))
                        end_with_grace(launch);
                return 0;
        }
        deadline_arm(launch->settings.event, &launch->budget,
                     deadline_next_look_usec(budget, used, cpus_usable(launch)), on_budget, launch);
        return 0;
}

void launch_cancel(Launch *launch, int signal) {
        if (launch->phase == PHASE_STARTING) {
                launch->facts.cancel_signal = signal;
                launch->facts.act_usec[ACT_CANCEL] = now_usec();
                launch->facts.stage = STAGE_EXECUTED; /* it would have been, but for the caller */
                unit_watch_kill(launch->watch, SIGKILL);
                clear_away(launch);
                return;
        }
        if (launch->phase != PHASE_RUNNING)
                return;
        if (act(launch, ACT_CANCEL)) {
                launch->facts.cancel_signal = signal;
                end_with_grace(launch);
        } else {
                kill_until_empty(launch);
        }
}

/* Starting */

static void gate_failed(Launch *launch) {
        if (launch->phase != PHASE_RUNNING)
                return;
        launch->facts.stage = STAGE_NOT_EXECUTED;
        launch->facts.exec_errno = gate_channel_failure(launch->gate)->error_number;
}

/* Everything that the gate has said by now. */
static void hear_gate(Launch *launch) {
        while (!launch->gate_ended)
                switch (gate_channel_read(launch->gate)) {
                case GATE_NEWS_NONE:
                        return;
                case GATE_NEWS_HELLO:
                        launch->gate_said_hello = true;
                        break;
                case GATE_NEWS_FAILURE:
                        gate_failed(launch);
                        break;
                case GATE_NEWS_END:
                        launch->gate_ended = true;
                        launch->gate_io = sd_event_source_disable_unref(launch->gate_io);
                        break;
                }
}

static int on_start_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        refuse(userdata, "manager-unreachable", "the manager did not start the unit in time");
        return 0;
}

static int on_death(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Launch *launch = userdata;

        launch->death_io = sd_event_source_disable_unref(launch->death_io);
        launch->is_dead = true;
        hear_gate(launch); /* its last word may be waiting behind the news of its death */
        launch->facts.ended_usec = now_usec();
        launch->facts.ended_realtime_usec = (uint64_t)g_get_real_time();
        decide(launch);
        return 0;
}

/* The process behind a pidfd, as we number processes. */
static pid_t pid_of(int pidfd) {
        g_autofree char *path = g_strdup_printf("/proc/self/fdinfo/%d", pidfd);
        g_autofree char *text = NULL;
        const char *line = g_file_get_contents(path, &text, NULL, NULL) ? strstr(text, "\nPid:")
                                                                        : NULL;

        return line ? (pid_t)g_ascii_strtoll(line + strlen("\nPid:"), NULL, 10) : -1;
}

static const char *const namespace_words[_GATE_NS_MAX] = {
        [GATE_NS_MNT] = "mount", [GATE_NS_NET] = "network", [GATE_NS_PID] = "pid",
        [GATE_NS_USER] = "user", [GATE_NS_IPC] = "IPC",     [GATE_NS_UTS] = "host name",
};

/* A unit runs in the manager's namespaces. Where those are not the caller's, the program would see another network or
 * another / without anybody having asked for it. */
static bool check_namespaces(const Launch *launch, GError **error) {
        const uint64_t *inside = gate_channel_hello(launch->gate)->namespaces;
        const uint64_t *ours = launch->settings.caller->namespaces;

        for (int i = 0; i < _GATE_NS_MAX; i++) {
                if (i == GATE_NS_MNT && launch->settings.door->is_own_mount_namespace)
                        continue;
                if (inside[i] == 0 || ours[i] == 0 || inside[i] == ours[i])
                        continue;
                g_set_error(
                        error, LAUNCHER_ERROR, LAUNCHER_ERROR_NAMESPACE,
                        "the caller is in another %s namespace than the %s manager; --private starts one in the caller's",
                        namespace_words[i], manager_kind_word(launch->settings.door->kind));
                return false;
        }
        return true;
}

static bool check(Launch *launch, GError **error) {
        pid_t pid = pid_of(gate_channel_pidfd(launch->gate));

        if (!check_namespaces(launch, error))
                return false;
        launch->cgroup = cgroup_find(pid, launch->slice, error);
        if (!launch->cgroup)
                return false;
        cgroup_watch_memory(launch->cgroup);
        if (readback_check(limits_of(launch), launch->cgroup, gate_channel_hello(launch->gate),
                           &launch->readback, error))
                return true;
        if (!launch->settings.is_best_effort)
                return false;

        g_clear_error(error);
        return true;
}

static void arm_limits(Launch *launch) {
        const LimitSet *limits = limits_of(launch);

        if (limit_set_is_limited(limits, LIMIT_TIMEOUT))
                deadline_arm(launch->settings.event, &launch->timeout, limits->value[LIMIT_TIMEOUT],
                             on_timeout, launch);
        if (limit_set_is_limited(limits, LIMIT_CPU_TIME))
                on_budget(NULL, 0, launch);
}

static void go(Launch *launch) {
        g_autoptr(GError) error = NULL;
        int r;

        if (!check(launch, &error)) {
                refuse_error(launch, error);
                return;
        }

        launch->phase = PHASE_RUNNING;
        cgroup_read_cpu(launch->cgroup, &launch->cpu_before);
        deadline_disarm(&launch->patience);
        launch->facts.stage = STAGE_EXECUTED; /* unless the gate says otherwise */
        launch->facts.started_realtime_usec = (uint64_t)g_get_real_time();
        launch->facts.started_usec = now_usec();
        gate_channel_go(launch->gate);
        r = sd_event_add_io(launch->settings.event, &launch->death_io,
                            gate_channel_pidfd(launch->gate), EPOLLIN, on_death, launch);
        g_assert(r >= 0);
        arm_limits(launch);
}

static void refuse_gate(Launch *launch) {
        const UnitSnapshot *snapshot = &unit_watch_state(launch->watch)->snapshot;
        g_autofree char *message = g_strdup_printf(
                "the gate ended before the program could be started (unit result %s, status %d)",
                snapshot->result ?: "unknown", snapshot->exec_main_status);

        refuse(launch, "gate", message);
}

static void refuse_gate_failure(Launch *launch) {
        static const char *const stages[] = {
                [GATE_AT_REQUEST] = "the gate could not read its request",
                [GATE_AT_DIRECTORY] = "the working directory cannot be entered by the program",
                [GATE_AT_STDIO] = "the standard streams could not be set up",
                [GATE_AT_EXEC] = "the program could not be executed",
        };
        const GateFailure *failure = gate_channel_failure(launch->gate);
        const char *what = failure->stage < G_N_ELEMENTS(stages) ? stages[failure->stage]
                                                                 : "the gate failed";
        g_autofree char *message = g_strdup_printf("%s: %s", what,
                                                   g_strerror(failure->error_number));

        refuse(launch, failure->stage == GATE_AT_DIRECTORY ? "directory" : "gate", message);
}

static bool job_failed(const UnitState *state) {
        return state->job_result && strcmp(state->job_result, "done") != 0;
}

static void decide_starting(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->start_error)
                refuse_error(launch, state->start_error);
        else if (guard_link_error(launch->guard))
                refuse_error(launch, guard_link_error(launch->guard));
        else if (gate_channel_failure(launch->gate)->type == GATE_FAILURE)
                refuse_gate_failure(launch);
        else if (launch->gate_ended || job_failed(state) || state->is_removed)
                refuse_gate(launch);
        else if (state->is_disconnected)
                refuse(launch, "manager-unreachable",
                       "the manager closed the connection while it started the unit");
        else if (launch->gate_said_hello && state->is_accepted &&
                 guard_link_is_watched(launch->guard))
                go(launch);
}

/* Running */

static void take_word(Launch *launch) {
        const UnitSnapshot *snapshot = &unit_watch_state(launch->watch)->snapshot;

        launch->facts.exec_main_code = snapshot->exec_main_code;
        launch->facts.exec_main_status = snapshot->exec_main_status;
        text_replace(&launch->facts.unit_result, snapshot->result);
}

/* The program is over when the manager has its status and no process of the unit is left: "exited" because of
 * RemainAfterExit, or failed, or inactive. */
static bool has_ended(const UnitState *state) {
        const UnitSnapshot *snapshot = &state->snapshot;

        return snapshot->exec_main_code != 0 &&
               (g_strcmp0(snapshot->sub_state, "exited") == 0 ||
                g_strcmp0(snapshot->active_state, "failed") == 0 ||
                g_strcmp0(snapshot->active_state, "inactive") == 0);
}

static int on_word_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        be_lost(userdata, "the program ended, but the manager did not say how");
        return 0;
}

static void see_to_stragglers(Launch *launch) {
        if (launch->facts.outlived != FACTS_UNKNOWN)
                return;
        launch->facts.outlived = cgroup_count_processes(launch->cgroup);
        if (launch->facts.outlived > 0)
                kill_until_empty(launch);
        deadline_arm(launch->settings.event, &launch->patience, WORD_PATIENCE_USEC,
                     on_word_patience, launch);
}

static int on_reconnect(sd_event_source *source, uint64_t usec, void *userdata) {
        Launch *launch = userdata;

        if (door_reopen(launch->settings.door, NULL) &&
            sd_bus_attach_event(launch->settings.door->bus, launch->settings.event,
                                SD_EVENT_PRIORITY_NORMAL) >= 0) {
                unit_watch_attach(launch->watch, launch->settings.door->bus);
                if (launch->phase == PHASE_CLEARING)
                        unit_watch_clear_away(launch->watch);
                return 0;
        }
        if (now_usec() >= launch->reconnect_until_usec)
                be_lost(launch, "the manager went away and did not come back");
        else
                deadline_arm(launch->settings.event, &launch->reconnect, RECONNECT_USEC,
                             on_reconnect, launch);
        return 0;
}

/* A manager that re-executes itself closes its connections; the run goes on meanwhile. */
static void reconnect(Launch *launch) {
        launch->reconnect_until_usec = now_usec() + WORD_PATIENCE_USEC;
        on_reconnect(NULL, 0, launch);
}

static void decide_running(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (launch->is_dead)
                see_to_stragglers(launch);
        if (launch->is_dead && has_ended(state)) {
                take_word(launch);
                clear_away(launch);
        } else if (state->is_removed && !state->is_refreshing) {
                be_lost(launch, "the unit vanished from the manager before its end was learnt");
        } else if (state->is_disconnected && !launch->reconnect) {
                reconnect(launch);
        }
}

static void decide_clearing(Launch *launch) {
        const UnitState *state = unit_watch_state(launch->watch);

        if (state->is_cleared) {
                launch->facts.net_in_bytes = state->snapshot.net_in_bytes;
                launch->facts.net_out_bytes = state->snapshot.net_out_bytes;
                be_over(launch, state->clear_error == NULL);
        } else if (state->is_disconnected && !launch->reconnect) {
                reconnect(launch);
        }
}

static void decide(Launch *launch) {
        switch (launch->phase) {
        case PHASE_STARTING:
                decide_starting(launch);
                return;
        case PHASE_RUNNING:
                decide_running(launch);
                return;
        case PHASE_CLEARING:
                decide_clearing(launch);
                return;
        case PHASE_OVER:
                return;
        }
}

/* News */

static void on_news(void *userdata) {
        decide(userdata);
}

static int on_gate(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Launch *launch = userdata;

        hear_gate(launch);
        decide(launch);
        return 0;
}

static uint32_t rlimits_nobody_asked(const LimitSet *limits) {
        uint32_t mask = (1U << GATE_RLIMITS) - 1;

        for (int i = 0; i < _LIMIT_MAX; i++) {
                const LimitInfo *info = limit_info((Limit)i);

                if (info->readback == LIMIT_READBACK_RLIMIT &&
                    limit_set_is_limited(limits, (Limit)i))
                        mask &= ~(1U << info->readback_number);
        }
        if (limit_set_is_limited(limits, LIMIT_CPU_TIME))
                mask &= ~(1U << RLIMIT_CPU);
        return mask;
}

static bool open_captures(Launch *launch, GError **error) {
        uint64_t limit = limits_of(launch)->value[LIMIT_OUTPUT];

        for (int i = STDOUT_FILENO; launch->settings.is_capture && i < STREAM_COUNT; i++) {
                launch->captures[i] = capture_new(launch->settings.event, limit, on_output_full,
                                                  launch, error);
                if (!launch->captures[i])
                        return false;
        }
        return true;
}

static bool open_gate(Launch *launch, GError **error) {
        const Spec *spec = launch->settings.spec;
        GateOrder order = {
                .command = spec->command,
                .environment = spec->environment,
                .caller = launch->settings.caller,
                .rlimit_mask = rlimits_nobody_asked(&spec->limits),
                .keep_groups = spec->user || spec->group,
        };

        for (int i = 0; i < STREAM_COUNT; i++)
                order.stdio[i] = launch->captures[i] ? capture_write_end(launch->captures[i])
                                                     : launch->settings.stdio[i];
        launch->gate = gate_channel_new(&order, error);
        for (int i = 0; i < STREAM_COUNT; i++)
                if (launch->captures[i])
                        capture_drop_write_end(launch->captures[i]); /* the request has a copy */
        return launch->gate != NULL;
}

static void start(Launch *launch) {
        g_autofree char *gate_path = door_program_path("cordon-gate");
        g_autofree char *owner = caller_process_identity(getpid());
        ComposeContext context = {
                .gate_path = gate_path,
                .owner = owner ?: "0:0",
                .gate_fd = gate_channel_child_end(launch->gate),
        };
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        compose(launch->settings.spec, &context, &slice, &unit);
        unit_watch_start(launch->watch, unit, slice);
        gate_channel_drop_child_end(launch->gate); /* the message has a copy */
}

Launch *launch_new(const LaunchSettings *settings, GError **error) {
        g_autoptr(Launch) launch = g_new0(Launch, 1);
        const char *id = settings->spec->id;
        sd_bus *bus = settings->door->bus;
        int r;

        launch->settings = *settings;
        launch->unit = name_service(id);
        launch->slice = name_slice(id);
        facts_init(&launch->facts);
        limit_set_copy(limits_of(launch), &launch->facts.limits);
        if (!open_captures(launch, error) || !open_gate(launch, error))
                return NULL;

        r = sd_event_add_io(settings->event, &launch->gate_io, gate_channel_fd(launch->gate),
                            EPOLLIN, on_gate, launch);
        g_assert(r >= 0);
        deadline_arm(settings->event, &launch->patience, START_PATIENCE_USEC, on_start_patience,
                     launch);
        launch->watch = unit_watch_new(bus, launch->unit, launch->slice, on_news, launch);
        launch->guard = guard_link_new(settings->event, settings->door, id, on_news, launch);
        start(launch);
        return g_steal_pointer(&launch);
}

void launch_free(Launch *launch) {
        if (!launch)
                return;
        disarm_all(launch);
        launch->over = sd_event_source_disable_unref(launch->over);
        guard_link_free(launch->guard);
        unit_watch_free(launch->watch);
        gate_channel_free(launch->gate);
        cgroup_free(launch->cgroup);
        for (int i = 0; i < STREAM_COUNT; i++)
                capture_free(launch->captures[i]);
        facts_clear(&launch->facts);
        g_free(launch->unit);
        g_free(launch->slice);
        g_free(launch);
}

const Facts *launch_facts(const Launch *launch) {
        return &launch->facts;
}

const Capture *launch_capture(const Launch *launch, int fd) {
        return launch->captures[fd];
}

const Readback *launch_readback(const Launch *launch) {
        return &launch->readback;
}

const char *launch_invocation_id(const Launch *launch) {
        return unit_watch_state(launch->watch)->snapshot.invocation_id;
}

const char *launch_manager_version(const Launch *launch) {
        return unit_watch_state(launch->watch)->manager_version;
}

uint32_t launch_unapplied(const Launch *launch) {
        return gate_channel_hello(launch->gate)->unapplied;
}
