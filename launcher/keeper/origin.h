/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a process inherits from whoever happened to start it, and what must not be handed on to the
 * programs of everybody who comes later: priorities, affinity, limits, the out-of-memory score. */

void origin_forget(void);
