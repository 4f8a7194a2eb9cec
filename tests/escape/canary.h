/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A process of the caller's that has nothing to do with the run. It has a secret in its memory, its environment, its
 * arguments and an open file. The stage knows it as "NAME" (its number) and "NAME-address". */

#include <stdbool.h>
#include <sys/types.h>

#define CANARY_FD 5

typedef struct {
        pid_t pid;
        unsigned long address;
        int pidfd;
} Canary;

Canary canary_start(const char *name);
void canary_end(Canary *canary);

bool canary_is_dead(const Canary *canary); /* waits for a moment */
/* What stands behind "FIELD:" in its status, or in the line of its limits. */
char *canary_status(const Canary *canary, const char *file, const char *field);
char *canary_memory(const Canary *canary);
