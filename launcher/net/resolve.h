/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Host names → addresses, all at once, as the caller's machine resolves them now, and not for longer than a deadline. */

#include <glib.h>
#include <stdbool.h>

#include "units/allow.h"

/* Opens and pins every address of every host among the entries. A name that has none is refused. */
bool resolve_hosts(Allow *allow, GError **error) G_GNUC_WARN_UNUSED_RESULT;
