/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files of the kernel: small, made as they are read, of no size that stat(2) could tell. */

#include <glib.h>

/* All of it. A directory below zero has no files, but AT_FDCWD. NULL: it cannot be read; errno says why. */
char *file_read_text(int dir, const char *path);
