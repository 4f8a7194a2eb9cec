/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a private manager leaves to be seen from outside: who keeps it, who it is, what it has made; and waiting for
 * the end of any of them. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* An emulated machine under load takes its time. */
#define TRACES_END_MSEC 60000

/* Who has the `alive` lock: 0 when nobody. */
pid_t keeper_of(const char *dir);
/* Who listens on the manager's socket: 0 when nobody. */
pid_t manager_of(const char *dir);
int connect_to(const char *dir, const char *name, int type);

GArray *children_of(pid_t pid);
/* The keeper's child that is not the manager. */
pid_t undertaker_of(const char *dir);

int process_open(pid_t pid);
bool process_kill(int fd);
/* Closes the descriptor. One that was never there has ended. */
bool process_ends(int fd);
bool hold_ends(int fd);

/* Also from under the name that it bears while it is removed. */
bool directory_goes(const char *dir);

char *mounts_now(void);
void nothing_is_left(const char *dir, const char *mounts, const char *when);
