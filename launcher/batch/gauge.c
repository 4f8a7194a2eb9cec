/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* With so many under way, of which each takes so long, the manager does bound / mean starts a second (Little's law). Of
 * each bound it is remembered what came of it, over rounds of starts; one more must do better, and one less is taken
 * where it does as well. What lies beside the bound is tried, and forgotten after a while, for machines change. */

#include "gauge.h"

#define STARTS_A_ROUND(bound) (3 * (bound))
#define ROUNDS_KNOWN          16
#define BETTER                1.06
#define AS_GOOD               0.95 /* less than 1 / BETTER: no going to and fro */
#define WEIGHT                0.4  /* of the last round */

bool gauge_has_room(const Gauge *gauge) {
        return gauge->under_way < gauge->bound;
}

void gauge_begin(Gauge *gauge) {
        gauge->under_way++;
}

void gauge_drop(Gauge *gauge) {
        gauge->under_way--;
}

static void note_rate(Gauge *gauge) {
        double rate = gauge->bound * (gauge->starts / gauge->took_usec) * 1e6;
        double *known = &gauge->rates[gauge->bound];

        *known += (rate - *known) * (*known > 0 ? WEIGHT : 1);
        gauge->starts = 0;
        gauge->took_usec = 0;
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

        if (more > rate * BETTER)
                gauge->bound++;
        else if (less > rate * AS_GOOD)
                gauge->bound--;
        else if (more == 0)
                gauge->bound++;
        else if (less == 0)
                gauge->bound--;
}

void gauge_end(Gauge *gauge, uint64_t took_usec) {
        bool was_full = !gauge_has_room(gauge);

        gauge->under_way--;
        if (!was_full) /* then the bound was not what bounds */
                return;
        gauge->took_usec += (double)(took_usec > 0 ? took_usec : 1);
        if (++gauge->starts < STARTS_A_ROUND(gauge->bound))
                return;
        note_rate(gauge);
        adapt(gauge);
}
