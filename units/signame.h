/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Signal numbers → names, on every C library, without asking it. */

#include <glib.h>
#include <stdbool.h>

/* "SIGKILL", "SIGRTMIN+3", or "signal 99" for what has no name. Owned by the caller. */
char *signame(int signal);

/* "KILL" or "SIGKILL", any case, or a number: the other way round. */
bool signame_parse(const char *text, int *ret_signal);
