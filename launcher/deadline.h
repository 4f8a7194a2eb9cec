/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Small timers on the loop, and the look-ahead of a CPU-time budget. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)

/* Puts a one-shot timer into *timer, replacing what is there. The loop may be a millisecond late, not more. */
void deadline_arm(sd_event *event, sd_event_source **timer, uint64_t usec_from_now,
                  sd_event_time_handler_t handler, void *userdata);
void deadline_disarm(sd_event_source **timer);

/* When a tree that has used `used` of `budget` can have used it up at the earliest, on `cpus` CPUs. Never 0: a look
 * costs something too. */
uint64_t deadline_next_look_usec(uint64_t budget_usec, uint64_t used_usec, uint64_t cpus);
