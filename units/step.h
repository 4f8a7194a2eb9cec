/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One step of the isolation that a child makes for itself: plain, without pointers, in the form in which it travels from
 * who plans it (units/enclosure, units/permit) to who takes it (launcher/gate/builder). Texts are offsets into one block.
 * No GLib, because the gate has none. */

#include <stdint.h>

/* In place of an offset: there is no such text. */
#define STEP_NO_TEXT UINT32_MAX

typedef enum {
        STEP_UNSHARE, /* flags: STEP_OWN_… */
        STEP_IDENTITY, /* amount: this user (low half) and group are the only ones that are known inside */
        STEP_SLAVE,     /* no mount of ours leaves; those of the machine still come */
        STEP_TMPFS,     /* at target, with options; of "/" and so on */
        STEP_BIND,      /* source, as it was before any of this, at target */
        STEP_READ_ONLY, /* what is at target by now, with all that is mounted below it */
        STEP_SEAL, /* target, which had to be written to until now: read-only, and nothing below it */
        STEP_LINK,      /* a symbolic link at target that says source */
        STEP_TERMINALS, /* at target, and source to get new ones from */
        STEP_ROOT,      /* all of this is / from now on, and the old one is gone */
        STEP_LOOPBACK,  /* up */
        STEP_NO_NEW_PRIVILEGES,
        STEP_DROP,   /* amount: bit n: capability n, in every set */
        STEP_PERMIT, /* Landlock: target may be read and executed, and with STEP_WRITABLE written */
        _STEP_MAX,
} StepKind;

#define STEP_OWN_USERS   (1U << 0)
#define STEP_OWN_MOUNTS  (1U << 1)
#define STEP_OWN_NETWORK (1U << 2)

#define STEP_IS_OPTIONAL  (1U << 0) /* where it is not there, nothing is done */
#define STEP_IS_RECURSIVE (1U << 1) /* with what is mounted below the source */
#define STEP_IS_READ_ONLY (1U << 2)
#define STEP_MAKES_TARGET (1U << 3) /* where it is missing: it lies in a file system of our own */
#define STEP_NO_SUID      (1U << 4)
#define STEP_NO_DEVICES   (1U << 5)
#define STEP_NO_EXEC      (1U << 6)
#define STEP_IS_WRITABLE  (1U << 7)

typedef struct {
        uint32_t kind; /* StepKind */
        uint32_t flags;
        uint32_t source, target, options;
        uint32_t unused;
        uint64_t amount;
} Step;
