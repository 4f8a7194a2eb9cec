/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A shell script in an isolation that its process made itself: planned, sent and made as a launcher would have it, looked
 * at from outside while the gate waits, and run. */

#include <glib.h>

#include "launcher/gate/protocol.h"

typedef enum {
        ENCLOSED_ROOT,
        ENCLOSED_NOBODY,
        ENCLOSED_BARE_ROOT, /* without the privilege to mount */
        _ENCLOSED_MAX,
} EnclosedWho;

/* That nobody is in besides his own. */
#define ENCLOSED_GROUP 100

/* System calls that this kernel is to lack or forbid. */
#define ENCLOSED_WITHOUT_MOUNT_CALLS (1U << 0) /* openat2, mount_setattr */
#define ENCLOSED_WITHOUT_NAMESPACES  (1U << 1)
#define ENCLOSED_WITHOUT_LANDLOCK    (1U << 2)
#define ENCLOSED_WITHOUT_MOUNTS      (1U << 3)
#define ENCLOSED_WITHOUT_ROOT_MAP    (1U << 4) /* of a bare root: no namespace may know its user */

typedef struct {
        EnclosedWho who;
        const char *const *words; /* option and value; ends with NULL */
        const char *property;     /* besides; NULL: none */
        const char *script;
        unsigned lacks;
} EnclosedCase;

typedef struct {
        GateEnclosure enclosure;
        char *wrong;  /* what failed, or what is not as it should be from outside; "": nothing */
        char *output; /* of the script, with each "can" and "w" one sign: + or - */
} EnclosedResult;

/* "@" in words is the base directory; the script has it as $1. */
EnclosedResult enclosed_run(const EnclosedCase *this_case, const char *base);
void enclosed_result_clear(EnclosedResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EnclosedResult, enclosed_result_clear)
