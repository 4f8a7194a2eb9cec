/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A new root directory, mounted on top of the old one and filled from it, until it takes its place. In a mount namespace
 * of our own. Libc alone. */

#include <stdbool.h>

#include "units/step.h"

/* Opens on the first mount at "/". −1: there is none yet. */
typedef struct {
        int root;
} Mounts;

/* Each takes one step of its name; false with errno. */

bool mounts_slave(void);
bool mounts_tmpfs(Mounts *mounts, const char *target, const char *options, uint32_t flags);
bool mounts_bind(Mounts *mounts, const char *source, const char *target, uint32_t flags);
bool mounts_read_only(Mounts *mounts, const char *target, uint32_t flags);
bool mounts_seal(Mounts *mounts, const char *target, uint32_t flags);
bool mounts_link(Mounts *mounts, const char *source, const char *target);
bool mounts_terminals(Mounts *mounts, const char *source, const char *target, uint32_t flags);
bool mounts_root(Mounts *mounts);
