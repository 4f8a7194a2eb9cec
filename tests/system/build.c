/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "build.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "kit.h"

static const char *const helpers[] = { "cordon-gate", "cordon-guard", "cordon-keeper" };

/* Beside cordon where it was built, in libexec where it was installed. */
static char *helper_path(const char *name) {
        g_autofree char *directory = g_path_get_dirname(kit_cordon());
        char *beside = g_build_filename(directory, name, NULL);

        if (g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
                return beside;
        g_free(beside);
        return g_build_filename(directory, "..", "libexec", "cordon", name, NULL);
}

static void copy_program(const char *from, const char *directory, const char *name) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *text = NULL;
        gsize size = 0;

        (void)unlink(path); /* somebody may be executing it */
        if (!g_file_get_contents(from, &text, &size, NULL) ||
            !g_file_set_contents(path, text, (gssize)size, NULL) || g_chmod(path, 0755) < 0)
                BAIL_OUT("%s cannot be copied to %s", from, path);
}

void build_install(const Build *build, const char *program) {
        copy_program(program, build->directory, "cordon");
        for (size_t i = 0; i < G_N_ELEMENTS(helpers); i++) {
                g_autofree char *path = helper_path(helpers[i]);

                copy_program(path, build->directory, helpers[i]);
        }
}

static void uninstall(const Build *build) {
        (void)unlink(build->cordon);
        for (size_t i = 0; i < G_N_ELEMENTS(helpers); i++) {
                g_autofree char *path = g_build_filename(build->directory, helpers[i], NULL);

                (void)unlink(path);
        }
}

Build build_new(const char *name, const char *program) {
        Build build = { .directory = g_build_filename(kit_directory(), name, NULL) };

        build.cordon = g_build_filename(build.directory, "cordon", NULL);
        if (g_mkdir(build.directory, 0755) < 0)
                BAIL_OUT("%s cannot be made", build.directory);
        build_install(&build, program);
        return build;
}

void build_clear(Build *build) {
        uninstall(build);
        g_free(build->directory);
        g_free(build->cordon);
}
