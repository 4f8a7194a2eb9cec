/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A cordon with its helpers in a directory of its own, below the test's. It finds them beside itself. */

#include <glib.h>

typedef struct {
        char *directory;
        char *cordon;
} Build;

/* PROGRAM: what is to be its cordon. Ends the test where that cannot be. */
Build build_new(const char *name, const char *program);
void build_install(const Build *build, const char *program); /* new files in place of the old */
void build_clear(Build *build);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Build, build_clear)
