/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Bytes as they come → lines, one at a time. A line longer than a bound is not kept: that there was one is said once,
 * when it has become too long, and the rest of it is passed over. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Lines Lines;

typedef enum {
        LINES_MORE,  /* no whole line is there: more bytes are needed */
        LINES_LINE,  /* without its newline */
        LINES_HUGE,  /* longer than the bound */
        LINES_ENDED, /* all of them were had */
} LinesResult;

Lines *lines_new(size_t bytes_max);
void lines_free(Lines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lines, lines_free)

void lines_put(Lines *lines, const char *data, size_t size);
void lines_end(Lines *lines); /* nothing more comes: what is there without a newline is a line */

/* The text, with a NUL behind it, is valid until the next call of any function here. */
LinesResult lines_next(Lines *lines, const char **ret_text, size_t *ret_size);

uint64_t lines_number(const Lines *lines);   /* of the line that was had last, from 1 */
uint64_t lines_consumed(const Lines *lines); /* bytes up to its end */
bool lines_is_torn(const Lines *lines);      /* it had no newline */
