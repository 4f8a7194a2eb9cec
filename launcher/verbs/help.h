/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --help of the verbs: the options, and behind them how values are written, examples, and the exit statuses. */

#include <stdio.h>

void help_print_run(FILE *stream);
void help_print_shell(FILE *stream);
void help_print_batch(FILE *stream);
void help_print_profile(FILE *stream);
void help_print_doctor(FILE *stream);
