/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the launcher itself can fail at, before and beside the manager. The code is the word of the record's "error". */

#include <glib.h>
#include <stdbool.h>

typedef enum {
        LAUNCHER_ERROR_USAGE,         /* an option or operand that is none */
        LAUNCHER_ERROR_JOB,           /* --job: not JSON, or not a job */
        LAUNCHER_ERROR_PROFILE,       /* a file of a profile that cannot be used */
        LAUNCHER_ERROR_BAD_VALUE,     /* an option that is one, with a value that cannot be used */
        LAUNCHER_ERROR_DIRECTORY,     /* the working directory cannot be used */
        LAUNCHER_ERROR_ACCOUNT,       /* a user or group that does not exist */
        LAUNCHER_ERROR_NAMESPACE,     /* the caller lives in other namespaces than the manager */
        LAUNCHER_ERROR_UNENFORCEABLE, /* a limit that was asked for is not in force */
        LAUNCHER_ERROR_CAPACITY,      /* no slot of the pool was free */
        LAUNCHER_ERROR_GATE,          /* the gate did not start or did not speak */
        LAUNCHER_ERROR_GUARD,         /* nobody would end the run if we died */
        LAUNCHER_ERROR_SYSTEM,        /* the kernel refused us something ordinary */
} LauncherError;

#define LAUNCHER_ERROR (launcher_error_quark())
GQuark launcher_error_quark(void);

/* The stable word for any error of any room: "bad-value", "manager-unreachable", …  */
const char *launcher_error_word(const GError *error);

/* Of what was written on the command line or in a job: --help may help. */
bool launcher_error_is_mistake(const GError *error);
