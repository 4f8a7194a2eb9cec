/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts of cgroup files → numbers. */

#include "counter.h"

#include <stdlib.h>
#include <string.h>

#include "units/facts.h"

#define NSEC_PER_USEC 1000
#define V1_INFINITY \
        (UINT64_C(1) << 62) /* memory.limit_in_bytes says "no limit" with a huge number */

/* Rows of one file stand together: it is read once for them. */
static const Counter counters[] = {
        { offsetof(Facts, oom_kills),
          { HIERARCHY_UNIFIED, "memory.events", .key = "oom_kill" },
          { 0 } },
        { offsetof(Facts, oom_events), { HIERARCHY_UNIFIED, "memory.events", .key = "oom" }, { 0 } },
        { offsetof(Facts, memory_max_events),
          { HIERARCHY_UNIFIED, "memory.events", .key = "max" },
          { HIERARCHY_MEMORY, "memory.failcnt" } },
        { offsetof(Facts, memory_high_events),
          { HIERARCHY_UNIFIED, "memory.events", .key = "high" },
          { 0 } },
        { offsetof(Facts, oom_kills_local_limit),
          { HIERARCHY_UNIFIED, "memory.events.local", .key = "oom" },
          { 0 } },
        /* In version 1 it counts for who forks, whosever limit it was. */
        { offsetof(Facts, tasks_denied), { HIERARCHY_UNIFIED, "pids.events", .key = "max" }, { 0 } },
        { offsetof(Facts, cpu_throttled),
          { HIERARCHY_UNIFIED, "cpu.stat", .key = "nr_throttled" },
          { HIERARCHY_CPU, "cpu.stat", .key = "nr_throttled" } },
        { offsetof(Facts, cpu_usec),
          { HIERARCHY_UNIFIED, "cpu.stat", .key = "usage_usec" },
          { HIERARCHY_CPUACCT, "cpuacct.usage", .divisor = NSEC_PER_USEC } },
        { offsetof(Facts, cpu_user_usec),
          { HIERARCHY_UNIFIED, "cpu.stat", .key = "user_usec" },
          { HIERARCHY_CPUACCT, "cpuacct.usage_user", .divisor = NSEC_PER_USEC } },
        { offsetof(Facts, cpu_system_usec),
          { HIERARCHY_UNIFIED, "cpu.stat", .key = "system_usec" },
          { HIERARCHY_CPUACCT, "cpuacct.usage_sys", .divisor = NSEC_PER_USEC } },
        { offsetof(Facts, memory_peak_bytes),
          { HIERARCHY_UNIFIED, "memory.peak" },
          { HIERARCHY_MEMORY, "memory.max_usage_in_bytes" } },
        { offsetof(Facts, swap_peak_bytes), { HIERARCHY_UNIFIED, "memory.swap.peak" }, { 0 } },
        { offsetof(Facts, tasks_peak),
          { HIERARCHY_UNIFIED, "pids.peak" },
          { HIERARCHY_PIDS, "pids.peak" } },
        { offsetof(Facts, io_read_bytes),
          { HIERARCHY_UNIFIED, "io.stat", .sum = "rbytes=" },
          { HIERARCHY_BLKIO, "blkio.throttle.io_service_bytes_recursive", .sum = " Read " } },
        { offsetof(Facts, io_write_bytes),
          { HIERARCHY_UNIFIED, "io.stat", .sum = "wbytes=" },
          { HIERARCHY_BLKIO, "blkio.throttle.io_service_bytes_recursive", .sum = " Write " } },
};

size_t counter_count(void) {
        return G_N_ELEMENTS(counters);
}

const Counter *counter_at(size_t index) {
        g_assert(index < G_N_ELEMENTS(counters));
        return &counters[index];
}

const Counter *counter_of(size_t offset) {
        for (size_t i = 0; i < G_N_ELEMENTS(counters); i++)
                if (counters[i].offset == offset)
                        return &counters[i];
        g_assert_not_reached();
}

static bool number_at(const char *text, uint64_t *ret_value) {
        char *end = NULL;

        if (!g_ascii_isdigit(*text))
                return false;
        *ret_value = g_ascii_strtoull(text, &end, 10);
        return *end == '\0' || g_ascii_isspace(*end);
}

static bool parse_key(const char *text, const char *key, uint64_t *ret_value) {
        size_t length = strlen(key);

        for (const char *line = text; line;
             line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
                if (strncmp(line, key, length) == 0 && line[length] == ' ')
                        return number_at(line + length + 1, ret_value);
        return false;
}

/* No line at all is a true zero: nothing was read or written. */
static bool parse_sum(const char *text, const char *mark, uint64_t *ret_value) {
        uint64_t sum = 0, value = 0;

        for (const char *p = strstr(text, mark); p; p = strstr(p + 1, mark))
                if (number_at(p + strlen(mark), &value))
                        sum += value;
        *ret_value = sum;
        return true;
}

bool counter_parse(const CounterSource *source, const char *text, uint64_t *ret_value) {
        uint64_t value = 0;
        bool ok = source->key   ? parse_key(text, source->key, &value)
                  : source->sum ? parse_sum(text, source->sum, &value)
                                : number_at(text, &value);

        if (ok)
                *ret_value = source->divisor ? value / source->divisor : value;
        return ok;
}

/* cpu.max: "QUOTA PERIOD" or "max PERIOD" → CPU microseconds per second. */
static bool parse_cpu_max(const char *text, uint64_t *ret_value) {
        uint64_t quota = 0, period = 0;
        const char *space = strchr(text, ' ');

        if (!space || !number_at(space + 1, &period) || period == 0)
                return false;
        if (g_str_has_prefix(text, "max ")) {
                *ret_value = UINT64_MAX;
                return true;
        }
        if (!number_at(text, &quota))
                return false;
        *ret_value = (uint64_t)((unsigned __int128)quota * G_USEC_PER_SEC / period);
        return true;
}

bool counter_parse_limit(const char *file, const char *text, uint64_t *ret_value) {
        if (strcmp(file, "cpu.max") == 0)
                return parse_cpu_max(text, ret_value);
        if (g_str_has_prefix(text, "max") || g_str_has_prefix(text, "-1")) {
                *ret_value = UINT64_MAX;
                return true;
        }
        if (!number_at(text, ret_value))
                return false;
        if (*ret_value >= V1_INFINITY)
                *ret_value = UINT64_MAX;
        return true;
}
