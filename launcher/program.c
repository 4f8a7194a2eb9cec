/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "program.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/kernel/pidfd.h"

struct Program {
        sd_event *event;
        ProgramHandler handler;
        void *userdata;

        GateChannel *gate;
        int terminal_fd; /* borrowed; −1 */
        bool said_hello, gate_ended, has_init;
        sd_event_source *gate_io, *death_io, *init_io;
        uint64_t death_usec, death_realtime_usec;
};

/* Everything that the gate has said by now. */
static void hear_gate(Program *program) {
        while (!program->gate_ended)
                switch (gate_channel_read(program->gate)) {
                case GATE_NEWS_NONE:
                        return;
                case GATE_NEWS_HELLO:
                        program->said_hello = true;
                        (void)sd_event_source_set_io_fd(program->gate_io,
                                                        gate_channel_fd(program->gate));
                        break;
                case GATE_NEWS_FAILURE:
                        break;
                case GATE_NEWS_END:
                        program->gate_ended = true;
                        program->gate_io = sd_event_source_disable_unref(program->gate_io);
                        break;
                }
}

static int on_gate(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Program *program = userdata;

        hear_gate(program);
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
        hear_gate(program); /* its last word may be waiting behind the news of its death */
        program->handler(program->userdata);
        return 0;
}

static void watch(Program *program, sd_event_source **source, int fd,
                  sd_event_io_handler_t handler) {
        int r = sd_event_add_io(program->event, source, fd, EPOLLIN, handler, program);

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
        program->terminal_fd = order->has_terminal ? order->stdio[0] : -1;
        watch(program, &program->gate_io, gate_channel_fd(gate), on_gate);
        return program;
}

void program_hush(Program *program) {
        program->gate_io = sd_event_source_disable_unref(program->gate_io);
        program->death_io = sd_event_source_disable_unref(program->death_io);
        program->init_io = sd_event_source_disable_unref(program->init_io);
}

void program_free(Program *program) {
        if (!program)
                return;
        program_hush(program);
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
        gate_channel_go(program->gate);
        watch(program, &program->death_io, gate_channel_pidfd(program->gate), on_death);
        program->has_init = gate_channel_init_fd(program->gate) >= 0;
        if (program->has_init)
                watch(program, &program->init_io, gate_channel_init_fd(program->gate), on_init);
}

bool program_is_dead(const Program *program) {
        return program->death_usec > 0 && !program->init_io;
}

/* Process 1 ends without a word when it is killed from outside, and everything in there is killed with it. */
bool program_learn_end(const Program *program, int *ret_code, int *ret_status) {
        const GateEnd *end = gate_channel_end(program->gate);
        int status = end ? end->status : SIGKILL;

        if (!program->has_init || !program_is_dead(program))
                return false;
        if (ret_code)
                *ret_code = WIFEXITED(status)   ? CLD_EXITED
                            : WCOREDUMP(status) ? CLD_DUMPED
                                                : CLD_KILLED;
        if (ret_status)
                *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
        return true;
}

uint64_t program_death_usec(const Program *program) {
        return program->death_usec;
}

uint64_t program_death_realtime_usec(const Program *program) {
        return program->death_realtime_usec;
}
