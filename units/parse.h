/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text → number, exactly: no floating point, no wrapping, nothing skipped. The words of a refusal are the caller's
 * (units/limit knows which option it was); here only what is wrong. Everything is strict: no spaces, no signs, no
 * exponents, no hex, nothing left over. "infinity" is a matter of limits, not of numbers, and is refused here. */

#include <stddef.h>
#include <stdint.h>

typedef enum {
        PARSE_OK,
        PARSE_MALFORMED, /* not what the grammar accepts */
        PARSE_TOO_LARGE, /* grammatical, but does not fit into 64 bits (or, for a CPU, into PARSE_CPU_MAX) */
        PARSE_TOO_SMALL, /* grammatical and not zero, but less than one unit: would be zero in silence */
} ParseResult;

#define PARSE_CPU_MAX 8191

/* "268435456", "256M", "0.1G", "256MiB", "64kb": bytes, prefixes are powers of 1024, the fraction of a byte is cut. */
ParseResult parse_size(const char *text, uint64_t *ret_bytes);

/* "30", "0.5", "1m30s", "250ms", "2d": microseconds. Units descend, each at most once. */
ParseResult parse_duration(const char *text, uint64_t *ret_usec);

/* "64" */
ParseResult parse_count(const char *text, uint64_t *ret_count);

/* "150%" or "1.5": CPU microseconds per second, 1000000 is one whole CPU. */
ParseResult parse_cpu_share(const char *text, uint64_t *ret_usec_per_sec);

/* "0,2-3": a bitmap, least significant byte first, no longer than the highest CPU needs; and how many CPUs are in it. */
ParseResult parse_cpu_list(const char *text, uint8_t **ret_bytes, size_t *ret_size,
                           uint64_t *ret_count);
