/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The options that cordon batch has and no other verb: rows of the option table that fill BatchChoices. */

#include "launcher/options.h"

const OptionInfo *choices_at(size_t index); /* NULL: no more */
size_t choices_count(void);

/* The word among the options: the file with the jobs. */
bool choices_take_file(Options *options, const char *word,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As many at a time as CPUs may be used, where nothing was said. */
uint64_t choices_parallel(const BatchChoices *choices);
/* Bit n: Outcome n. */
unsigned choices_retry_on(const BatchChoices *choices);
