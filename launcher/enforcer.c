/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The timer of the deadline is exact to a millisecond. The CPU budget is looked at when it can be used up at the
 * earliest, so an idle tree costs nothing and a busy one is looked at more often the closer it comes. */

#include "enforcer.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "deadline.h"

#define KILL_AGAIN_USEC (100 * 1000)

/* A kill for memory is counted right after its notification; the counter may go as soon as its victim is dead. */
#define OOM_LOOK_USEC 200
#define OOM_LOOKS_MAX 100

struct Enforcer {
        EnforcerSettings settings;
        CpuTimes cpu_before;       /* what the start itself has cost: not the program's */
        uint64_t throttled_before; /* likewise */
        bool is_dead;              /* the main process */
        bool is_asked;             /* SIGTERM was sent, grace runs */
        unsigned oom_looks;        /* since the last notification */
        sd_event_source *timeout, *budget, *grace, *kill_again, *oom, *oom_look;
};

static const struct {
        bool is_at_once; /* no grace: nothing to be gained by letting it go on */
} acts[_ACT_MAX] = {
        [ACT_TIMEOUT] = { .is_at_once = false }, [ACT_CPU_TIME] = { .is_at_once = false },
        [ACT_DISK] = { .is_at_once = true },     [ACT_OUTPUT] = { .is_at_once = true },
        [ACT_CANCEL] = { .is_at_once = false },
};

static uint64_t since(uint64_t now, uint64_t before) {
        if (now == FACTS_UNKNOWN || before == FACTS_UNKNOWN)
                return now;
        return now > before ? now - before : 0;
}

static int on_kill_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Enforcer *enforcer = userdata;

        /* Not once more while the manager takes its time with those that are dead: it would take longer. */
        if (source && cgroup_count_processes(enforcer->settings.cgroup) == 0) {
                deadline_disarm(&enforcer->kill_again);
                return 0;
        }
        cgroup_kill(enforcer->settings.cgroup);
        unit_watch_kill(enforcer->settings.watch, SIGKILL);
        deadline_arm(enforcer->settings.event, &enforcer->kill_again, KILL_AGAIN_USEC,
                     on_kill_again, enforcer);
        return 0;
}

void enforcer_kill(Enforcer *enforcer) {
        if (!enforcer->kill_again)
                on_kill_again(NULL, 0, enforcer);
}

static int on_grace(sd_event_source *source, uint64_t usec, void *userdata) {
        enforcer_kill(userdata);
        return 0;
}

static void ask_to_end(Enforcer *enforcer) {
        unit_watch_kill(enforcer->settings.watch, SIGTERM);
        unit_watch_kill(enforcer->settings.watch,
                        SIGCONT); /* a stopped one can take its TERM now */
        if (enforcer->settings.is_login)
                unit_watch_kill(enforcer->settings.watch, SIGHUP);
}

static void end_with_grace(Enforcer *enforcer) {
        uint64_t grace = enforcer->settings.limits->value[LIMIT_GRACE];

        if (grace == 0) {
                enforcer_kill(enforcer);
                return;
        }
        enforcer->is_asked = true;
        ask_to_end(enforcer);
        if (grace != LIMIT_INFINITY)
                deadline_arm(enforcer->settings.event, &enforcer->grace, grace, on_grace, enforcer);
}

void enforcer_again(Enforcer *enforcer) {
        if (enforcer->is_asked && !enforcer->is_dead && !enforcer->kill_again)
                ask_to_end(enforcer);
}

bool enforcer_act(Enforcer *enforcer, Act why) {
        uint64_t *done = enforcer->settings.facts->act_usec;

        for (int i = 0; i < _ACT_MAX; i++)
                if (done[i] != 0)
                        return false;
        if (enforcer->is_dead)
                return false;

        done[why] = (uint64_t)g_get_monotonic_time();
        if (acts[why].is_at_once)
                enforcer_kill(enforcer);
        else
                end_with_grace(enforcer);
        return true;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        (void)enforcer_act(userdata, ACT_TIMEOUT);
        return 0;
}

/* Within the grace of another act, too. */
static void on_disk_full(void *userdata) {
        Enforcer *enforcer = userdata;
        uint64_t *acted = &enforcer->settings.facts->act_usec[ACT_DISK];

        if (enforcer_act(enforcer, ACT_DISK))
                return;
        if (*acted == 0)
                *acted = (uint64_t)g_get_monotonic_time();
        enforcer_kill(enforcer);
}

/* How many CPUs can work for the tree at the same time: what is in force counts, not what was asked. */
static uint64_t cpus_usable(const EnforcerSettings *settings) {
        const Effective *limits = settings->readback->limits;
        uint64_t cpus = (uint64_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);

        if (limits[LIMIT_CPUS].is_enforced)
                cpus = MIN(cpus, limits[LIMIT_CPUS].effective);
        if (limits[LIMIT_CPU].is_enforced)
                cpus = MIN(cpus,
                           (limits[LIMIT_CPU].effective + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC);
        return cpus;
}

static int on_budget(sd_event_source *source, uint64_t usec, void *userdata) {
        Enforcer *enforcer = userdata;
        const LimitSet *limits = enforcer->settings.limits;
        uint64_t budget = limits->value[LIMIT_CPU_TIME], used;
        CpuTimes now;

        cgroup_read_cpu(enforcer->settings.cgroup, &now);
        used = since(now.total_usec, enforcer->cpu_before.total_usec);
        if (used != FACTS_UNKNOWN && used >= budget) {
                (void)enforcer_act(enforcer, ACT_CPU_TIME);
                return 0;
        }
        deadline_arm(enforcer->settings.event, &enforcer->budget,
                     deadline_next_look_usec(budget, used, cpus_usable(&enforcer->settings)),
                     on_budget, enforcer);
        return 0;
}

static int on_oom_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Enforcer *enforcer = userdata;

        deadline_disarm(&enforcer->oom_look);
        if (!cgroup_look_at_memory(enforcer->settings.cgroup) &&
            ++enforcer->oom_looks < OOM_LOOKS_MAX)
                deadline_arm(enforcer->settings.event, &enforcer->oom_look, OOM_LOOK_USEC,
                             on_oom_look, enforcer);
        return 0;
}

static int on_oom(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Enforcer *enforcer = userdata;

        enforcer->oom_looks = 0;
        return on_oom_look(NULL, 0, enforcer);
}

static void watch_memory(Enforcer *enforcer) {
        int fd = cgroup_memory_fd(enforcer->settings.cgroup);
        int r = fd < 0 ? 0
                       : sd_event_add_io(enforcer->settings.event, &enforcer->oom, fd, EPOLLIN,
                                         on_oom, enforcer);

        g_assert(r >= 0);
}

/* FACTS_UNKNOWN: nobody asks, or nobody can tell. */
static uint64_t throttled_now(const EnforcerSettings *settings) {
        if (!limit_set_is_limited(settings->limits, LIMIT_CPU))
                return FACTS_UNKNOWN;
        return cgroup_read_throttled(settings->cgroup);
}

Enforcer *enforcer_new(const EnforcerSettings *settings) {
        Enforcer *enforcer = g_new0(Enforcer, 1);
        const LimitSet *limits = settings->limits;

        enforcer->settings = *settings;
        cgroup_read_cpu(settings->cgroup, &enforcer->cpu_before);
        enforcer->throttled_before = throttled_now(settings);
        watch_memory(enforcer);
        if (limit_set_is_limited(limits, LIMIT_TIMEOUT))
                deadline_arm(settings->event, &enforcer->timeout, limits->value[LIMIT_TIMEOUT],
                             on_timeout, enforcer);
        if (limit_set_is_limited(limits, LIMIT_CPU_TIME))
                on_budget(NULL, 0, enforcer);
        if (settings->disk)
                disk_watch_begin(settings->disk, settings->event, cgroup_path(settings->cgroup),
                                 on_disk_full, enforcer);
        return enforcer;
}

void enforcer_free(Enforcer *enforcer) {
        if (!enforcer)
                return;
        deadline_disarm(&enforcer->timeout);
        deadline_disarm(&enforcer->budget);
        deadline_disarm(&enforcer->grace);
        deadline_disarm(&enforcer->kill_again);
        deadline_disarm(&enforcer->oom_look);
        sd_event_source_disable_unref(enforcer->oom);
        if (enforcer->settings.disk)
                disk_watch_end(enforcer->settings.disk);
        g_free(enforcer);
}

void enforcer_note_death(Enforcer *enforcer) {
        enforcer->is_dead = true;
        cgroup_note_death(enforcer->settings.cgroup);
}

void enforcer_read_facts(Enforcer *enforcer) {
        Facts *facts = enforcer->settings.facts;
        const CpuTimes *before = &enforcer->cpu_before;
        struct {
                uint64_t *value, before, known;
        } counts[] = {
                { &facts->cpu_usec, before->total_usec, facts->cpu_usec },
                { &facts->cpu_user_usec, before->user_usec, facts->cpu_user_usec },
                { &facts->cpu_system_usec, before->system_usec, facts->cpu_system_usec },
                { &facts->cpu_throttled, enforcer->throttled_before, facts->cpu_throttled },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
                *counts[i].value = FACTS_UNKNOWN;
        cgroup_read_facts(enforcer->settings.cgroup, facts);
        for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
                *counts[i].value = *counts[i].value == FACTS_UNKNOWN
                                           ? counts[i].known
                                           : since(*counts[i].value, counts[i].before);
        if (enforcer->settings.disk && enforcer->is_dead)
                disk_watch_finish(enforcer->settings.disk, facts);
}
