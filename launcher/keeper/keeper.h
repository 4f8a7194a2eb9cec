/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The life of a private manager: made, watched while somebody uses it, cleared away. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "ground.h"
#include "launcher/manager/runtime.h"
#include "manager.h"
#include "visitors.h"
#include "world.h"

typedef struct {
        RuntimeDir dir;
        char *record_path; /* where it is written down what was made in the cgroup tree */
        int alive_fd;      /* its record lock says that we live */
        int signal_fd;
        int watch_fd; /* tells when the directory is moved or removed under us */
        World world;
        Ground *ground;
        Manager manager;
        pid_t undertaker; /* ends all of it should we be killed */
        Visitors visitors;
        bool is_owner; /* the directory and what its record names are ours to remove */
} Keeper;

#define KEEPER_INIT                         \
        ((Keeper){ .dir = RUNTIME_DIR_INIT, \
                   .alive_fd = -1,          \
                   .signal_fd = -1,         \
                   .watch_fd = -1,          \
                   .world = WORLD_INIT,     \
                   .manager = MANAGER_INIT, \
                   .undertaker = -1,        \
                   .visitors = VISITORS_INIT })

/* Takes over the directory from the starter, and clears what an earlier keeper left. */
bool keeper_open(const char *runtime_dir, int dir_fd, Keeper *keeper, GError **error);
bool keeper_make(Keeper *keeper, GError **error);

/* From here on launchers may come. Lets go of the lock that means "being started". */
bool keeper_listen(Keeper *keeper, int first_fd, uint64_t idle_usec, GError **error);

/* Until nobody has used it for the idle time, the manager has ended, or we are told to end. */
void keeper_run(Keeper *keeper);

void keeper_leave(Keeper *keeper);

void keeper_clear(Keeper *keeper);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Keeper, keeper_clear)
