/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The cgroups of one run, read from outside: of its slice in the unified hierarchy, and of the v1 controllers where a
 * machine still has those. Found once, through a process that is inside. Counters are read through directories
 * that are held open: always of this run, never of a later one with the same name. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "units/facts.h"

typedef struct Cgroup Cgroup;

/* Where the hierarchies are: that can be known before there is anything of the run. */
Cgroup *cgroup_new(void);

/* The process must be in SLICE (a unit name) or below it. Once; what failed is of no more use. */
bool cgroup_enter(Cgroup *cgroup, pid_t pid, const char *slice,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Both. */
Cgroup *cgroup_find(pid_t pid, const char *slice, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void cgroup_free(Cgroup *cgroup);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cgroup, cgroup_free)

/* Closes what is not needed before the end, where there are many: it runs. */
void cgroup_rest(Cgroup *cgroup);

/* Asks to be told of memory kills where no counter tells afterwards (v1). Before the program runs. */
void cgroup_watch_memory(Cgroup *cgroup);
int cgroup_memory_fd(
        const Cgroup *cgroup); /* readable when it is time to look; −1: there is no need to */
bool cgroup_look_at_memory(Cgroup *cgroup); /* false: look again in a moment */
void cgroup_note_death(Cgroup *cgroup);     /* the last look: the main process is dead */

/* Fills every counter and measure of the facts that can be had; the rest stays unknown. */
void cgroup_read_facts(Cgroup *cgroup, Facts *facts);

/* CPU time of the tree since it exists; what cannot be had is FACTS_UNKNOWN. */
typedef struct {
        uint64_t total_usec, user_usec, system_usec;
} CpuTimes;

void cgroup_read_cpu(Cgroup *cgroup, CpuTimes *ret_times);
uint64_t cgroup_read_throttled(Cgroup *cgroup);  /* how often; or FACTS_UNKNOWN */
uint64_t cgroup_count_processes(Cgroup *cgroup); /* alive in the tree */

/* Of the unified hierarchy; and who is alive there and below, pid_t. The second may be asked by any thread. */
const char *cgroup_path(const Cgroup *cgroup);
void cgroup_list_processes(const char *path, GArray *pids);

/* SIGKILL for every process of the tree, by the kernel itself: also when the manager does not answer, and no fork
 * escapes it. Needs the right to write there; where we lack it, the manager must do. */
void cgroup_kill(Cgroup *cgroup);

/* The same for a group below it, as a path. False: the kernel would not. */
bool cgroup_kill_below(Cgroup *cgroup, const char *path);

/* Out of memory ends all of it, where no OOMPolicy= says so. */
void cgroup_join_for_memory(Cgroup *cgroup);

/* What holds: the smallest value of a limit's file over the slice that carries it (the run's, or that of its pool) and
 * everything above. False: no such file. */
bool cgroup_read_effective(Cgroup *cgroup, Limit limit, uint64_t *ret_value);

/* Where in the unified hierarchy a process of it is, absolute; NULL: nowhere that we can see. */
char *cgroup_path_of(pid_t pid);

/* Is this controller ("memory") one of version 1 here? */
bool cgroup_is_version_1(const char *controller);

/* The CPUs it may use, as a list ("0,2-3"). NULL: no cpuset controller here. */
char *cgroup_read_cpus(Cgroup *cgroup);

/* The controllers of either kind that units below a control group ("/user.slice/…"; NULL: any at all) can have. */
typedef struct {
        char **unified; /* NULL: no such hierarchy, or no such group; likewise the next */
        char **legacy;
} CgroupControllers;

void cgroup_read_controllers(const char *control_group, CgroupControllers *ret_controllers);
void cgroup_controllers_clear(CgroupControllers *controllers);
