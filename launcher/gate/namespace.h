/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The namespaces and the root directory of this process. Both sides of a start read their own and the launcher compares
 * them, so that it is one piece of code; libc alone, because the gate has no more. */

#include <stdint.h>

#include "protocol.h"

/* Nobody is in it yet; not every kernel tells which it will be. */
#define NAMESPACE_UNBORN UINT64_MAX

void namespace_read(GateWorld *ret_world);

/* Makes of what was read that into which a child of ours would be born: after unshare(2) of pids or of time it is another than our own. */
void namespace_read_for_child(GateWorld *world);
