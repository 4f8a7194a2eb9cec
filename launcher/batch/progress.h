/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The line on standard error that says how it goes, where somebody looks at it. It is drawn over itself, wiped before
 * anything else is written to that terminal, and left out while nobody takes it. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Progress Progress;

/* What the line is to say, at most so wide; owned by the caller. */
typedef char *(*ProgressText)(void *userdata, size_t width);

/* Where it is no terminal, it is a new line each time, and less often. */
Progress *progress_new(sd_event *event, int fd, ProgressText text, void *userdata);
void progress_free(Progress *progress); /* NULL is fine; wipes it */
void progress_wipe(Progress *progress); /* until the next time */
