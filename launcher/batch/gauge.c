/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of each bound it is remembered how many starts a second came of it, over rounds of starts in which the bound was what
 * bounded. One more must do better, and one less is taken where it does as well. What lies beside the bound is tried, and
 * forgotten after a while, for machines change. What a start takes says too little: the manager ends units as well, and
 * where it is flooded with starts it is those that wait. */

#include "gauge.h"

#define STARTS_A_ROUND(bound) (8 + 4 * (bound))
#define ROUNDS_KNOWN          16
#define PAUSE_USEC            (20 * 1000) /* nobody asked for a start: more than a turn of the loop takes */
#define WEIGHT                0.4         /* of the last round */

/* What one more has to bring, where a manager with time to spare would do 1 + 1 / bound. Rounds differ by more than that without
 * a cause, but a share that hides it (0.5) left isolated programs at the least, which do best with four. */
#define BETTER(bound) (1 + 0.15 / (bound))

void gauge_init(Gauge *gauge, unsigned parallel) {
        unsigned most = parallel < GAUGE_MIN ? GAUGE_MIN : parallel;

        *gauge = (Gauge){ .most = most < GAUGE_MAX ? most : GAUGE_MAX };
        gauge->bound = GAUGE_BEGIN < gauge->most ? GAUGE_BEGIN : gauge->most;
}

bool gauge_has_room(const Gauge *gauge) {
        return gauge->under_way < gauge->bound;
}

/* A pause is nobody's slowness. */
void gauge_begin(Gauge *gauge, uint64_t now_usec) {
        if (gauge->under_way == 0 && now_usec > gauge->last_usec + PAUSE_USEC)
                gauge->since_usec = 0;
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
        double more = bound < gauge->most ? gauge->rates[bound + 1] : -1;
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

/* There are never so many, so it is no better than one less. */
static void step_back(Gauge *gauge) {
        double *known = &gauge->rates[gauge->bound];

        if (*known > 0 || gauge->bound == GAUGE_MIN)
                return;
        *known = gauge->rates[gauge->bound - 1];
        gauge->bound--;
}

static void begin_round(Gauge *gauge, uint64_t now_usec) {
        gauge->since_usec = now_usec;
        gauge->starts = gauge->pressed = 0;
}

void gauge_end(Gauge *gauge, uint64_t now_usec) {
        bool was_full = !gauge_has_room(gauge);

        gauge->under_way--;
        gauge->last_usec = now_usec;
        if (gauge->since_usec == 0) {
                begin_round(gauge, now_usec);
                return;
        }
        gauge->pressed += was_full;
        if (++gauge->starts < STARTS_A_ROUND(gauge->bound))
                return;
        if (2 * gauge->pressed > gauge->starts) {
                note_rate(gauge, now_usec - gauge->since_usec);
                adapt(gauge);
        } else {
                step_back(gauge);
        }
        begin_round(gauge, now_usec);
}
