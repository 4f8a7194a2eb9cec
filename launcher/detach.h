/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --detach: the run goes on without the caller. The launcher lives on as a child of nobody, in a scope of its own next to
 * the sandboxes, so that the end of the caller's session, process group or cgroup is not the end of the run; the caller
 * waits only until the program runs, or it is known why it does not. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/manager/door.h"
#include "launcher/options.h"

/* Can it be detached, where that is asked for: would there be somewhere for its record, and for its id? */
bool detach_check(const Options *options, bool has_output,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Forks. In the child: true, with the descriptor to tell the caller over; of what the caller had open nothing is left. In
 * the caller: false, with the exit status to end with; what the child had to say has been printed. */
bool detach_fork(int *ret_tell_fd, int *ret_status);

/* The child's: away from the caller's cgroup. A private manager lives in the caller's cgroup itself: nothing to be had. */
bool detach_settle(const Door *door, const char *id, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The message of detach_tell, for whoever has to write it himself; a status of 0 makes it end early. */
char *detach_message(int status, const char *text);

/* The child's one message: what the caller prints (on standard output when the status is 0) and ends with; NULL: nothing.
 * False: the caller is gone. */
bool detach_tell(int tell_fd, int status, const char *text);

/* Asked when there is something to read: the caller has printed it, or is gone without. */
bool detach_is_heard(int tell_fd);
