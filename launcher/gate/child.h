/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The child's side of a start: from a socket to the program. The same code in the static program inside a service and
 * in a fork of our own. No GLib, no allocation to speak of: it runs under the program's limits. */

/* Returns only when the program was not executed; the value is the exit status to end with. */
int gate_child_run(int channel);
