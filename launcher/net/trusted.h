/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file that decides what opens: it must be root's or the caller's, and nobody else's to write. */

#include <glib.h>
#include <stdbool.h>

/* *ret_text NULL: there is no such file. False: there is one that must not be used, and the message says why. */
bool trusted_read(const char *path, char **ret_text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
