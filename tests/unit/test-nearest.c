/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Slips and what was meant; what is too far from everything has no answer. */

#include <glib.h>
#include <tap.h>

#include "units/nearest.h"

static const char *const words[] = { "run",    "shell",   "batch", "doctor", "memory",
                                     "--help", "timeout", "tree",  "main",   NULL };

static const struct {
        const char *written, *meant; /* NULL: nothing is near */
} slips[] = {
        { "rn", "run" },          /* one is missing */
        { "runn", "run" },        /* one too many */
        { "rin", "run" },         /* another one */
        { "rnu", "run" },         /* two changed places */
        { "ujn", NULL },          /* two wrong ones of three */
        { "tere", "tree" },       /* in the middle */
        { "rtere", "tree" },      /* two in a longer word */
        { "memroy", "memory" },   /* likewise */
        { "emmroy", "memory" },   /* twice */
        { "TIMEOUT", "timeout" }, /* case counts for nothing */
        { "timotu", "timeout" },  /* one missing, two changed places */
        { "tmoitu", NULL },       /* too much */
        { "", NULL },             /* nothing at all */
        { "doctors-of-philosophy-who-work-with-words-that-are-longer-than-any-of-ours", NULL },
};

int main(void) {
        plan(NO_PLAN);
        for (size_t i = 0; i < G_N_ELEMENTS(slips); i++) {
                Nearest nearest = nearest_to(slips[i].written);

                for (size_t j = 0; words[j]; j++)
                        nearest_offer(&nearest, words[j]);
                is(nearest.best ? nearest.best : "", slips[i].meant ? slips[i].meant : "",
                   "\"%s\" is meant to be \"%s\"", slips[i].written,
                   slips[i].meant ? slips[i].meant : "");
        }

        char *meant = nearest_of("mian", words), *nothing = nearest_of("quux", words),
             *no_words = nearest_of("main", NULL);

        is(meant, " (did you mean main?)", "for a message");
        is(nothing, "", "or nothing");
        is(no_words, "", "as where there are no words");
        g_free(meant);
        g_free(nothing);
        g_free(no_words);
        done_testing();
}
