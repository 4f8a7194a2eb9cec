/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "program.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foreground.h"
#include "launcher/kernel/pidfd.h"
#include "offspring.h"
#include "units/text.h"

struct Program {
        sd_event *event;
        ProgramHandler handler;
        void *userdata;

        GateChannel *gate;
        bool is_own, is_asked_for, said_hello, gate_ended, has_init;
        Offspring offspring;    /* of a program that is ours */
        Foreground *foreground; /* borrowed, until it is hushed; NULL: none */
        int terminal_fd;        /* borrowed; −1 */
        uint64_t ignored;       /* by the caller: bit n − 1 is signal n */
        sd_event_source *gate_io, *death_io, *init_io, *stops;
        uint64_t death_usec, death_realtime_usec;
};

void program_hear_gate(Program *program) {
        while (!program->gate_ended)
                switch (gate_channel_read(program->gate)) {
                case GATE_NEWS_NONE:
                        return;
                case GATE_NEWS_HELLO:
                        program->said_hello = true;
                        (void)sd_event_source_set_io_fd(program->gate_io,
                                                        gate_channel_fd(program->gate));
                        gate_channel_leave_former(program->gate);
                        break;
                case GATE_NEWS_FAILURE:
                        break;
                case GATE_NEWS_END:
                        program->gate_ended = true;
                        program->gate_io = sd_event_source_disable_unref(program->gate_io);
                        gate_channel_close(program->gate);
                        break;
                }
}

static int on_gate(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Program *program = userdata;

        program_hear_gate(program);
        program->handler(program->userdata);
        return 0;
}

static int on_init(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Program *program = userdata;

        if (!gate_channel_read_end(program->gate))
                return 0;
        program->init_io = sd_event_source_disable_unref(program->init_io);
        program->handler(program->userdata);
        return 0;
}

static int on_death(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Program *program = userdata;

        program->death_io = sd_event_source_disable_unref(program->death_io);
        program->death_usec = (uint64_t)g_get_monotonic_time();
        program->death_realtime_usec = (uint64_t)g_get_real_time();
        if (program->is_own)
                offspring_reap(&program->offspring);
        program_hear_gate(program); /* its last word may be waiting behind the news of its death */
        program->handler(program->userdata);
        return 0;
}

static void on_own_death(void *userdata) {
        Program *program = userdata;

        program->handler(program->userdata); /* a scope may have been waiting for this */
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        const Program *program = userdata;

        if (!foreground_leaves_stop(program->foreground, program->offspring.pid, info))
                foreground_stop_alone();
        return 0;
}

/* Before what the manager has to say of it: some of what is to be seen then is gone soon after. */
#define FIRST_HAND (SD_EVENT_PRIORITY_NORMAL - 1)

static void watch(Program *program, sd_event_source **source, int fd,
                  sd_event_io_handler_t handler) {
        int r = sd_event_add_io(program->event, source, fd, EPOLLIN, handler, program);

        if (r >= 0)
                r = sd_event_source_set_priority(*source, FIRST_HAND);
        g_assert(r >= 0);
}

Program *program_new(sd_event *event, const GateOrder *order, ProgramHandler handler,
                     void *userdata, GError **error) {
        GateChannel *gate = gate_channel_new(order, error);
        Program *program;

        if (!gate)
                return NULL;
        program = g_new0(Program, 1);
        program->event = sd_event_ref(event);
        program->handler = handler;
        program->userdata = userdata;
        program->gate = gate;
        program->ignored = order->caller->signal_ignored;
        program->terminal_fd = order->has_terminal ? order->stdio[0] : -1;
        watch(program, &program->gate_io, gate_channel_fd(gate), on_gate);
        return program;
}

bool program_execute(Program *program, Nursery *nursery, const char *gate_path, const char *id,
                     const char *owner, GError **error) {
        program->foreground = nursery_foreground(nursery);
        if (program->foreground && foreground_heeds_stops())
                (void)sd_event_add_signal(program->event, &program->stops,
                                          SIGTSTP | SD_EVENT_SIGNAL_PROCMASK, on_stop, program);
        program->offspring = (Offspring){ .nursery = nursery,
                                          .handler = on_own_death,
                                          .userdata = program };
        program->is_own = offspring_start(&program->offspring, gate_path, id, owner,
                                          program->ignored, gate_channel_child_end(program->gate),
                                          error);
        gate_channel_drop_child_end(program->gate);
        return program->is_own;
}

bool program_is_own(const Program *program) {
        return program->is_own;
}

pid_t program_pid(const Program *program) {
        return program->offspring.pid;
}

void program_hush(Program *program) {
        program->gate_io = sd_event_source_disable_unref(program->gate_io);
        program->death_io = sd_event_source_disable_unref(program->death_io);
        program->init_io = sd_event_source_disable_unref(program->init_io);
        program->stops = sd_event_source_disable_unref(program->stops);
        foreground_restore(program->foreground);
        program->foreground = NULL;
}

void program_free(Program *program) {
        if (!program)
                return;
        program_hush(program);
        if (program->is_own)
                offspring_end(&program->offspring);
        gate_channel_free(program->gate);
        sd_event_unref(program->event);
        g_free(program);
}

GateChannel *program_gate(const Program *program) {
        return program->gate;
}

bool program_said_hello(const Program *program) {
        return program->said_hello;
}

bool program_gate_ended(const Program *program) {
        return program->gate_ended;
}

/* Who the program runs as may open its terminal by name, as after a login. */
static void hand_terminal_over(const Program *program) {
        struct stat st;
        uid_t uid;

        if (pidfd_user(gate_channel_pidfd(program->gate), &uid) &&
            fstat(program->terminal_fd, &st) == 0 && st.st_uid != uid)
                (void)!fchown(program->terminal_fd, uid, (gid_t)-1);
}

void program_go(Program *program) {
        if (program->terminal_fd >= 0)
                hand_terminal_over(program);
        if (program->is_own)
                offspring_take(&program->offspring);
        gate_channel_go(program->gate);
        watch(program, &program->death_io, gate_channel_pidfd(program->gate), on_death);
        program->has_init = gate_channel_init_fd(program->gate) >= 0;
        if (program->has_init)
                watch(program, &program->init_io, gate_channel_init_fd(program->gate), on_init);
}

bool program_shares_terminal(const Program *program) {
        return foreground_is_shared(program->foreground, program->offspring.pid);
}

bool program_is_ending(const Program *program) {
        return program->is_own && (program->offspring.is_dead || program->death_usec > 0);
}

/* All that a manager has said is heard in one turn of the loop, and a death, or the end of process 1, may have its turn
 * after it. */
bool program_is_dying(const Program *program) {
        if (program_is_dead(program))
                return false;
        return program_is_ending(program) || program->death_usec > 0 ||
               pidfd_is_dead(gate_channel_pidfd(program->gate));
}

/* Of one that is traced the tracer is told first, and we only when it lets go. */
bool program_is_dead(const Program *program) {
        return program->death_usec > 0 && !program->init_io &&
               (!program->is_own || program->offspring.is_dead);
}

uint64_t program_count_others(const Program *program, Cgroup *cgroup) {
        uint64_t count = cgroup_count_processes(cgroup);
        bool has_gate = gate_channel_init_fd(program->gate) >= 0;

        return has_gate && count > 0 ? count - 1 : count;
}

static void put_end(int code, int status, int *ret_code, int *ret_status) {
        if (ret_code)
                *ret_code = code;
        if (ret_status)
                *ret_status = status;
}

/* Process 1 ends without a word when it is killed from outside, and everything in there is killed with it. */
bool program_learn_end(const Program *program, int *ret_code, int *ret_status) {
        const GateEnd *end = gate_channel_end(program->gate);
        int status = end ? end->status : SIGKILL;

        if (!program_is_dead(program) || !(program->has_init || program->is_own))
                return false;
        if (program->is_own)
                put_end(program->offspring.code, program->offspring.status, ret_code, ret_status);
        else if (WIFEXITED(status))
                put_end(CLD_EXITED, WEXITSTATUS(status), ret_code, ret_status);
        else
                put_end(WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED, WTERMSIG(status), ret_code,
                        ret_status);
        return true;
}

bool program_asks_nothing_more(Program *program) {
        if (!program->is_own || program->offspring.code != CLD_EXITED)
                return false;
        program->is_asked_for = true;
        return true;
}

/* Until a manager sees that a scope is empty it takes its time. One that did not stop the scope before its program ended
 * has nothing to add. */
static bool is_left_alone(const Program *program, const UnitState *state) {
        return program->is_asked_for && !state->is_refreshing && !state->is_disconnected &&
               g_strcmp0(state->snapshot.active_state, "active") == 0;
}

/* Of a process 1 that was killed for memory a manager may never learn the status. A scope that ends well is forgotten at
 * once. */
bool program_has_ended(const Program *program, const UnitState *state) {
        bool is_at_rest = unit_snapshot_is_at_rest(&state->snapshot) ||
                          (state->is_removed && program->is_own) || is_left_alone(program, state);

        return unit_snapshot_has_ended(&state->snapshot) ||
               (is_at_rest && program_learn_end(program, NULL, NULL));
}

void program_put_end(const Program *program, const UnitState *state, Facts *facts) {
        const UnitSnapshot *snapshot = &state->snapshot;

        facts->exec_main_code = snapshot->exec_main_code;
        facts->exec_main_status = snapshot->exec_main_status;
        (void)program_learn_end(program, &facts->exec_main_code, &facts->exec_main_status);
        text_replace(&facts->unit_result, snapshot->result);
        facts->is_stopped = program->is_own ? state->was_stopping
                                            : unit_snapshot_was_stopped(snapshot);
}

uint64_t program_death_usec(const Program *program) {
        return program->death_usec;
}

uint64_t program_death_realtime_usec(const Program *program) {
        return program->death_realtime_usec;
}
