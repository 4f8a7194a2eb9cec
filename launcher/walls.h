/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does the isolation that was asked for hold? Seen from outside, through /proc, while the gate waits: file systems and
 * their flags below its root, its network namespace and what leads out of it. */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "launcher/kernel/caller.h"
#include "launcher/readback.h"
#include "units/enclosure.h"
#include "units/isolation.h"

typedef struct {
        pid_t pid; /* of the gate */
        const Caller *caller;
        const GateHello *hello;
        const char *gate_path;
        bool is_own_user; /* the manager has made up one for it */
        bool is_caller;   /* it is its caller, who may have files */
} WallsContext;

/* Looks at each that was asked. False when one does not hold; the message names it and what is there instead. */
bool walls_check(const IsolationSet *set, const WallsContext *context, Readback *readback,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The unit could not be set up at all: the first that was asked, why, and what would help. */
void walls_explain(const IsolationSet *set, bool is_unprivileged, int status, GError **error);

/* The gate was to make it itself, and one of the steps failed. no_permits says why nothing could stand in for namespaces;
 * NULL: something could. */
void walls_explain_step(const IsolationSet *set, const Enclosure *enclosure,
                        const GError *no_permits, const GateFailure *failure, GError **error);
