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
        const char *directory; /* of our own, with a directory in it for each of ask_places */
} AskWorld;

/* Names; NULL ends it. */
const char *ask_place(size_t index);

/* Each puts words into the list, of char*. What is asked apart is not asked together with others. */
void ask_limit(const AskWorld *world, Limit limit, GPtrArray *words);
void ask_isolation(const AskWorld *world, Isolation isolation, GPtrArray *words);
bool ask_is_apart(Isolation isolation);

/* What "doctor" answers for with its exit status. */
bool ask_is_decisive(Isolation isolation);
