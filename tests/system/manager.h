/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The manager under test, asked without cordon: directly over its own socket. A private manager that is not running
 * has no units. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where its socket is, and where cordon keeps things about it. */
GPtrArray *manager_runtime_dirs(void);

/* Where the files of transient units are, as we get to see them: a private manager's are in a file system that its mount
 * namespace alone has. */
GPtrArray *manager_transient_dirs(void);

/* Of a private manager there may be several on a machine, one for each kind of caller. From now on the one that
 * started this control group is meant, where it says so. */
void manager_learn(const char *control_group);
void manager_forget(void);

/* Names of the units that are loaded and match one of the patterns. */
GPtrArray *manager_units(const char *const *patterns);

pid_t manager_pid(const char *unit);      /* the manager that has it; 0: none */
pid_t manager_main_pid(const char *unit); /* 0: no such unit, or no process */
char *manager_control_group(const char *unit);
bool manager_stop_unit(const char *unit);
bool manager_kill_unit(const char *unit, int signal); /* all of its processes */
bool manager_limit_memory(const char *slice, uint64_t bytes);

/* Where it looks for units that are gone with the next boot. */
char *manager_unit_dir(void);

/* Returns when it answers again. */
bool manager_reload(void);
bool manager_reexecute(void);
/* NULL: it can; else why not, fit for a skip. */
const char *manager_cannot_reexecute(void);
