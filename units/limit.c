/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The limit table, and sets of limits. A limit is one row here, one line in a test and one line in the man page; where
 * a limit needs more than that, the table lacks a column. */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "error.h"
#include "format.h"
#include "limit.h"
#include "parse.h"
#include "text.h"

#define KIB  UINT64_C(1024)
#define MIB  (KIB * KIB)
#define MSEC UINT64_C(1000)
#define SEC  UINT64_C(1000000)

/* Largest amounts: what a reader of the record that keeps numbers as doubles still sees exactly (2^53 bytes, a century). */
#define BYTES_MAX  (UINT64_C(1) << 53)
#define USEC_MAX   (UINT64_C(36500) * 86400 * SEC)
#define TASKS_MAX  UINT64_C(4194304) /* the kernel's PID_MAX_LIMIT: pids.max takes no more */
#define NOFILE_MAX (UINT64_C(1) << 30)
#define OUTPUT_MAX (256 * MIB) /* the launcher holds both streams */
#define CPUS_MAX   ((uint64_t)PARSE_CPU_MAX + 1)

/* Smallest amounts: what /bin/true, dynamically linked, needs to be executed and end with 0, with some air. Found by
 * trying: address space 2500K, stack 16K, four descriptors; memory 1M with systemd 252, 2304K with 257 and 262, whose
 * executor starts inside the cgroup. */
#define MEMORY_MIN        (4 * MIB)
#define ADDRESS_SPACE_MIN (4 * MIB)
#define STACK_MIN         (64 * KIB)
#define NOFILE_MIN        UINT64_C(8)

#define TEXT_SHOWN 40 /* characters of a bad value that a message repeats */

/* What is the same for a run and for all runs of a pool together. */
#define SHARED_MEMORY                                                                      \
        .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE", .encoding = LIMIT_ENCODING_NUMBER, \
        .property = "MemoryMax", .min = MEMORY_MIN, .max = BYTES_MAX,                      \
        .readback = LIMIT_READBACK_CGROUP, .readback_name = "memory.max",                  \
        .readback_name_v1 = "memory/memory.limit_in_bytes"
#define SHARED_SWAP                                                                        \
        .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE", .encoding = LIMIT_ENCODING_NUMBER, \
        .property = "MemorySwapMax", .min = 0, .max = BYTES_MAX,                           \
        .readback = LIMIT_READBACK_CGROUP, .readback_name = "memory.swap.max"
#define SHARED_CPU                                                                              \
        .unit = LIMIT_UNIT_CPU_SHARE, .value_name = "SHARE", .encoding = LIMIT_ENCODING_NUMBER, \
        .property = "CPUQuotaPerSecUSec", .min = SEC / 100, .max = CPUS_MAX * SEC,              \
        .readback = LIMIT_READBACK_CGROUP, .readback_name = "cpu.max",                          \
        .readback_name_v1 = "cpu/cpu.cfs_quota_us"
#define SHARED_TASKS                                                                           \
        .unit = LIMIT_UNIT_COUNT, .value_name = "COUNT", .encoding = LIMIT_ENCODING_NUMBER,    \
        .property = "TasksMax", .min = 1, .max = TASKS_MAX, .readback = LIMIT_READBACK_CGROUP, \
        .readback_name = "pids.max", .readback_name_v1 = "pids/pids.max"

/* clang-format off */
static const LimitInfo limits[] = {
        [LIMIT_TIMEOUT] = {
                .key = "timeout", .unit = LIMIT_UNIT_USEC, .value_name = "TIME",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_BACKSTOP, .property = "RuntimeMaxUSec",
                .min = MSEC, .max = USEC_MAX, .untrusted_value = 300 * SEC,
                .readback = LIMIT_READBACK_MANAGER, .readback_name = "RuntimeMaxUSec",
                .help = "end it after this much wall-clock time",
        },
        [LIMIT_GRACE] = {
                .key = "grace", .unit = LIMIT_UNIT_USEC, .value_name = "TIME",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_STOP, .property = "TimeoutStopUSec",
                .min = 0, .max = USEC_MAX,
                .default_when = LIMIT_DEFAULT_ALWAYS, .default_value = 5 * SEC,
                .help = "SIGTERM to SIGKILL (0: at once; default 5s)",
        },
        [LIMIT_MEMORY] = {
                .key = "memory", .carrier = LIMIT_ON_SLICE, SHARED_MEMORY, .untrusted_value = 512 * MIB,
                .help = "memory of all its processes together",
        },
        [LIMIT_SWAP] = {
                .key = "swap", .carrier = LIMIT_ON_SLICE, SHARED_SWAP,
                .default_when = LIMIT_DEFAULT_WITH_MEMORY, .default_value = 0,
                .help = "swap of all together (default 0 with --memory)",
        },
        [LIMIT_MEMORY_HIGH] = {
                .key = "memory-high", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_SLICE, .encoding = LIMIT_ENCODING_NUMBER, .property = "MemoryHigh",
                .min = MEMORY_MIN, .max = BYTES_MAX,
                .readback = LIMIT_READBACK_CGROUP, .readback_name = "memory.high",
                .help = "slow it down above this much memory",
        },
        [LIMIT_ADDRESS_SPACE] = {
                .key = "address-space", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_RLIMIT, .property = "LimitAS",
                .min = ADDRESS_SPACE_MIN, .max = BYTES_MAX,
                .readback = LIMIT_READBACK_RLIMIT, .readback_number = RLIMIT_AS,
                .help = "address space of each process",
        },
        [LIMIT_CPU] = {
                .key = "cpu", .carrier = LIMIT_ON_SLICE, SHARED_CPU, .untrusted_value = SEC,
                .help = "CPU share of all together (150% or 1.5 CPUs)",
        },
        [LIMIT_CPU_TIME] = {
                .key = "cpu-time", .unit = LIMIT_UNIT_USEC, .value_name = "TIME",
                .carrier = LIMIT_ON_US, .encoding = LIMIT_ENCODING_CPU_SECONDS, .property = "LimitCPU",
                .min = MSEC, .max = USEC_MAX,
                .help = "end it when all together used this much CPU time",
        },
        [LIMIT_TASKS] = {
                .key = "tasks", .carrier = LIMIT_ON_SLICE, SHARED_TASKS, .untrusted_value = 128,
                .help = "processes and threads at a time",
        },
        [LIMIT_FSIZE] = {
                .key = "fsize", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_RLIMIT, .property = "LimitFSIZE",
                .min = 0, .max = BYTES_MAX,
                .readback = LIMIT_READBACK_RLIMIT, .readback_number = RLIMIT_FSIZE,
                .help = "size of each file it writes",
        },
        [LIMIT_NOFILE] = {
                .key = "nofile", .unit = LIMIT_UNIT_COUNT, .value_name = "COUNT",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_RLIMIT, .property = "LimitNOFILE",
                .min = NOFILE_MIN, .max = NOFILE_MAX, .untrusted_value = 4096,
                .readback = LIMIT_READBACK_RLIMIT, .readback_number = RLIMIT_NOFILE,
                .help = "open files of each process",
        },
        [LIMIT_STACK] = {
                .key = "stack", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_RLIMIT, .property = "LimitSTACK",
                .min = STACK_MIN, .max = BYTES_MAX,
                .readback = LIMIT_READBACK_RLIMIT, .readback_number = RLIMIT_STACK,
                .help = "stack of each process",
        },
        [LIMIT_CORE] = {
                .key = "core", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_UNIT, .encoding = LIMIT_ENCODING_RLIMIT, .property = "LimitCORE",
                .min = 0, .max = BYTES_MAX,
                .default_when = LIMIT_DEFAULT_ALWAYS, .default_value = 0,
                .readback = LIMIT_READBACK_RLIMIT, .readback_number = RLIMIT_CORE,
                .help = "size of a core dump (default 0: none)",
        },
        [LIMIT_CPUS] = {
                .key = "cpus", .unit = LIMIT_UNIT_CPU_LIST, .value_name = "LIST",
                .carrier = LIMIT_ON_SLICE, .encoding = LIMIT_ENCODING_BITMAP, .property = "AllowedCPUs",
                .stand_in = "CPUAffinity",
                .min = 1, .max = CPUS_MAX,
                .readback = LIMIT_READBACK_CGROUP, .readback_name = "cpuset.cpus.effective",
                .help = "the CPUs it may run on (0,2-3)",
        },
        [LIMIT_DISK] = {
                .key = "disk", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_US, .encoding = LIMIT_ENCODING_NONE,
                .min = 0, .max = BYTES_MAX, .untrusted_value = 1024 * MIB,
                .help = "growth of the workspace, in bytes on disk",
        },
        [LIMIT_OUTPUT] = {
                .key = "output", .unit = LIMIT_UNIT_BYTES, .value_name = "SIZE",
                .carrier = LIMIT_ON_US, .encoding = LIMIT_ENCODING_NONE,
                .min = 0, .max = OUTPUT_MAX, .is_never_lifted = true,
                .default_when = LIMIT_DEFAULT_WHEN_CAPTURING, .default_value = MIB,
                .help = "bytes of each captured stream (default 1M)",
        },
        [LIMIT_POOL_MEMORY] = {
                .key = "pool-memory", .carrier = LIMIT_ON_POOL, SHARED_MEMORY,
                .help = "memory of all runs of its pool together",
        },
        [LIMIT_POOL_SWAP] = {
                .key = "pool-swap", .carrier = LIMIT_ON_POOL, SHARED_SWAP,
                .default_when = LIMIT_DEFAULT_WITH_POOL_MEMORY, .default_value = 0,
                .help = "their swap (default 0 with --pool-memory)",
        },
        [LIMIT_POOL_CPU] = {
                .key = "pool-cpu", .carrier = LIMIT_ON_POOL, SHARED_CPU,
                .help = "their CPU share",
        },
        [LIMIT_POOL_TASKS] = {
                .key = "pool-tasks", .carrier = LIMIT_ON_POOL, SHARED_TASKS,
                .help = "their processes and threads",
        },
};

static const LimitUnitInfo units[] = {
        [LIMIT_UNIT_USEC] = { "a duration", "seconds, or numbers with ms, s, m (min), h, d such as 1m30s or 250ms", NULL },
        [LIMIT_UNIT_BYTES] = { "a size", "a number with B, K, M, G or T (1024-based)", "256M, 1.5G; bare: bytes" },
        [LIMIT_UNIT_COUNT] = { "a count", "a whole number", NULL },
        [LIMIT_UNIT_CPU_SHARE] = { "a CPU share", "percent of one CPU such as 150%, or CPUs such as 1.5", NULL },
        [LIMIT_UNIT_CPU_LIST] = { "a CPU list", "CPU numbers and ranges such as 0,2-3", NULL },
};
/* clang-format on */

G_STATIC_ASSERT(G_N_ELEMENTS(limits) == _LIMIT_MAX);

const LimitInfo *limit_info(Limit limit) {
        g_assert((unsigned)limit < _LIMIT_MAX);
        return &limits[limit];
}

const LimitUnitInfo *limit_unit_info(LimitUnit unit) {
        g_assert((unsigned)unit < G_N_ELEMENTS(units));
        return &units[unit];
}

bool limit_from_key(const char *key, Limit *ret_limit) {
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (g_strcmp0(limits[i].key, key) == 0) {
                        *ret_limit = (Limit)i;
                        return true;
                }

        return false;
}

static bool fail_malformed(Limit limit, const char *text, GError **error) {
        g_autofree char *shown = text_printable(text, TEXT_SHOWN);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                    "--%s: \"%s\" is not %s; accepted: %s, or infinity", limits[limit].key, shown,
                    units[limits[limit].unit].noun, units[limits[limit].unit].accepted);
        return false;
}

static bool fail_range(Limit limit, const char *text, GError **error) {
        const LimitInfo *info = &limits[limit];
        g_autofree char *shown = text_printable(text, TEXT_SHOWN);
        g_autofree char *min = limit_format(limit, info->min);
        g_autofree char *max = limit_format(limit, info->max);

        if (info->unit == LIMIT_UNIT_CPU_LIST)
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_OUT_OF_RANGE,
                            "--%s: \"%s\" is out of range; accepted: CPUs 0 to %d, or infinity",
                            info->key, shown, PARSE_CPU_MAX);
        else
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_OUT_OF_RANGE,
                            "--%s: \"%s\" is out of range; accepted: %s to %s, or infinity",
                            info->key, shown, min, max);
        return false;
}

static ParseResult value_parse(LimitUnit unit, const char *text, uint64_t *ret_value,
                               CpuList *ret_cpus) {
        switch (unit) {
        case LIMIT_UNIT_USEC:
                return parse_duration(text, ret_value);
        case LIMIT_UNIT_BYTES:
                return parse_size(text, ret_value);
        case LIMIT_UNIT_COUNT:
                return parse_count(text, ret_value);
        case LIMIT_UNIT_CPU_SHARE:
                return parse_cpu_share(text, ret_value);
        case LIMIT_UNIT_CPU_LIST:
                return parse_cpu_list(text, &ret_cpus->bytes, &ret_cpus->size, ret_value);
        }

        g_assert_not_reached();
}

static void set_put(LimitSet *set, Limit limit, uint64_t value, CpuList *cpus) {
        set->is_set[limit] = true;
        set->value[limit] = value;
        if (limits[limit].unit != LIMIT_UNIT_CPU_LIST)
                return;

        g_free(set->cpus.bytes);
        set->cpus = *cpus;
}

bool limit_set_parse(LimitSet *set, Limit limit, const char *text, GError **error) {
        const LimitInfo *info = limit_info(limit);
        CpuList cpus = { 0 };
        uint64_t value = LIMIT_INFINITY;
        ParseResult result = PARSE_OK;

        if (strcmp(text, "infinity") == 0) {
                if (info->is_never_lifted)
                        value = info->max;
                set_put(set, limit, value, &cpus);
                return true;
        }

        result = value_parse(info->unit, text, &value, &cpus);
        if (result == PARSE_MALFORMED)
                return fail_malformed(limit, text, error);
        if (result != PARSE_OK || value < info->min || value > info->max)
                return fail_range(limit, text, error);

        set_put(set, limit, value, &cpus);
        return true;
}

/* The shortest "d.ddde±xx" that is this very double. */
static void number_to_scientific(double number, char *ret_text, int size) {
        char format[8];

        for (int precision = 0; precision <= 17; precision++) {
                g_snprintf(format, sizeof(format), "%%.%de", precision);
                g_ascii_formatd(ret_text, size, format, number);
                if (g_ascii_strtod(ret_text, NULL) == number)
                        return;
        }
}

/* The same without an exponent: 0.1 is "0.1", not 0.1000000000000000055, which makes a JSON number mean what the same
 * characters mean on the command line. */
static char *number_to_text(double number) {
        char scientific[32], digits[32] = "";
        g_autoptr(GString) out = g_string_new(NULL);
        int exponent, n_digits = 0;

        number_to_scientific(number, scientific, sizeof(scientific));
        exponent = (int)g_ascii_strtoll(strchr(scientific, 'e') + 1, NULL, 10);
        for (const char *c = scientific; *c != 'e'; c++)
                if (g_ascii_isdigit(*c))
                        digits[n_digits++] = *c;

        for (int i = MIN(exponent, 0); i <= MAX(exponent, n_digits - 1); i++) {
                g_string_append_c(out, i >= 0 && i < n_digits ? digits[i] : '0');
                if (i == exponent && i < n_digits - 1)
                        g_string_append_c(out, '.');
                else if (exponent < 0 && i == exponent)
                        g_string_append_c(out, '.');
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

bool limit_set_number(LimitSet *set, Limit limit, double number, GError **error) {
        char shown[G_ASCII_DTOSTR_BUF_SIZE];
        g_autofree char *text = NULL;

        if (!isfinite(number) || number < 0)
                return fail_malformed(limit, g_ascii_dtostr(shown, sizeof(shown), number), error);

        text = number_to_text(fabs(number));
        return limit_set_parse(set, limit, text, error);
}

static void set_default(LimitSet *set, Limit limit, uint64_t value) {
        if (!set->is_set[limit]) {
                set->is_set[limit] = true;
                set->value[limit] = value;
        }
}

void limit_set_apply_untrusted_defaults(LimitSet *set, bool has_workspace) {
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limits[i].untrusted_value > 0 && (has_workspace || i != LIMIT_DISK))
                        set_default(set, (Limit)i, limits[i].untrusted_value);
}

void limit_set_apply_defaults(LimitSet *set) {
        const bool holds[] = {
                [LIMIT_DEFAULT_NONE] = false,
                [LIMIT_DEFAULT_ALWAYS] = true,
                [LIMIT_DEFAULT_WITH_MEMORY] = limit_set_is_limited(set, LIMIT_MEMORY),
                [LIMIT_DEFAULT_WITH_POOL_MEMORY] = limit_set_is_limited(set, LIMIT_POOL_MEMORY),
                [LIMIT_DEFAULT_WHEN_CAPTURING] = false,
        };

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (holds[limits[i].default_when])
                        set_default(set, (Limit)i, limits[i].default_value);
}

void limit_set_apply_capture_default(LimitSet *set) {
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limits[i].default_when == LIMIT_DEFAULT_WHEN_CAPTURING)
                        set_default(set, (Limit)i, limits[i].default_value);
}

bool limit_set_is_limited(const LimitSet *set, Limit limit) {
        return set->is_set[limit] && set->value[limit] != LIMIT_INFINITY;
}

int limit_rlimit(Limit limit) {
        if (limits[limit].encoding == LIMIT_ENCODING_CPU_SECONDS)
                return RLIMIT_CPU;
        return limits[limit].encoding == LIMIT_ENCODING_RLIMIT ? limits[limit].readback_number : -1;
}

uint32_t limit_set_rlimits(const LimitSet *set) {
        uint32_t mask = 0;

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limit_set_is_limited(set, (Limit)i) && limit_rlimit((Limit)i) >= 0)
                        mask |= 1U << limit_rlimit((Limit)i);
        return mask;
}

void limit_set_rlimit(const LimitSet *set, Limit limit, uint64_t *ret_soft, uint64_t *ret_hard) {
        uint64_t grace = limit_set_is_limited(set, LIMIT_GRACE) ? set->value[LIMIT_GRACE] : 0;

        *ret_soft = *ret_hard = set->value[limit];
        if (limits[limit].encoding != LIMIT_ENCODING_CPU_SECONDS)
                return;
        *ret_soft = (set->value[limit] + grace) / SEC + 1;
        *ret_hard = *ret_soft + 1;
}

char *limit_format(Limit limit, uint64_t value) {
        if (value == LIMIT_INFINITY)
                return g_strdup("infinity");

        switch (limit_info(limit)->unit) {
        case LIMIT_UNIT_USEC:
                return format_duration(value);
        case LIMIT_UNIT_BYTES:
                return format_size(value);
        case LIMIT_UNIT_CPU_SHARE:
                return format_cpu_share(value);
        case LIMIT_UNIT_COUNT:
        case LIMIT_UNIT_CPU_LIST:
                return g_strdup_printf("%" PRIu64, value);
        }

        g_assert_not_reached();
}

char *limit_set_format(const LimitSet *set, Limit limit) {
        if (limit_info(limit)->unit == LIMIT_UNIT_CPU_LIST && limit_set_is_limited(set, limit))
                return cpu_list_format(&set->cpus);

        return limit_format(limit, set->value[limit]);
}

void limit_set_copy(const LimitSet *from, LimitSet *to) {
        uint8_t *bytes = g_memdup2(from->cpus.bytes, from->cpus.size);

        g_free(to->cpus.bytes);
        *to = *from;
        to->cpus.bytes = bytes;
}

void limit_set_clear(LimitSet *set) {
        g_free(set->cpus.bytes);
        *set = (LimitSet){ 0 };
}

bool cpu_list_parse(const char *text, CpuList *ret_cpus) {
        uint64_t count = 0;

        return parse_cpu_list(text, &ret_cpus->bytes, &ret_cpus->size, &count) == PARSE_OK;
}

char *cpu_list_format(const CpuList *cpus) {
        return format_cpu_list(cpus->bytes, cpus->size);
}

uint64_t cpu_list_count(const CpuList *cpus) {
        uint64_t count = 0;

        for (size_t i = 0; i < cpus->size; i++)
                count += (uint64_t)__builtin_popcount(cpus->bytes[i]);
        return count;
}

bool cpu_list_is_within(const CpuList *cpus, const CpuList *others) {
        for (size_t i = 0; i < cpus->size; i++)
                if (cpus->bytes[i] & ~(i < others->size ? others->bytes[i] : 0))
                        return false;
        return cpu_list_count(cpus) > 0;
}

void cpu_list_clear(CpuList *cpus) {
        g_free(cpus->bytes);
        *cpus = (CpuList){ 0 };
}
