/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Only what is permitted can be reached from here on: files and directories, by Landlock. Libc alone. */

#include <stdbool.h>
#include <stdint.h>

#include "units/step.h"

/* What an interface of that version can forbid: all of it is. 0: too old to keep anything from being written. */
uint64_t landlock_rights(int version);

/* Needs no-new-privs. On failure the permit that it was about, or their number, and errno: ENOSYS or EOPNOTSUPP where there
 * is no Landlock that would do. */
bool landlock_close(const Step *permits, uint32_t count, const char *texts, uint32_t *ret_failed);
