/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When to look at the workspace again: soon enough for the limit, seldom enough for the machine. Pure: it is told the
 * time, the free space of the file system and what a look cost. */

#include <stdbool.h>
#include <stdint.h>

typedef struct {
        uint64_t limit_bytes;
        uint64_t growth_bytes;               /* at the last look */
        uint64_t free_bytes;                 /* the most there was since then */
        uint64_t loss_bytes;                 /* how much less it is now */
        uint64_t looked_usec;                /* when it was over */
        uint64_t cpu_usec, wall_usec;        /* what it took */
        bool is_partial;                     /* something was missed */
        uint64_t credit_usec, credited_usec; /* CPU time for looks that the free space asks for */
} DiskPace;

typedef struct {
        uint64_t growth_bytes;
        uint64_t free_bytes; /* before the look began */
        uint64_t cpu_usec, wall_usec;
        bool is_partial;
} DiskLook;

/* The first look is at what is there before the program. */
void disk_pace_begin(DiskPace *pace, uint64_t limit_bytes, uint64_t now_usec,
                     const DiskLook *first);
void disk_pace_note(DiskPace *pace, uint64_t now_usec, const DiskLook *look);

/* Is it time for a look? */
bool disk_pace_is_due(DiskPace *pace, uint64_t now_usec, uint64_t free_bytes);

/* How long to wait before the free space is asked for again. */
uint64_t disk_pace_wait_usec(const DiskPace *pace, uint64_t now_usec);
