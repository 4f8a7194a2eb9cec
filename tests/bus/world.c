/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls of the launcher's own files by their own names, linked in their place. The clock is one of them, so that patience of half a minute is tried out in milliseconds. */

#include "world.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "launcher/deadline.h"
#include "launcher/gate/channel.h"
#include "launcher/guard/leftover.h"
#include "launcher/guard/link.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/kernel/error.h"

static World *world; /* the one that is now */

/* The clock */

int64_t g_get_monotonic_time(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return ((int64_t)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000) *
               (int64_t)(world ? world->speed : 1);
}

void deadline_arm(sd_event *event, sd_event_source **timer, uint64_t usec_from_now,
                  sd_event_time_handler_t handler, void *userdata) {
        int r;

        deadline_disarm(timer);
        r = sd_event_add_time_relative(event, timer, CLOCK_MONOTONIC, usec_from_now / world->speed,
                                       1, handler, userdata);
        g_assert(r >= 0);
}

void deadline_disarm(sd_event_source **timer) {
        *timer = sd_event_source_disable_unref(*timer);
}

uint64_t deadline_next_look_usec(uint64_t budget_usec, uint64_t used_usec, uint64_t cpus) {
        return budget_usec - used_usec;
}

/* The guard watches from the beginning, and not always to the end. */

struct GuardWatch {
        GuardLinkHandler handler;
        void *userdata;
};

static GuardWatch *guard;

GuardLink *guard_link_new(sd_event *event, Door *door, const char *owner) {
        return NULL; /* it knows nothing that its watches do not */
}

GuardWatch *guard_watch_new(GuardLink *link, const char *id, GuardLinkHandler handler,
                            void *userdata) {
        if (world->has_no_guard)
                handler(userdata);
        guard = g_new0(GuardWatch, 1);
        *guard = (GuardWatch){ .handler = handler, .userdata = userdata };
        return guard;
}

/* The workspace, which is too large at once or never. */

struct DiskWatch {
        DiskWatchHandler handler;
        void *userdata;
};

static DiskWatch disk;

DiskWatch *world_disk(const World *asked) {
        return asked->outgrows_disk ? &disk : NULL;
}

void disk_watch_begin(DiskWatch *watch, sd_event *event, const char *cgroup_directory,
                      DiskWatchHandler handler, void *userdata) {
        *watch = (DiskWatch){ handler, userdata };
}

void disk_watch_finish(DiskWatch *watch, Facts *facts) {
        facts->disk_before_bytes = 0;
        facts->disk_growth_bytes = 4096;
}

void disk_watch_end(DiskWatch *watch) {
        *watch = (DiskWatch){ 0 };
}

/* The gate: what it says waits in a queue, one by one readable. */

struct GateChannel {
        int fd, death_fd, child_end;
        GQueue news;
        GateHello hello;
        GateFailure failure;
        bool is_ended;
};

static GateChannel *gate;

static void say(GateNews news) {
        if (!gate || gate->is_ended)
                return;
        gate->is_ended = news == GATE_NEWS_END;
        g_queue_push_tail(&gate->news, GINT_TO_POINTER(news));
        eventfd_write(gate->fd, 1);
}

GateChannel *gate_channel_new(const GateOrder *order, GError **error) {
        gate = g_new0(GateChannel, 1);
        gate->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
        gate->death_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        gate->child_end = eventfd(0, EFD_CLOEXEC);
        g_queue_init(&gate->news);
        return gate;
}

void gate_channel_free(GateChannel *channel) {
        if (!channel)
                return;
        gate_channel_drop_child_end(channel);
        close(channel->fd);
        close(channel->death_fd);
        g_queue_clear(&channel->news);
        g_free(channel);
        gate = NULL;
}

int gate_channel_fd(const GateChannel *channel) {
        return channel->fd;
}

int gate_channel_child_end(const GateChannel *channel) {
        return channel->child_end;
}

void gate_channel_drop_child_end(GateChannel *channel) {
        if (channel->child_end >= 0)
                close(channel->child_end);
        channel->child_end = -1;
}

GateNews gate_channel_read(GateChannel *channel) {
        eventfd_t value;

        if (eventfd_read(channel->fd, &value) < 0)
                return GATE_NEWS_NONE;
        return (GateNews)GPOINTER_TO_INT(g_queue_pop_head(&channel->news));
}

void gate_channel_leave_former(GateChannel *channel) {
}

const GateHello *gate_channel_hello(const GateChannel *channel) {
        return &channel->hello;
}

const GateFailure *gate_channel_failure(const GateChannel *channel) {
        return &channel->failure;
}

void gate_channel_take_back(GateChannel *channel, uint32_t unapplied) {
}

const GateWorld *gate_channel_world(const GateChannel *channel) {
        return &channel->hello.world;
}

int gate_channel_pidfd(const GateChannel *channel) {
        return channel->death_fd;
}

/* Nobody will let it go: it ends by itself. */
/* The fake manager makes no pid namespaces. */
int gate_channel_init_fd(const GateChannel *channel) {
        return -1;
}

bool gate_channel_read_end(GateChannel *channel) {
        return true;
}

const GateEnd *gate_channel_end(const GateChannel *channel) {
        return NULL;
}

void gate_channel_dismiss(GateChannel *channel) {
}

void gate_channel_close(GateChannel *channel) {
}

void gate_channel_hang_up(GateChannel *channel) {
        world->is_hung_up = true;
        if (case_program(world->run)->is_executed)
                fake_exit(case_fake(world->run), CASE_UNIT, GATE_EXIT_FAILED);
}

void gate_channel_go(GateChannel *channel) {
        world->is_let_go = true;
        if (world->exec_errno) {
                channel->failure = (GateFailure){ .type = GATE_FAILURE,
                                                  .stage = GATE_AT_EXEC,
                                                  .error_number = world->exec_errno };
                say(GATE_NEWS_FAILURE);
        }
        say(GATE_NEWS_END);
        if (world->loses_guard)
                guard->handler(guard->userdata);
        fake_go(case_fake(world->run));
        if (disk.handler)
                disk.handler(disk.userdata);
}

static void on_program(FakeEvent event, void *userdata) {
        if (!world)
                return; /* the launch is over, but the manager is not done */
        if (event == FAKE_FORKED && world->is_hung_up && case_program(world->run)->is_executed)
                fake_exit(case_fake(world->run), CASE_UNIT, GATE_EXIT_FAILED);
        else if (event == FAKE_FORKED && case_program(world->run)->is_executed)
                say(GATE_NEWS_HELLO);
        if (event != FAKE_ENDED || !gate)
                return;
        say(GATE_NEWS_END);
        eventfd_write(gate->death_fd, 1);
}

void guard_link_reopened(GuardLink *link) {
}

void guard_link_free(GuardLink *link) {
}

void guard_watch_done(GuardWatch *watch) {
        world->is_guard_done = true;
}

bool guard_watch_clear(GuardWatch *watch, const char *slice, const char *unit) {
        g_assert(g_str_equal(slice, CASE_SLICE) && g_str_equal(unit, CASE_UNIT));
        world->is_handed_over = world->takes_clearing;
        return world->is_handed_over;
}

void guard_watch_free(GuardWatch *watch) {
        g_free(watch);
}

bool guard_watch_is_watched(const GuardWatch *watch) {
        return true;
}

const GError *guard_watch_error(const GuardWatch *watch) {
        static GError lost = { .code = LAUNCHER_ERROR_GUARD, .message = (char *)"no guard" };

        lost.domain = LAUNCHER_ERROR;
        return world->has_no_guard || (world->loses_guard && world->is_let_go) ? &lost : NULL;
}

/* No id is ever in use by anything but a living run. */

Leftover *leftover_new(sd_event *event, const Door *door, const char *id, LeftoverHandler handler,
                       void *userdata) {
        handler(false, userdata);
        return NULL;
}

/* Nobody goes by a guard here. */
Leftover *leftover_new_own(sd_event *event, const Door *door, const char *id, const char *owner,
                           LeftoverHandler handler, void *userdata) {
        g_assert_not_reached();
}

void leftover_free(Leftover *leftover) {
}

/* The cgroup has no counters, but it can kill. */

struct Cgroup {
        int nothing;
};

Cgroup *cgroup_new(void) {
        return g_new0(Cgroup, 1);
}

bool cgroup_enter(Cgroup *cgroup, pid_t pid, const char *slice, GError **error) {
        return true;
}

Cgroup *cgroup_find(pid_t pid, const char *slice, GError **error) {
        return cgroup_new();
}

void cgroup_free(Cgroup *cgroup) {
        g_free(cgroup);
}

void cgroup_rest(Cgroup *cgroup) {
}

void cgroup_watch_memory(Cgroup *cgroup) {
}

int cgroup_memory_fd(const Cgroup *cgroup) {
        return -1;
}

bool cgroup_look_at_memory(Cgroup *cgroup) {
        return true;
}

void cgroup_note_death(Cgroup *cgroup) {
}

void cgroup_read_facts(Cgroup *cgroup, Facts *facts) {
}

void cgroup_read_cpu(Cgroup *cgroup, CpuTimes *ret_times) {
        *ret_times = (CpuTimes){ FACTS_UNKNOWN, FACTS_UNKNOWN, FACTS_UNKNOWN };
}

uint64_t cgroup_read_throttled(Cgroup *cgroup) {
        return FACTS_UNKNOWN;
}

const char *cgroup_path(const Cgroup *cgroup) {
        return "/";
}

uint64_t cgroup_count_processes(Cgroup *cgroup) {
        return 0;
}

void cgroup_kill(Cgroup *cgroup) {
        fake_kill(case_fake(world->run), CASE_UNIT, SIGKILL);
}

void cgroup_join_for_memory(Cgroup *cgroup) {
}

bool cgroup_read_effective(Cgroup *cgroup, Limit limit, uint64_t *ret_value) {
        return false;
}

char *cgroup_path_of(pid_t pid) {
        return NULL;
}

bool cgroup_is_version_1(const char *controller) {
        return false;
}

char *cgroup_read_cpus(Cgroup *cgroup) {
        return NULL;
}

/* The door */

char *caller_process_identity(pid_t pid) {
        return g_strdup("4711:1");
}

bool caller_is_privileged(void) {
        return true;
}

const char *manager_kind_word(ManagerKind kind) {
        return "fake";
}

bool door_is_unprivileged(const Door *door) {
        return false;
}

char *door_program_path(const char *name) {
        return g_strconcat("/x/", name, NULL);
}

bool door_reopen(Door *door, sd_event *event, GError **error) {
        sd_bus *bus = NULL;

        if (world->n_failures > 0)
                world->n_failures--;
        else
                bus = case_reconnect(world->run);
        if (!bus)
                return false;
        door->bus = bus;
        return true; /* it is on the case's loop */
}

void world_begin(World *begun, Case *run, sd_bus *bus) {
        world = begun;
        world->run = run;
        world->door = (Door){ .kind = MANAGER_PRIVATE, .bus = bus, .hold_fd = -1 };
        fake_hold(case_fake(run), on_program, NULL);
}

void world_end(World *ended) {
        world = NULL;
}
