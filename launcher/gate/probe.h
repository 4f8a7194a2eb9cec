/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Is the program's network closed where it is to be? Tried from inside, in the cgroup and under the seccomp filter that
 * the program will have. */

#include "protocol.h"

/* Does nothing where nothing is to be tried. */
void probe_network(const GateRequest *request, GateHello *hello);
