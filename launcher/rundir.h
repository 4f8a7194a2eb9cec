/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Directories that we need while we live; those of a run are in one that is ours alone, the guard's. Each is called
 * KIND-UID-PID-STARTTIME-ID after its launcher, so that whoever finds one knows whether somebody still needs it. */

#include <glib.h>
#include <sys/types.h>

#define RUNDIR_PINS "net"
#define RUNDIR_ROOT "root"

/* Makes one, and the base where that is missing; and removes those that launchers and guards left that were killed
 * together. NULL: an error. */
char *rundir_make(const char *base, const char *kind, const char *id, mode_t mode,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Likewise in a directory that is everybody's, as /tmp: the name has something in it that cannot be guessed, and only
 * what is ours is removed. */
char *rundir_make_temporary(const char *base, const char *kind,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* With all that is in it, but not what is mounted there. NULL does nothing. */
void rundir_remove(const char *directory);

/* Those of a launcher ("UID:PID:STARTTIME") that vanished. */
void rundir_remove_of(const char *base, const char *owner, const char *id);
