/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The resource limits under which the private manager and its keeper run: not those that the caller set for the
 * program (the gate gives that one the caller's back). Safe between fork and exec. */

#include <stdint.h>

/* Soft limits up to the hard ones, and the hard ones out of the way where we may. */
void headroom_make(void);

typedef struct {
        int resource;
        const char *option; /* of the shell's ulimit */
        const char *what;
        uint64_t least, unit; /* unit: in which ulimit counts */
} Headroom;

/* The limit that leaves too little for a manager to start; NULL: there is none. */
const Headroom *headroom_lack(uint64_t *ret_hard);
