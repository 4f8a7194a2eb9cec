/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reading /proc/self/mountinfo with care: it lists what was mounted, not what is to be seen. */

#include <stdbool.h>

/* Whether at `path` is what the line's third field ("0:31") names: something else may have been mounted over it, or over
 * a directory above. */
bool mount_is_seen(const char *path, const char *device);
