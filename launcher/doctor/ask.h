/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is tried: each limit and each isolation option in the words of a cordon run, with a value that harms nobody. New
 * rows of the tables come along by themselves: a limit's value is found by its unit, an option without a row here is a
 * flag. */

#include <glib.h>
#include <stdbool.h>

#include "units/isolation.h"
#include "units/limit.h"

typedef struct {
        const char *cpu;       /* a list with one that we may use */
        const char *pool;      /* a name that nobody else has */
        const char *directory; /* of our own, with a directory in it for each of ask_places */
} AskWorld;

/* Names; NULL ends it. */
const char *ask_place(size_t index);

/* Puts words into the list, of char*. */
void ask_limit(const AskWorld *world, Limit limit, GPtrArray *words);

/* Options of isolation: Isolation n is number n; behind them come other values of the same. */
unsigned ask_option_count(void);
const char *ask_key(unsigned option); /* of the report */
const char *ask_by(unsigned option);  /* the property that carries it */
void ask_option(const AskWorld *world, unsigned option, GPtrArray *words);
bool ask_is_apart(unsigned option); /* it is not tried together with others */

/* What "doctor" answers for with its exit status. */
bool ask_is_decisive(unsigned option);
