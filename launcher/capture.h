/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One captured stream: a pipe whose other end the program writes to. It is always read, so that the program never waits
 * for us; what is beyond the limit is dropped, the beginning is kept. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Capture Capture;

typedef void (*CaptureHandler)(void *userdata); /* the limit was outgrown; called once */

Capture *capture_new(sd_event *event, uint64_t limit_bytes, CaptureHandler on_full, void *userdata,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Without a pipe: somebody has what the program writes, and hands it on. */
Capture *capture_new_fed(uint64_t limit_bytes, CaptureHandler on_full, void *userdata);
void capture_feed(Capture *capture, const void *data, size_t size);
void capture_free(Capture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Capture, capture_free)

int capture_error(const Capture *capture); /* errno of its file; 0: all of it is there */

void capture_drop_write_end(Capture *capture); /* once the program has it */

/* Takes what is in the pipe now and closes it. Whoever still holds the other end writes into nothing. */
void capture_finish(Capture *capture);

const GByteArray *capture_bytes(const Capture *capture);
bool capture_is_truncated(const Capture *capture);

/* The streams of one program, by descriptor. Those that are passed through are NULL. */
#define CAPTURE_STREAMS 3

typedef struct {
        Capture *streams[CAPTURE_STREAMS];
} CaptureSet;

/* Captures standard output and standard error. Whoever the program runs as may open them anew (/dev/stdout). Event NULL:
 * both are a terminal, and standard output is fed with what comes from it. Files, by descriptor, are borrowed, and what is
 * kept goes there; NULL: into memory. */
bool capture_set_open(CaptureSet *set, sd_event *event, const int *files, uint64_t limit_bytes,
                      CaptureHandler on_full, void *userdata,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* What the program gets: our pipes where there are some, else what the caller has for it. */
void capture_set_stdio(const CaptureSet *set, const int callers[CAPTURE_STREAMS],
                       int ret_stdio[CAPTURE_STREAMS]);
void capture_set_drop_write_ends(CaptureSet *set);
void capture_set_finish(CaptureSet *set);
void capture_set_clear(CaptureSet *set);
