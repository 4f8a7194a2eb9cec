/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mount.h"

#include <glib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

bool mount_is_seen(const char *path, const char *device) {
        g_autofree char *seen = NULL;
        struct stat st;

        if (stat(path, &st) < 0)
                return false;
        seen = g_strdup_printf("%u:%u", major(st.st_dev), minor(st.st_dev));
        return g_str_equal(seen, device);
}
