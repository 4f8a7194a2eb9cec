/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A fuzz target: any bytes in, no crash, and promises that are checked with assertions. */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes as text, up to the first NUL; there may be none at all and then no pointer either. */
static inline char *fuzz_text(const uint8_t *data, size_t size) {
        return size > 0 ? g_strndup((const char *)data, size) : g_strdup("");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
