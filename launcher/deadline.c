/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* sd-event rounds timers up to a quarter of a second to save power unless it is told how exact they are to be,
 * and counts a relative one from when the loop woke up, which may be long ago. */

#include "deadline.h"

#include <time.h>

#define ACCURACY_USEC 1000
#define LOOK_MIN_USEC 4000 /* the kernel's own counters move once a tick */

void deadline_arm(sd_event *event, sd_event_source **timer, uint64_t usec_from_now,
                  sd_event_time_handler_t handler, void *userdata) {
        uint64_t now = (uint64_t)g_get_monotonic_time();
        int r;

        deadline_disarm(timer);
        r = sd_event_add_time(event, timer, CLOCK_MONOTONIC, now + usec_from_now, ACCURACY_USEC,
                              handler, userdata);
        g_assert(r >= 0);
}

void deadline_disarm(sd_event_source **timer) {
        *timer = sd_event_source_disable_unref(*timer);
}

uint64_t deadline_next_look_usec(uint64_t budget_usec, uint64_t used_usec, uint64_t cpus) {
        uint64_t left = budget_usec > used_usec ? budget_usec - used_usec : 0;

        return MAX(left / MAX(cpus, 1), LOOK_MIN_USEC);
}
