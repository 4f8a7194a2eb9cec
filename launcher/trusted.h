/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A file that decides what is open to a program and what bounds it: it must be root's or the caller's, and nobody else's
 * to write; a file, and of no more than 1M. */

#include <glib.h>
#include <stdbool.h>

/* *ret_text NULL: there is no such file. False: there is one that must not be used, and the message says which and why. */
bool trusted_read(const char *path, char **ret_text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One that lies beside our program: who could change it could change the program as well, so whose it is does not matter. */
bool trusted_read_ours(const char *path, char **ret_text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
