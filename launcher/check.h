/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The last look before "go": is the gate where it should be, and is what was asked in force? */

#include <glib.h>
#include <stdbool.h>

#include "dbus/watch.h"
#include "launcher/enclosing.h"
#include "launcher/gate/channel.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/launch.h"
#include "units/compose.h"

typedef struct {
        const LaunchSettings *settings;
        GateChannel *gate; /* that has said something; borrowed, as all but the last three */
        const char *slice;
        const char *gate_path;
        Cgroup *cgroup;      /* looked for ahead; NULL: not yet, or found */
        char *empty_root;    /* a directory; NULL: none is needed */
        Enclosing enclosing; /* of a scope */
} CheckSource;

/* Makes what is needed beside the spec, before anything is asked for. */
bool check_open(CheckSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void check_clear(CheckSource *source);

/* What is asked of the manager beside the spec: as far as that can be had, where --best-effort is enough. */
void check_prepare(const CheckSource *source, ComposeContext *context);

/* Does the program get what the caller has, or what was asked for? As soon as the gate has said anything. */
bool check_world(const CheckSource *source, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What of check_gate() needs no gate: done while the manager makes the units. */
void check_look_ahead(CheckSource *source);

/* On success the cgroup is found, and watched for memory kills. */
bool check_gate(CheckSource *source, Cgroup **ret_cgroup, Readback *ret_readback,
                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The gate's own failure, for people. */
void check_explain_failure(const CheckSource *source, GError **error);

/* It ended without a word: the manager's is all there is. */
void check_explain_end(const CheckSource *source, const UnitState *state, GError **error);
