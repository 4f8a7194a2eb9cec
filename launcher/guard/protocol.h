/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What launcher and guard say to each other over SOCK_SEQPACKET: the launcher names its run and itself ("ID OWNER"), the
 * guard answers "ok" once it watches; "done" from the launcher means that there is nothing left to end. End of file
 * without "done" is a launcher that vanished. "who" asks a launcher to name itself again: a guard that was restarted with
 * the connection it had at first. The number is part of the socket's and the unit's name: launchers of another protocol
 * talk to a guard of their own. */

#ifndef GUARD_PROTOCOL /* a test builds a launcher with another one */
#define GUARD_PROTOCOL 1
#endif
#define GUARD_OK          "ok"
#define GUARD_DONE        "done"
#define GUARD_WHO         "who"
#define GUARD_MESSAGE_MAX 256

/* How long a guard without launchers stays, so that runs in a row share one. */
#define GUARD_LINGER_USEC (500 * 1000)
