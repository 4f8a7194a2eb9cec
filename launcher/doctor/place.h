/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Directories of our own, empty, for options that name one. */

#include <glib.h>

/* The one that holds them; and removes those of doctors that were killed. */
char *place_make(GError **error);
void place_remove(const char *directory);
