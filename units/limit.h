/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The limit table: every resource a user can bound, one row each. A row knows the key (the same word on the
 * command line, in JSON, in a profile and in the record), the grammar and bounds of its value, which property
 * carries it and on which unit, and how to see afterwards that it is in force. It does not talk to anybody. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
        LIMIT_TIMEOUT,
        LIMIT_GRACE,
        LIMIT_MEMORY,
        LIMIT_SWAP,
        LIMIT_MEMORY_HIGH,
        LIMIT_ADDRESS_SPACE,
        LIMIT_CPU,
        LIMIT_CPU_TIME,
        LIMIT_TASKS,
        LIMIT_FSIZE,
        LIMIT_NOFILE,
        LIMIT_STACK,
        LIMIT_CORE,
        LIMIT_CPUS,
        LIMIT_DISK,
        LIMIT_OUTPUT,
        LIMIT_POOL_MEMORY,
        LIMIT_POOL_SWAP,
        LIMIT_POOL_CPU,
        LIMIT_POOL_TASKS,
        _LIMIT_MAX,
} Limit;

/* What the number counts; decides grammar and the words of a refusal. */
typedef enum {
        LIMIT_UNIT_USEC,
        LIMIT_UNIT_BYTES,
        LIMIT_UNIT_COUNT,
        LIMIT_UNIT_CPU_SHARE, /* CPU microseconds per second: 1000000 is one whole CPU */
        LIMIT_UNIT_CPU_LIST,
} LimitUnit;

/* The words for it. */
typedef struct {
        const char *noun;     /* "a size" */
        const char *accepted; /* the grammar */
        const char *example;  /* for help; NULL: the grammar has them */
} LimitUnitInfo;

/* Who keeps it. */
typedef enum {
        LIMIT_ON_SLICE, /* a cgroup limit of the whole tree */
        LIMIT_ON_POOL,  /* likewise, of all runs of its pool together */
        LIMIT_ON_UNIT,  /* a property of the service: each process */
        LIMIT_ON_US,    /* the tool's own timer, reader or look */
} LimitCarrier;

/* How to see that it is in force. */
typedef enum {
        LIMIT_READBACK_NONE,   /* kept by us: in force by construction */
        LIMIT_READBACK_CGROUP, /* readback_name is a file of the carrying slice's cgroup (v2) */
        LIMIT_READBACK_RLIMIT, /* readback_number is RLIMIT_… of the gate process */
        LIMIT_READBACK_MANAGER, /* readback_name is the manager's, a backstop: nothing to be read back */
} LimitReadback;

/* How the number becomes properties; units/compose has one small function for each. */
typedef enum {
        LIMIT_ENCODING_NONE,        /* no property: kept by us alone */
        LIMIT_ENCODING_NUMBER,      /* one property, the number as it is */
        LIMIT_ENCODING_BACKSTOP,    /* one, a little later than the number: we act first */
        LIMIT_ENCODING_RLIMIT,      /* two: hard and soft, both the number */
        LIMIT_ENCODING_CPU_SECONDS, /* an rlimit in whole seconds, past the number: a backstop */
        LIMIT_ENCODING_STOP,        /* stop timeout, or for 0 the signal that leaves no choice */
        LIMIT_ENCODING_BITMAP,      /* the CPU list */
} LimitEncoding;

/* What holds when nothing was said. */
typedef enum {
        LIMIT_DEFAULT_NONE,
        LIMIT_DEFAULT_ALWAYS,
        LIMIT_DEFAULT_WITH_MEMORY, /* when memory is limited */
        LIMIT_DEFAULT_WITH_POOL_MEMORY,
        LIMIT_DEFAULT_WHEN_CAPTURING, /* limit_set_apply_capture_default() */
} LimitDefault;

typedef struct {
        const char *key; /* "memory-high" */
        LimitUnit unit;
        LimitCarrier carrier;
        LimitEncoding encoding;
        const char *property; /* "MemoryHigh"; NULL: none; rlimits by name without "Soft" */
        const char *
                stand_in; /* what --best-effort sets on the unit besides; the program can undo it */
        uint64_t min;     /* smallest value accepted, inclusive */
        uint64_t max;     /* largest value accepted, inclusive */
        bool is_never_lifted; /* "infinity" is max */
        LimitDefault default_when;
        uint64_t default_value;
        uint64_t untrusted_value; /* what --untrusted brings; 0: nothing */
        LimitReadback readback;
        const char *readback_name;    /* cgroup v2 file, or the manager's property */
        const char *readback_name_v1; /* controller/file: "memory/memory.limit_in_bytes" */
        int readback_number;
        const char *value_name; /* "SIZE", for help */
        const char *help;       /* for people, last column */
} LimitInfo;

#define LIMIT_INFINITY UINT64_MAX

/* A bitmap of CPUs, as AllowedCPUs= wants it on the bus: least significant byte first. */
typedef struct {
        uint8_t *bytes; /* owned */
        size_t size;
} CpuList;

/* What was asked: a value for each limit that is set. For LIMIT_CPUS the value is the number of CPUs in the list. */
typedef struct {
        bool is_set[_LIMIT_MAX];
        uint64_t value[_LIMIT_MAX];
        CpuList cpus;
} LimitSet;

const LimitInfo *limit_info(Limit limit);
const LimitUnitInfo *limit_unit_info(LimitUnit unit);
bool limit_from_key(const char *key, Limit *ret_limit);

/* Parses a value as it stands on the command line ("256M", "1m30s", "150%", "0,2-3", "infinity") and puts it into the
 * set. On failure the set is unchanged and the message names the option, the text and what would be accepted. */
bool limit_set_parse(LimitSet *set, Limit limit, const char *text,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same from a number (JSON): it means what the same number means on the command line, so bytes, seconds, whole
 * CPUs, a count; 0.1 is exactly a tenth. */
bool limit_set_number(LimitSet *set, Limit limit, double number,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Values that follow from others: memory brings swap 0, core is 0 and grace 5 s unless asked. Idempotent. */
void limit_set_apply_defaults(LimitSet *set);
/* Bounds for all that can be used up, disk where what it may write is known. */
void limit_set_apply_untrusted_defaults(LimitSet *set, bool has_workspace);
void limit_set_apply_capture_default(LimitSet *set); /* output is 1M unless asked */

bool limit_set_is_limited(const LimitSet *set, Limit limit); /* set, and not infinity */
uint32_t limit_set_rlimits(const LimitSet *set);             /* bit n: the limits set RLIMIT n */

int limit_rlimit(Limit limit); /* the RLIMIT_… that carries it, or is its backstop; −1: none */

/* Its values. RLIMIT_CPU is in seconds, counts each process for itself and acts at once, so it has to lie past the
 * budget of the tree and the grace after it, which we keep: the first whole second behind them. Soft and hard differ,
 * because the kernel sends SIGKILL without SIGXCPU when they are equal. */
void limit_set_rlimit(const LimitSet *set, Limit limit, uint64_t *ret_soft, uint64_t *ret_hard);

char *limit_format(Limit limit, uint64_t value); /* "256M", "30s": parses back to the same value */
char *limit_set_format(const LimitSet *set, Limit limit); /* … the CPU list included */
void limit_set_copy(const LimitSet *from, LimitSet *to);  /* what was in "to" is let go */
void limit_set_clear(LimitSet *set);

bool cpu_list_parse(const char *text, CpuList *ret_cpus) G_GNUC_WARN_UNUSED_RESULT;
char *cpu_list_format(const CpuList *cpus); /* "0,2-3" */
uint64_t cpu_list_count(const CpuList *cpus);
bool cpu_list_is_within(const CpuList *cpus, const CpuList *others); /* and is not empty */
void cpu_list_clear(CpuList *cpus);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CpuList, cpu_list_clear)

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimitSet, limit_set_clear)
