/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Feeds a target with every file of a directory, and with every beginning of each: one TAP point a file. */

#include <tap.h>

#include "fuzz.h"

/* A copy of exactly this size, so that a sanitizer sees a step behind its end. */
static void feed(const char *bytes, size_t size) {
        g_autofree uint8_t *copy = g_malloc(size);

        for (size_t i = 0; i < size; i++)
                copy[i] = (uint8_t)bytes[i];
        LLVMFuzzerTestOneInput(copy, size);
}

static void replay(const char *directory, const char *name) {
        g_autofree char *path = g_build_filename(directory, name, NULL), *bytes = NULL;
        gsize size = 0;

        if (!g_file_get_contents(path, &bytes, &size, NULL)) {
                fail("%s can be read", name);
                return;
        }

        for (gsize cut = 0; cut <= size; cut += cut < 256 ? 1 : 1 + size / 64)
                feed(bytes, cut);
        feed(bytes, size);
        pass("%s", name);
}

int main(int argc, char **argv) {
        g_autoptr(GDir) directory = NULL;
        const char *name;

        plan(NO_PLAN);
        directory = argc == 2 ? g_dir_open(argv[1], 0, NULL) : NULL;
        if (!directory)
                BAIL_OUT("no corpus");

        while ((name = g_dir_read_name(directory)))
                replay(argv[1], name);
        done_testing();
}
