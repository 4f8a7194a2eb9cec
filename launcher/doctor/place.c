/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "place.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "launcher/kernel/error.h"

static char *fail(const char *path, GError **error) {
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                    "cannot make a directory to try options with, %s: %s", path, g_strerror(errno));
        return NULL;
}

char *place_make(GError **error) {
        const char *base = access(g_get_tmp_dir(), W_OK) == 0 && g_path_is_absolute(g_get_tmp_dir())
                                   ? g_get_tmp_dir()
                                   : "/tmp";
        g_autofree char *pattern = g_build_filename(base, "cordon-doctor-XXXXXX", NULL);
        g_autofree char *directory = g_mkdtemp_full(pattern, 0700) ? g_steal_pointer(&pattern)
                                                                   : NULL;

        if (!directory)
                return fail(pattern, error);
        for (size_t i = 0; ask_place(i); i++) {
                g_autofree char *path = g_build_filename(directory, ask_place(i), NULL);

                if (mkdir(path, 0700) == 0)
                        continue;
                (void)fail(path, error);
                place_remove(directory);
                return NULL;
        }
        return g_steal_pointer(&directory);
}

void place_remove(const char *directory) {
        for (size_t i = 0; ask_place(i); i++) {
                g_autofree char *path = g_build_filename(directory, ask_place(i), NULL);

                (void)rmdir(path);
        }
        (void)rmdir(directory);
}
