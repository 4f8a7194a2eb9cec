/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon-gate: what a manager starts inside the unit. Its standard input is the channel; its arguments (the id and the
 * launcher) are for people and for the sweep, it does not read them. */

#include <unistd.h>

#include "child.h"

int main(void) {
        return gate_child_run(STDIN_FILENO);
}
