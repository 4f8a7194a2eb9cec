/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Amounts as unit files have them, which is not quite as cordon's own options have them: "5min 20s", "1G 500M", and a
 * prefix that counts in thousands for devices. All are exact, and false for what does not parse or does not fit. */

#include <stdbool.h>
#include <stdint.h>

bool extra_amount_bytes(const char *text, uint64_t *ret_bytes);       /* K is 1024 */
bool extra_amount_decimal(const char *text, uint64_t *ret_bytes);     /* K is 1000 */
bool extra_amount_sec(const char *text, uint64_t *ret_usec);          /* a bare number is seconds */
bool extra_amount_usec(const char *text, uint64_t *ret_usec);         /* … microseconds */
bool extra_amount_nsec(const char *text, uint64_t *ret_nsec);         /* … nanoseconds */
bool extra_amount_percent(const char *text, uint64_t *ret_permyriad); /* "12.34%" is 1234 */
