/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* `systemd --user` starts only where /run/systemd/system exists. Where it does not, the keeper and the
 * manager get a mount namespace in which it does, until the manager runs; nothing is ever made on the
 * machine itself. */

#include <glib.h>
#include <stdbool.h>

typedef struct {
        char *cover; /* what is covered in our mount namespace; NULL where nothing had to be */
        int log_fd;  /* stands in for the journal there; −1 where nothing had to be covered */
} World;

#define WORLD_INIT ((World){ .log_fd = -1 })

bool world_make(const char *runtime_dir, World *ret_world, GError **error);

/* Takes the cover away: programs started later see the machine as their caller does. */
void world_uncover(World *world);

void world_clear(World *world);
