/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Options, the caller's environment and defaults → the spec of a run. The last stop before units/. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/options.h"
#include "units/spec.h"

/* What can be said of the run even when the options are wrong: a record needs it. */
Spec *request_spec(const Options *options, char *const *environment);

/* The rest, which can be refused: users and groups that must exist. */
bool request_complete(const Options *options, char **directory, Spec *spec,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The names of the caller's variables that the program does not get, because they describe the caller's own unit. NULL:
 * none, or nobody wanted any of them. */
char *request_lost_variables(const Options *options, const Spec *spec, char *const *callers);
