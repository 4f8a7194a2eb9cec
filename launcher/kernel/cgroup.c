/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finding the directories is the hard part: /proc/PID/cgroup says where a process is in each hierarchy, and on a mixed
 * machine the controllers are spread over both kinds. */

#include "cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "ancestry.h"
#include "counter.h"
#include "error.h"
#include "file.h"
#include "hierarchy.h"
#include "kept.h"
#include "oomwatch.h"

#define FEW 32 /* so many may keep open what they need at the start and in the end */

struct Cgroup {
        int dirs[_HIERARCHY_MAX]; /* of the slice; −1: not open now, or no such hierarchy here */
        char *paths[_HIERARCHY_MAX]; /* the same, absolute */
        OomWatch *oom_watch;         /* v1; NULL: counters tell afterwards */
        Ancestry *ancestry;          /* of the memory controller; NULL: there is none */
        bool is_entered;
};

/* Those of version 1 are many, and opened when they are needed: some at the start, some in the end. As long as the unified one, which stays open, is there,
 * the slice is, and no later one can have its name. */
static int dir_of(Cgroup *cgroup, Hierarchy hierarchy) {
        int *dir = &cgroup->dirs[hierarchy];

        if (*dir >= 0 || !cgroup->paths[hierarchy])
                return *dir;
        *dir = open(cgroup->paths[hierarchy], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (*dir >= 0 && faccessat(cgroup->dirs[HIERARCHY_UNIFIED], "cgroup.procs", F_OK, 0) < 0) {
                (void)close(*dir);
                *dir = -1;
        }
        return *dir;
}

static unsigned n_entered; /* of all that there are */

void cgroup_rest(Cgroup *cgroup) {
        if (n_entered <= FEW)
                return;
        for (int i = 0; i < _HIERARCHY_MAX; i++) {
                bool is_needed = i == HIERARCHY_UNIFIED ||
                                 (i == HIERARCHY_MEMORY && cgroup->oom_watch);

                if (is_needed || cgroup->dirs[i] < 0)
                        continue;
                (void)close(cgroup->dirs[i]);
                cgroup->dirs[i] = -1;
        }
}

/* The part of a path up to and including "/SLICE", when the rest is below it; the last such, where a manager is inside a
 * sandbox of another. NULL: the process is elsewhere. */
static char *path_of_slice(const char *path, const char *slice) {
        g_autofree char *needle = g_strconcat("/", slice, NULL);
        size_t length = strlen(needle), found = 0;

        for (const char *p = strstr(path, needle); p; p = strstr(p + 1, needle))
                if (p[length] == '/' || p[length] == '\0')
                        found = (size_t)(p - path) + length;
        return found > 0 ? g_strndup(path, found) : NULL;
}

static void hierarchy_take_path(Cgroup *cgroup, const char *controllers, const char *path,
                                const char *slice) {
        g_autofree char *inside = path_of_slice(path, slice);

        for (Hierarchy h = 0; inside && h < _HIERARCHY_MAX; h++)
                if (hierarchy_has_controllers(h, controllers) && hierarchy_root(h) &&
                    !cgroup->paths[h])
                        cgroup->paths[h] = g_strconcat(hierarchy_root(h), inside, NULL);
}

static bool read_paths(Cgroup *cgroup, pid_t pid, const char *slice) {
        g_autofree char *file = g_strdup_printf("/proc/%d/cgroup", (int)pid);
        g_autofree char *text = file_read_record(AT_FDCWD, file);

        if (!text)
                return false;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, ":", 3);

                if (g_strv_length(fields) == 3)
                        hierarchy_take_path(cgroup, fields[1], fields[2], slice);
        }
        if (cgroup->paths[HIERARCHY_UNIFIED])
                cgroup->dirs[HIERARCHY_UNIFIED] = open(cgroup->paths[HIERARCHY_UNIFIED],
                                                       O_PATH | O_DIRECTORY | O_CLOEXEC);
        return true;
}

/* A unified hierarchy without the memory controller has no such file. */
static void note_ancestry(Cgroup *cgroup) {
        const CounterSource *unified = &counter_of(offsetof(Facts, oom_kills_local_limit))->unified;
        const CounterSource *legacy = &counter_of(offsetof(Facts, memory_max_events))->legacy;
        const CounterSource *sources[] = { unified, legacy };

        for (size_t i = 0; i < G_N_ELEMENTS(sources) && !cgroup->ancestry; i++) {
                Hierarchy h = sources[i]->hierarchy;

                if (hierarchy_can_have(h, sources[i]->file) && dir_of(cgroup, h) >= 0 &&
                    faccessat(dir_of(cgroup, h), sources[i]->file, F_OK, 0) == 0)
                        cgroup->ancestry = ancestry_new(cgroup->paths[h], hierarchy_root(h),
                                                        sources[i]);
        }
}

Cgroup *cgroup_new(void) {
        Cgroup *cgroup = g_new0(Cgroup, 1);

        for (int i = 0; i < _HIERARCHY_MAX; i++)
                cgroup->dirs[i] = -1;
        (void)hierarchy_root(HIERARCHY_UNIFIED); /* looked up now, while there is time */
        return cgroup;
}

static bool find_paths(Cgroup *cgroup, pid_t pid, const char *slice) {
        return read_paths(cgroup, pid, slice) && cgroup->dirs[HIERARCHY_UNIFIED] >= 0;
}

static void forget_paths(Cgroup *cgroup) {
        for (int i = 0; i < _HIERARCHY_MAX; i++)
                g_clear_pointer(&cgroup->paths[i], g_free);
        hierarchy_look_again();
}

bool cgroup_enter(Cgroup *cgroup, pid_t pid, const char *slice, GError **error) {
        if (!find_paths(cgroup, pid, slice)) {
                forget_paths(cgroup);
                if (!find_paths(cgroup, pid, slice)) {
                        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                                    "the program is not in a cgroup of %s that we can see", slice);
                        return false;
                }
        }
        cgroup->is_entered = true;
        n_entered++;
        note_ancestry(cgroup);
        return true;
}

Cgroup *cgroup_find(pid_t pid, const char *slice, GError **error) {
        g_autoptr(Cgroup) cgroup = cgroup_new();

        return cgroup_enter(cgroup, pid, slice, error) ? g_steal_pointer(&cgroup) : NULL;
}

void cgroup_free(Cgroup *cgroup) {
        if (!cgroup)
                return;
        n_entered -= cgroup->is_entered;
        for (int i = 0; i < _HIERARCHY_MAX; i++) {
                if (cgroup->dirs[i] >= 0)
                        (void)close(cgroup->dirs[i]);
                g_free(cgroup->paths[i]);
        }
        oom_watch_free(cgroup->oom_watch);
        ancestry_free(cgroup->ancestry);
        g_free(cgroup);
}

/* A v1 memory cgroup counts kills in the victim's own group only, which may be gone when we look. */
void cgroup_watch_memory(Cgroup *cgroup) {
        cgroup->oom_watch = oom_watch_new(dir_of(cgroup, HIERARCHY_MEMORY));
}

int cgroup_memory_fd(const Cgroup *cgroup) {
        return cgroup->oom_watch ? oom_watch_fd(cgroup->oom_watch) : -1;
}

bool cgroup_look_at_memory(Cgroup *cgroup) {
        return !cgroup->oom_watch || oom_watch_look(cgroup->oom_watch);
}

void cgroup_note_death(Cgroup *cgroup) {
        if (cgroup->oom_watch)
                oom_watch_note_death(cgroup->oom_watch);
}

/* A file, and what is in it: rows of the table that stand together are of one. */
typedef struct {
        const CounterSource *source; /* NULL: none yet */
        char *text;                  /* NULL: it cannot be read */
} Page;

typedef struct {
        Page unified, legacy;
} Pages;

static void pages_clear(Pages *pages) {
        g_free(pages->unified.text);
        g_free(pages->legacy.text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Pages, pages_clear)

static const char *page_read(Page *page, Cgroup *cgroup, const CounterSource *source) {
        if (page->source && page->source->hierarchy == source->hierarchy &&
            strcmp(page->source->file, source->file) == 0)
                return page->text;
        g_free(page->text);
        page->source = source;
        page->text = hierarchy_can_have(source->hierarchy, source->file)
                             ? file_read_record(dir_of(cgroup, source->hierarchy), source->file)
                             : NULL;
        return page->text;
}

static bool read_counter(Page *page, Cgroup *cgroup, const CounterSource *source,
                         uint64_t *ret_value) {
        const char *text = source->file ? page_read(page, cgroup, source) : NULL;

        return text && counter_parse(source, text, ret_value);
}

static void read_value(Pages *pages, Cgroup *cgroup, const Counter *counter, uint64_t *place) {
        if (!read_counter(&pages->unified, cgroup, &counter->unified, place))
                (void)read_counter(&pages->legacy, cgroup, &counter->legacy, place);
}

/* Nobody ran out of memory: neither it nor what is above. */
static bool is_nobodys(const Cgroup *cgroup, const Facts *facts) {
        return facts->oom_kills == 0 || (facts->oom_kills == FACTS_UNKNOWN && cgroup->oom_watch &&
                                         !oom_watch_was_notified(cgroup->oom_watch));
}

void cgroup_read_facts(Cgroup *cgroup, Facts *facts) {
        g_auto(Pages) pages = { 0 };

        facts->counter_source = "memory.events oom_kill";
        facts->local_limit_source = "memory.events.local oom";
        for (size_t i = 0; i < counter_count(); i++) {
                const Counter *counter = counter_at(i);

                read_value(&pages, cgroup, counter, (uint64_t *)((char *)facts + counter->offset));
        }
        if (cgroup->oom_watch)
                oom_watch_fill(cgroup->oom_watch, facts);
        if (!cgroup->ancestry)
                return;
        g_free(facts->oom_ancestor);
        facts->oom_ancestor = is_nobodys(cgroup, facts) ? NULL
                                                        : ancestry_find_met(cgroup->ancestry);
        facts->is_ancestry_whole = ancestry_is_whole(cgroup->ancestry);
}

void cgroup_read_cpu(Cgroup *cgroup, CpuTimes *ret_times) {
        g_auto(Pages) pages = { 0 };

        *ret_times = (CpuTimes){ FACTS_UNKNOWN, FACTS_UNKNOWN, FACTS_UNKNOWN };
        read_value(&pages, cgroup, counter_of(offsetof(Facts, cpu_usec)), &ret_times->total_usec);
        read_value(&pages, cgroup, counter_of(offsetof(Facts, cpu_user_usec)),
                   &ret_times->user_usec);
        read_value(&pages, cgroup, counter_of(offsetof(Facts, cpu_system_usec)),
                   &ret_times->system_usec);
}

static void append_numbers(const char *text, GArray *pids) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                pid_t pid = (pid_t)g_ascii_strtoll(*line, NULL, 10);

                if (**line)
                        g_array_append_val(pids, pid);
        }
}

/* Whatever has no type is looked into: a file cannot be. */
void cgroup_list_processes(const char *path, GArray *pids) {
        g_autofree char *file = g_build_filename(path, "cgroup.procs", NULL);
        g_autofree char *text = file_read_text(AT_FDCWD, file);
        DIR *dir = opendir(path);

        if (text)
                append_numbers(text, pids);
        for (const struct dirent *entry; dir && (entry = readdir(dir));) {
                g_autofree char *child = NULL;

                if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
                    entry->d_name[0] == '.')
                        continue;
                child = g_build_filename(path, entry->d_name, NULL);
                cgroup_list_processes(child, pids);
        }
        if (dir)
                (void)closedir(dir);
}

const char *cgroup_path(const Cgroup *cgroup) {
        return cgroup->paths[HIERARCHY_UNIFIED];
}

/* Of the whole tree, in one file; the root of all has none. */
static bool is_empty(const Cgroup *cgroup) {
        static const CounterSource source = { HIERARCHY_UNIFIED, "cgroup.events",
                                              .key = "populated" };
        g_autofree char *text = file_read_record(cgroup->dirs[HIERARCHY_UNIFIED], source.file);
        uint64_t populated = 1;

        return text && counter_parse(&source, text, &populated) && populated == 0;
}

uint64_t cgroup_read_throttled(Cgroup *cgroup) {
        g_auto(Pages) pages = { 0 };
        uint64_t count = FACTS_UNKNOWN;

        read_value(&pages, cgroup, counter_of(offsetof(Facts, cpu_throttled)), &count);
        return count;
}

uint64_t cgroup_count_processes(Cgroup *cgroup) {
        g_autoptr(GArray) pids = NULL;

        if (is_empty(cgroup))
                return 0;
        pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        cgroup_list_processes(cgroup_path(cgroup), pids);
        return pids->len;
}

static bool switch_on(const Cgroup *cgroup, const char *file) {
        int fd = openat(cgroup->dirs[HIERARCHY_UNIFIED], file, O_WRONLY | O_CLOEXEC);
        bool is_done = fd >= 0 && write(fd, "1", 1) == 1;

        if (fd >= 0)
                (void)close(fd);
        return is_done;
}

void cgroup_kill(Cgroup *cgroup) {
        (void)switch_on(cgroup, "cgroup.kill");
}

bool cgroup_kill_below(Cgroup *cgroup, const char *path) {
        g_autofree char *file = g_build_filename(path, "cgroup.kill", NULL);

        return switch_on(cgroup, file);
}

void cgroup_join_for_memory(Cgroup *cgroup) {
        (void)switch_on(cgroup, "memory.oom.group");
}

/* v1 has the CPU quota and its period in two files; what we compare is CPU microseconds per second. */
static uint64_t scale_quota(const char *level, const char *file, uint64_t quota) {
        g_autofree char *name = g_build_filename(level, "cpu.cfs_period_us", NULL);
        g_autofree char *text = NULL;
        uint64_t period = 0;

        if (quota == LIMIT_INFINITY || strcmp(file, "cpu.cfs_quota_us") != 0)
                return quota;
        text = file_read_record(AT_FDCWD, name);
        if (!text || !counter_parse_limit("", text, &period) || period == 0)
                return LIMIT_INFINITY;
        return quota * G_USEC_PER_SEC / period;
}

/* Walks from the slice that carries it, its own or the pool's around it, up to the root of the hierarchy. A level without
 * the file does not limit anything, but where the slice itself has none, nobody can tell: false. */
static bool minimum_upwards(Cgroup *cgroup, Hierarchy hierarchy, Limit limit, const char *file,
                            uint64_t *ret_value) {
        bool is_pools = limit_info(limit)->carrier == LIMIT_ON_POOL;
        const char *root = hierarchy_root(hierarchy);
        g_autofree char *level = is_pools && cgroup->paths[hierarchy]
                                         ? g_path_get_dirname(cgroup->paths[hierarchy])
                                         : g_strdup(cgroup->paths[hierarchy]);
        g_autofree char *first = is_pools && level ? g_build_filename(level, file, NULL) : NULL;
        g_autofree char *text = NULL;
        uint64_t minimum = LIMIT_INFINITY, value = 0;
        bool is_found = false;

        if (root && hierarchy_can_have(hierarchy, file))
                text = first ? kept_read(first) : file_read_record(dir_of(cgroup, hierarchy), file);
        if (!text)
                return false;
        for (;;) {
                if (text && counter_parse_limit(file, text, &value)) {
                        minimum = MIN(minimum, scale_quota(level, file, value));
                        is_found = true;
                }
                if (strlen(level) <= strlen(root))
                        break;
                *strrchr(level, '/') = '\0';

                g_autofree char *name = g_build_filename(level, file, NULL);

                g_free(text);
                text = kept_read(name);
        }

        *ret_value = minimum;
        return is_found;
}

bool cgroup_read_effective(Cgroup *cgroup, Limit limit, uint64_t *ret_value) {
        const LimitInfo *info = limit_info(limit);
        const char *legacy = info->readback_name_v1;

        if (!info->readback_name)
                return false;
        if (minimum_upwards(cgroup, HIERARCHY_UNIFIED, limit, info->readback_name, ret_value))
                return true;
        if (!legacy)
                return false;

        const char *slash = strchr(legacy, '/');

        return minimum_upwards(cgroup, hierarchy_named(legacy, (size_t)(slash - legacy)), limit,
                               slash + 1, ret_value);
}

char *cgroup_path_of(pid_t pid) {
        g_autofree char *file = g_strdup_printf("/proc/%d/cgroup", (int)pid);
        g_autofree char *text = file_read_record(AT_FDCWD, file);

        if (!text)
                return NULL;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "0::"))
                        return g_strconcat(hierarchy_root(HIERARCHY_UNIFIED), *line + strlen("0::"),
                                           NULL);
        return NULL;
}

bool cgroup_is_version_1(const char *controller) {
        Hierarchy hierarchy = hierarchy_named(controller, strlen(controller));

        return hierarchy != HIERARCHY_UNIFIED && hierarchy_root(hierarchy);
}

char *cgroup_read_cpus(Cgroup *cgroup) {
        char *list = file_read_record(cgroup->dirs[HIERARCHY_UNIFIED], "cpuset.cpus.effective");

        if (!list)
                list = file_read_record(dir_of(cgroup, HIERARCHY_CPUSET), "cpuset.effective_cpus");
        return list ? g_strchomp(list) : NULL;
}

static char **read_unified_controllers(const char *control_group) {
        const char *root = hierarchy_root(HIERARCHY_UNIFIED);
        g_autofree char *path = root ? g_build_filename(root, control_group, "cgroup.controllers",
                                                        NULL)
                                     : NULL;
        g_autofree char *text = path ? file_read_record(AT_FDCWD, path) : NULL;

        if (!text)
                return NULL;
        g_strchomp(text);
        return text[0] ? g_strsplit(text, " ", -1) : g_new0(char *, 1);
}

/* Whoever may make groups there has the controller. */
static char **read_legacy_controllers(const char *control_group) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (Hierarchy i = 0; i < _HIERARCHY_MAX; i++) {
                const char *root = hierarchy_root(i);
                g_autofree char *path = root ? g_build_filename(root, control_group, NULL) : NULL;

                if (i != HIERARCHY_UNIFIED && path &&
                    access(path, control_group[0] ? W_OK : F_OK) == 0)
                        g_ptr_array_add(names, g_strdup(hierarchy_name(i)));
        }
        if (names->len == 0)
                return NULL;
        g_ptr_array_add(names, NULL);
        return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

void cgroup_read_controllers(const char *control_group, CgroupControllers *ret_controllers) {
        ret_controllers->unified = read_unified_controllers(control_group ?: "");
        ret_controllers->legacy = read_legacy_controllers(control_group ?: "");
}

void cgroup_controllers_clear(CgroupControllers *controllers) {
        g_clear_pointer(&controllers->unified, g_strfreev);
        g_clear_pointer(&controllers->legacy, g_strfreev);
}
