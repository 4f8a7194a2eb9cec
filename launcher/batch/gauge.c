/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of each bound it is remembered how many starts a second came of it, over rounds of starts; one more must do
 * better, and one less is taken where it does as well. What lies beside the bound is tried, and forgotten after a while, for machines
 * change. What a start takes says too little: the manager ends units as well, and where it is flooded with starts it is
 * those that wait. */

#include "gauge.h"

#define STARTS_A_ROUND(bound) (8 + 4 * (bound))
#define ROUNDS_KNOWN          16
/* What one more has to bring, where a manager with time to spare would do 1 + 1 / bound: less than what rounds differ by
 * without a cause, and not so much that isolated programs, whose starts wait for each other less, stay at the least. */
#define BETTER(bound)         (1 + 0.15 / (bound))
#define WEIGHT                0.4 /* of the last round */

bool gauge_has_room(const Gauge *gauge) {
        return gauge->under_way < gauge->bound;
}

void gauge_begin(Gauge *gauge) {
        gauge->under_way++;
}

void gauge_drop(Gauge *gauge) {
        gauge->under_way--;
}

static void note_rate(Gauge *gauge, uint64_t usec) {
        double rate = 1e6 * gauge->starts / (double)(usec > 0 ? usec : 1);
        double *known = &gauge->rates[gauge->bound];

        *known += (rate - *known) * (*known > 0 ? WEIGHT : 1);
        if (++gauge->rounds % ROUNDS_KNOWN != 0)
                return;
        for (unsigned i = 0; i <= GAUGE_MAX; i++)
                if (i != gauge->bound)
                        gauge->rates[i] = 0;
}

/* What is known counts before what is not. */
static void adapt(Gauge *gauge) {
        unsigned bound = gauge->bound;
        double rate = gauge->rates[bound];
        double more = bound < GAUGE_MAX ? gauge->rates[bound + 1] : -1;
        double less = bound > GAUGE_MIN ? gauge->rates[bound - 1] : -1;

        if (more > rate * BETTER(bound))
                gauge->bound++;
        else if (less * BETTER(bound - 1) > rate)
                gauge->bound--;
        else if (more == 0)
                gauge->bound++;
        else if (less == 0)
                gauge->bound--;
}

static void begin_round(Gauge *gauge, uint64_t now_usec) {
        gauge->since_usec = now_usec;
        gauge->starts = gauge->pressed = 0;
}

void gauge_end(Gauge *gauge, uint64_t now_usec) {
        bool was_full = !gauge_has_room(gauge);

        gauge->under_way--;
        if (gauge->since_usec == 0) {
                begin_round(gauge, now_usec);
                return;
        }
        gauge->pressed += was_full;
        if (++gauge->starts < STARTS_A_ROUND(gauge->bound))
                return;
        if (2 * gauge->pressed > gauge->starts) { /* else the bound was not what bounds */
                note_rate(gauge, now_usec - gauge->since_usec);
                adapt(gauge);
        }
        begin_round(gauge, now_usec);
}
