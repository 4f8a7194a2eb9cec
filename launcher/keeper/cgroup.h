/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One directory of a cgroup hierarchy, whichever version: who is in it, ending them, removing it. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The processes in this group itself, as pid_t; 0 stands for one outside of our pid namespace. NULL
 * where there is no such group. */
GArray *cgroup_processes(const char *path);

/* Moves the calling process (pid 0) or another one. */
bool cgroup_attach(const char *path, pid_t pid);

/* Ends everything in the tree and removes it. A group that is not there is no error. */
bool cgroup_destroy(const char *path, int64_t deadline_usec);

/* Kills everything in the tree; version 2 tells whether anything is left there. */
void cgroup_kill_all(const char *path);
bool cgroup_is_populated(const char *path);

/* Kills everything in the tree but the calling process; waits for nobody. */
void cgroup_kill_others(const char *path);

/* Groups made on the way to one of ours carry a mark, so that whoever is last may remove them. */
bool cgroup_make_marked(const char *path);
void cgroup_remove_marked(const char *path);

/* Writes a line into one of the group's files: errno on failure. */
int cgroup_write(const char *path, const char *file, const char *text);
char *cgroup_read(const char *path, const char *file);
