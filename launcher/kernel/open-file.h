/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files that take space and that no walk finds: removed while somebody has them open or mapped, or in a directory that
 * cannot be read. */

#include <sys/types.h>

#include "tree.h"

/* Counts what the process has open of the tree, and the walk has not met. ROOT is the tree's path. What we may not look at
 * is not counted. */
void open_file_count(pid_t pid, const char *root, Tree *tree);
