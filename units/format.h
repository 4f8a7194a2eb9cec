/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Number → text. Two kinds: exact, which units/parse reads back to the same number, and short, for people, which is
 * rounded and goes nowhere but into a sentence. All are owned by the caller. */

#include <stddef.h>
#include <stdint.h>

/* Exact */
char *format_size(uint64_t bytes);                        /* "256M", "1000B" */
char *format_duration(uint64_t usec);                     /* "1m30s", "250ms", "1.000001s" */
char *format_cpu_share(uint64_t usec_per_sec);            /* "150%" */
char *format_cpu_list(const uint8_t *bytes, size_t size); /* "0,2-3" */

/* Short */
char *format_size_short(uint64_t bytes);   /* "256M", "1.5G" */
char *format_seconds_short(uint64_t usec); /* "0.8s", "95s" */
