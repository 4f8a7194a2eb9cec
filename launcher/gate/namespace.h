/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The namespaces of this process. Both sides of a start read their own and the launcher compares them, so that it is
 * one piece of code; libc alone, because the gate has no more. */

#include <stdint.h>

#include "protocol.h"

/* Nobody is in it yet; not every kernel tells which it will be. */
#define NAMESPACE_UNBORN UINT64_MAX

/* Inodes of /proc/self/ns/…; 0: cannot be seen. */
void namespace_read(uint64_t ret_namespaces[_GATE_NS_MAX]);

/* Those that a child of ours would be born into: after unshare(2) of pids or of time they are others than our own. */
void namespace_read_for_child(uint64_t ret_namespaces[_GATE_NS_MAX]);
