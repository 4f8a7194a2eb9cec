/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files that stand inside in place of /etc/hosts, /etc/nsswitch.conf and /etc/resolv.conf. They are needed until the
 * unit has its mounts: then a mount holds them, and their names can go. */

#include <glib.h>
#include <stdbool.h>

#include "units/isolation.h"

/* Makes them in a directory of their own below a directory that is ours alone (it is made where it is missing), and says in
 * set->allow what lies over what. *ret_directory NULL: nothing was asked for. */
bool pins_make(const IsolationSet *set, const char *base, const char *id, char **ret_directory,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Once the program runs, or will never do. NULL does nothing. */
void pins_remove(const char *directory);

/* Those of a launcher ("UID:PID:STARTTIME") that vanished. */
void pins_remove_of(const char *base, const char *owner, const char *id);
