/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each option does on this machine: data alone, for lines.h and object.h to put into words and JSON. A clause is an
 * option with a value, as far as it holds: those that were said, and those that come with them. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/errand.h"
#include "launcher/kernel/machine.h"
#include "launcher/options.h"
#include "rehearsal.h"

typedef enum {
        STANDING_NONE,     /* nothing that could be in force or not */
        STANDING_OWN,      /* cordon alone sees to it: nothing has to be tried */
        STANDING_HOLDS,    /* tried: it was in force */
        STANDING_STAND_IN, /* tried: --best-effort has something weaker in its place */
        STANDING_REFUSED,  /* tried: a run is refused for it, or with --best-effort goes without */
        STANDING_UNTRIED,  /* something else came in between */
        _STANDING_MAX,
} Standing;

typedef struct {
        const char *key;    /* of the option; static, as the next, by and in */
        const char *origin; /* what it came with; NULL: it was asked for */
        char *said;         /* "--memory", or what the giver calls it */
        char *value;        /* NULL: it takes none */
        char *words;        /* what it does */
        char *how;          /* … and how it is enforced, or who sees to it */
        const char *by;     /* the property, or what is there in its place; NULL: cordon alone */
        const char *in;     /* the kernel's file; NULL: none */
        char *effective;    /* what was found in force; NULL: it cannot be told */
        Standing standing;
        char *code, *reason; /* as a run is refused for it; NULL: it is not */
        unsigned residuals;  /* bit n: UntrustedResidual n is left open */
} Clause;

typedef struct {
        const Options *options; /* borrowed, as the next three */
        const Spec *spec;
        const Machine *machine;
        const Rehearsal *rehearsal;
        char *unit, *slice; /* names; NULL: they will be made up */
        char *pool;         /* its slice; NULL: none */
        GPtrArray *clauses; /* of Clause*, in the order of the help */
} Explanation;

void explanation_init(Explanation *explanation, const Options *options, const Spec *spec,
                      const Machine *machine, const Rehearsal *rehearsal);
void explanation_clear(Explanation *explanation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Explanation, explanation_clear)

/* A new one, at the end: the option of that name, with a value of its own or NULL. */
Clause *explanation_add(Explanation *explanation, const char *key, char *value);

/* The clauses of limits and isolation, from their tables. */
void explanation_add_limits(Explanation *explanation);
void explanation_add_isolation(Explanation *explanation);

/* Of all other options; what is said of one is a row of its own. */
void explanation_add_world(Explanation *explanation);
bool explanation_has_row(const char *key);

/* "in force here", where the run goes on without it or not; and for scripts. */
const char *standing_words(Standing standing, bool goes_on);
const char *standing_word(Standing standing);
