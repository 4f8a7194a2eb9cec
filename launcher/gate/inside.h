/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Paths in a file system that is not / yet: a symbolic link in there, absolute or not, never leads out of it. Libc
 * alone. */

#include <stdbool.h>

/* For its path only (O_PATH); −1 with errno. */
int inside_open(int root, const char *path);

/* Makes it, an empty file or directory, and the directories above that are missing. */
int inside_make(int root, const char *path, bool is_directory);

/* A symbolic link, where nothing is yet. */
bool inside_link(int root, const char *path, const char *says);
