/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* cordon run --help: the options, and behind them how values are written, examples, and the exit statuses. */

#include <stdio.h>

void help_print_run(FILE *stream);
