/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How many starts may be under way at a time, between asking the manager and the program's exec: the manager does them
 * one after the other and gets slower, not faster, when flooded. The bound follows what comes of it. Pure: it is told
 * what happens and when. */

#include <stdbool.h>
#include <stdint.h>

#define GAUGE_MIN   2
#define GAUGE_MAX   16
#define GAUGE_BEGIN 3

typedef struct {
        unsigned most;       /* the bound is no more than this */
        unsigned bound;      /* of what is under way */
        unsigned under_way;  /* now */
        uint64_t since_usec; /* the round's beginning; 0: there is none */
        uint64_t last_usec;  /* when the last of it ended */
        unsigned starts;     /* of this round */
        unsigned pressed;    /* of those, when there was no room for more */
        unsigned rounds;
        double rates[GAUGE_MAX + 1]; /* starts a second by bound; 0: not known */
} Gauge;

void gauge_init(Gauge *gauge, unsigned parallel); /* jobs at a time, most of all */
bool gauge_has_room(const Gauge *gauge);
void gauge_begin(Gauge *gauge, uint64_t now_usec);
void gauge_end(Gauge *gauge, uint64_t now_usec); /* it was executed */
void gauge_drop(Gauge *gauge);                   /* it never was, which says nothing */
