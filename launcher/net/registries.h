/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* @registries: the hosts from which npm, pip, cargo and go get their packages, as the caller's environment, the caller's
 * and the machine's configuration files and, where those say nothing, the tools themselves have it. Files of a project
 * do not count: they may be the work of a program that was held inside. */

#include <glib.h>
#include <stdbool.h>

#include "units/allow.h"

/* Refuses when there is none. What of each tool was found is noted. */
bool registries_add(Allow *allow, GError **error) G_GNUC_WARN_UNUSED_RESULT;
