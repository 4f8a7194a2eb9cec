/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files of the kernel: small, made as they are read, of no size that stat(2) could tell. */

#include <glib.h>

/* All of it. A directory below zero has no files, but AT_FDCWD. NULL: it cannot be read; errno says why. */
char *file_read_text(int dir, const char *path);

/* The same of one that the kernel makes in one piece, and not line by line (seq_file's single_open): nearly all but lists
 * of processes, mounts and swap areas. A read that is not filled was the last, and the end of file need not be read. */
char *file_read_record(int dir, const char *path);
