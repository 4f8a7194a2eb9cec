/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who may share a private manager. What it starts lives in its namespaces, under its root directory,
 * below its cgroup and with its privileges; so callers share one only where all of these are the same,
 * and everybody else gets their own. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/kernel/caller.h"

/* Raised whenever a launcher must not talk to a keeper of an earlier build. */
#define IDENTITY_PROTOCOL 1

/* Whether a systemd system manager runs this machine (or container), as sd_booted asks it. */
bool identity_is_booted(void);

/* The sub-group into which the keeper moves the processes of its caller's cgroup where cgroup v2 wants
 * inner groups empty; a caller in it belongs to the group above. */
#define IDENTITY_CALLER_GROUP "cordon-caller"

/* 16 hexadecimal digits; `base` is where the runtime directory is going to be. The caller as it was read, namespaces
 * included; NULL: all is read here. */
char *identity_key(const char *base, const Caller *caller);
