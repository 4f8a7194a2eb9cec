/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The table of counters: which fact is in which cgroup file, in both kinds of hierarchy, and the pure reading of their
 * texts. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
        HIERARCHY_UNIFIED,
        HIERARCHY_MEMORY,
        HIERARCHY_CPU,
        HIERARCHY_CPUACCT,
        HIERARCHY_PIDS,
        HIERARCHY_BLKIO,
        HIERARCHY_CPUSET,
        _HIERARCHY_MAX,
} Hierarchy;

typedef struct {
        Hierarchy hierarchy;
        const char *file; /* NULL: this kind of hierarchy cannot tell */
        const char *key;  /* of "KEY VALUE" lines; NULL: the file is one number */
        const char *
                sum; /* the field of "… KEY=VALUE …" lines that is added up, or the word before the number */
        uint64_t divisor; /* to base units; 0 is 1 */
} CounterSource;

typedef struct {
        size_t offset; /* in Facts, a uint64_t */
        CounterSource unified, legacy;
} Counter;

size_t counter_count(void);
const Counter *counter_at(size_t index);
const Counter *counter_of(size_t offset); /* of a fact that has a row */

bool counter_parse(const CounterSource *source, const char *text, uint64_t *ret_value);

/* A limit's file: "max", a number, or cpu.max' and cpuset's own forms. UINT64_MAX is "no limit". */
bool counter_parse_limit(const char *file, const char *text, uint64_t *ret_value);
