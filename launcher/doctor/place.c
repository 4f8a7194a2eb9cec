/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "place.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "launcher/kernel/error.h"
#include "launcher/rundir.h"

#define KIND "cordon-doctor"

char *place_make(GError **error) {
        const char *base = access(g_get_tmp_dir(), W_OK) == 0 && g_path_is_absolute(g_get_tmp_dir())
                                   ? g_get_tmp_dir()
                                   : "/tmp";
        g_autofree char *directory = rundir_make_temporary(base, KIND, error);

        for (size_t i = 0; directory && ask_place(i); i++) {
                g_autofree char *path = g_build_filename(directory, ask_place(i), NULL);

                if (mkdir(path, 0700) == 0)
                        continue;
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot make %s: %s",
                            path, g_strerror(errno));
                place_remove(directory);
                return NULL;
        }
        return g_steal_pointer(&directory);
}

void place_remove(const char *directory) {
        rundir_remove(directory);
}
