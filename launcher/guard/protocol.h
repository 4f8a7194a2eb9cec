/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What launcher and guard say to each other over SOCK_SEQPACKET: words with a blank between them. A launcher is a process,
 * with one connection for all of its runs.
 *
 *   watch OWNER ID…   from the launcher: it names itself and runs of its own
 *   ok ID…            from the guard: it watches these
 *   relay             from the launcher, with one end of a socket pair: over this it speaks to the manager, by the guard
 *   done ID…          from the launcher: of these there is nothing left to end; without any: of none
 *   clear ID SLICE UNIT
 *                     from the launcher: it has ended, and only these units of it are left, for the guard to stop
 *   end OWNER ID…     from the launcher: it does not care for these any more, and something may be left
 *   who               from the guard: name yourself and all of your runs again; of one that was restarted with the
 *                     connection it had at first
 *
 * End of file is a launcher that vanished, and ends all that it has named and not done with. The number is part of the
 * socket's and the unit's name: launchers of another protocol talk to a guard of their own. */

#include "units/name.h"

#ifndef GUARD_PROTOCOL /* a test builds a launcher with another one */
#define GUARD_PROTOCOL 3
#endif
#define GUARD_WATCH       "watch"
#define GUARD_OK          "ok"
#define GUARD_RELAY       "relay"
#define GUARD_DONE        "done"
#define GUARD_CLEAR       "clear"
#define GUARD_END         "end"
#define GUARD_WHO         "who"
#define GUARD_MESSAGE_MAX 4096
/* So many ids fit into one message, beside its verb and an owner. */
#define GUARD_IDS_MAX     48

_Static_assert(GUARD_IDS_MAX *(NAME_ID_MAX + 1) + 64 < GUARD_MESSAGE_MAX, "a message has room");

/* How long a guard without launchers stays, so that runs in a row share one. */
#define GUARD_LINGER_USEC (500 * 1000)
