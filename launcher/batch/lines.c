/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was handed out stays in the buffer until more is put in: then what is left moves to its front. So a byte is moved
 * once for each piece that its line comes in, and a search goes on where the last one ended. */

#include "lines.h"

#include <string.h>

struct Lines {
        GString *buffer;
        size_t at;       /* where the next line begins */
        size_t searched; /* no newline before it */
        size_t bytes_max;
        bool is_ended, is_passing_over, is_torn;
        uint64_t number, consumed;
};

Lines *lines_new(size_t bytes_max) {
        Lines *lines = g_new0(Lines, 1);

        lines->buffer = g_string_new(NULL);
        lines->bytes_max = bytes_max;
        return lines;
}

void lines_free(Lines *lines) {
        if (!lines)
                return;
        g_string_free(lines->buffer, TRUE);
        g_free(lines);
}

void lines_put(Lines *lines, const char *data, size_t size) {
        g_string_erase(lines->buffer, 0, (gssize)lines->at);
        lines->searched -= lines->at;
        lines->at = 0;
        g_string_append_len(lines->buffer, data, (gssize)size);
}

void lines_end(Lines *lines) {
        lines->is_ended = true;
}

static void consume(Lines *lines, size_t size) {
        lines->at += size;
        lines->searched = lines->at;
        lines->consumed += size;
}

static const char *find_end(Lines *lines) {
        GString *buffer = lines->buffer;
        const char *end = memchr(buffer->str + lines->searched, '\n',
                                 buffer->len - lines->searched);

        lines->searched = end ? (size_t)(end - buffer->str) : buffer->len;
        return end;
}

static LinesResult begin_to_pass_over(Lines *lines) {
        lines->number++;
        lines->is_passing_over = true;
        lines->is_torn = false;
        return LINES_HUGE;
}

/* The rest of a line of which it was said that it is too long. False: its end is yet to come. */
static bool pass_over(Lines *lines) {
        const char *end = find_end(lines);

        consume(lines, lines->searched - lines->at + (end ? 1 : 0));
        lines->is_passing_over = !end && !lines->is_ended;
        return !lines->is_passing_over;
}

static LinesResult hand_out(Lines *lines, size_t size, const char **ret_text, size_t *ret_size) {
        char *text = lines->buffer->str + lines->at;

        lines->is_torn = text[size] != '\n';
        text[size] = '\0'; /* in place of the newline, or what GLib has there */
        *ret_text = text;
        *ret_size = size;
        lines->number++;
        consume(lines, lines->is_torn ? size : size + 1);
        return LINES_LINE;
}

LinesResult lines_next(Lines *lines, const char **ret_text, size_t *ret_size) {
        const char *end;
        size_t size;

        if (lines->is_passing_over && !pass_over(lines))
                return LINES_MORE;
        end = find_end(lines);
        size = lines->searched - lines->at;
        if (size > lines->bytes_max)
                return begin_to_pass_over(lines);
        if (!end && !lines->is_ended)
                return LINES_MORE;
        if (!end && size == 0)
                return LINES_ENDED;
        return hand_out(lines, size, ret_text, ret_size);
}

uint64_t lines_number(const Lines *lines) {
        return lines->number;
}

uint64_t lines_consumed(const Lines *lines) {
        return lines->consumed;
}

bool lines_is_torn(const Lines *lines) {
        return lines->is_torn;
}
