/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A run, for verbs that are one with a bit of their own: the same options, launch, record and exit status. */

#include <stdbool.h>
#include <stdio.h>

#include "launcher/manager/door.h"
#include "launcher/options.h"
#include "launcher/readback.h"
#include "units/spec.h"

typedef struct {
        const char *verb; /* for the option table; NULL: run */
        void (*print_help)(FILE *stream);
        /* The options are read, also where only help is asked for. NULL: they are as they are. */
        bool (*settle)(Options *options, GError **error);
        /* The spec lacks nothing but its command. NULL: the caller gives that. */
        bool (*complete)(const Options *options, Spec *spec, GError **error);
        /* Words before the program's first instruction, with what was found in force. NULL: none. */
        char *(*greet)(const Options *options, const Spec *spec, ManagerKind manager,
                       const Readback *readback);
} RunKind;

int run_execute(const RunKind *kind, char **argv);
