/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two reasons for a look. The file system has lost as much as may still be written: then the limit may be passed, and a
 * look is made at once. Or the last one is long ago: the loss may be hidden by somebody who frees space elsewhere, and
 * some file systems tell late. Each reason has one hundredth of a CPU: for the second by the pause after a look, for the
 * first by a credit that grows with time, because others may write to the same file system all day long. No pause is longer
 * than some seconds, whatever it costs. */

#include "diskpace.h"

#include <glib.h>

#define SHARE          100 /* one part in that many of a CPU */
#define WALL_SHARE     10  /* a slow file system has others to serve, too */
#define PAUSE_MIN_USEC (250 * 1000)
#define PAUSE_MAX_USEC \
        (15 * 1000 * 1000) /* whoever makes a look dear shall not have the time to use it */
#define CREDIT_MIN_USEC (250 * 1000)
#define POLL_MIN_USEC   (50 * 1000)
#define POLL_MAX_USEC   (500 * 1000)
#define BYTES_PER_USEC  4096 /* nobody writes faster */
#define LOSS_MIN_BYTES \
        (UINT64_C(4) << 20) /* less is noise; the pause is short where a look is cheap */

static uint64_t pause_usec(const DiskPace *pace) {
        uint64_t pause = MAX(pace->cpu_usec * SHARE, pace->wall_usec * WALL_SHARE);

        return CLAMP(pause, PAUSE_MIN_USEC, PAUSE_MAX_USEC);
}

static uint64_t left_bytes(const DiskPace *pace) {
        return pace->limit_bytes > pace->growth_bytes ? pace->limit_bytes - pace->growth_bytes : 0;
}

/* Two looks can always be saved for, however dear they are. */
static uint64_t most_credit_usec(const DiskPace *pace) {
        return MAX(CREDIT_MIN_USEC, 2 * pace->cpu_usec);
}

static void earn(DiskPace *pace, uint64_t now_usec) {
        uint64_t earned = (now_usec - pace->credited_usec) / SHARE;

        pace->credit_usec = MIN(pace->credit_usec + earned, most_credit_usec(pace));
        pace->credited_usec += earned * SHARE;
}

static bool may_be_full(const DiskPace *pace) {
        return pace->is_partial || pace->loss_bytes > MAX(left_bytes(pace), LOSS_MIN_BYTES);
}

bool disk_pace_is_due(DiskPace *pace, uint64_t now_usec, uint64_t free_bytes) {
        bool is_long_ago = now_usec >= pace->looked_usec + pause_usec(pace);

        earn(pace, now_usec);
        pace->free_bytes = MAX(pace->free_bytes, free_bytes);
        pace->loss_bytes = pace->free_bytes - free_bytes;
        if (is_long_ago)
                return true;
        if (!may_be_full(pace) || pace->credit_usec < pace->cpu_usec)
                return false;
        pace->credit_usec -= pace->cpu_usec;
        return true;
}

void disk_pace_note(DiskPace *pace, uint64_t now_usec, const DiskLook *look) {
        pace->growth_bytes = look->growth_bytes;
        pace->free_bytes = look->free_bytes;
        pace->loss_bytes = 0;
        pace->looked_usec = now_usec;
        pace->cpu_usec = look->cpu_usec;
        pace->wall_usec = look->wall_usec;
        pace->is_partial = look->is_partial;
}

void disk_pace_begin(DiskPace *pace, uint64_t limit_bytes, uint64_t now_usec,
                     const DiskLook *first) {
        *pace = (DiskPace){
                .limit_bytes = limit_bytes,
                .credited_usec = now_usec,
        };
        disk_pace_note(pace, now_usec, first);
        pace->credit_usec = most_credit_usec(pace);
}

uint64_t disk_pace_wait_usec(const DiskPace *pace, uint64_t now_usec) {
        uint64_t due = pace->looked_usec + pause_usec(pace);
        uint64_t until_due = due > now_usec ? due - now_usec : 0;
        uint64_t left = left_bytes(pace) - MIN(left_bytes(pace), pace->loss_bytes);
        uint64_t poll = CLAMP(left / BYTES_PER_USEC, POLL_MIN_USEC, POLL_MAX_USEC);

        return MIN(poll, MAX(until_due, POLL_MIN_USEC));
}
