/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The files that stand inside in place of /etc/hosts, /etc/nsswitch.conf and /etc/resolv.conf. They are needed until the
 * unit has its mounts: then a mount holds them, and their names can go. */

#include <glib.h>
#include <stdbool.h>

#include "units/isolation.h"

/* Makes them in a directory of their own (launcher/rundir) below the base, and says in set->allow what lies over what.
 * *ret_directory, for rundir_remove() once the program runs, or will never do: NULL: nothing was asked for. */
bool pins_make(const IsolationSet *set, const char *base, const char *id, char **ret_directory,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;
