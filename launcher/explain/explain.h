/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --explain: says what each option does on this machine, and runs nothing. */

#include "launcher/errand.h"
#include "launcher/options.h"

/* Prints it. Returns the exit status: 0, or that of the run where it would be refused. The errand is prepared. */
int explain(const Options *options, Errand *errand);
