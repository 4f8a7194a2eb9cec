/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* THE table of properties for -p: a row knows the name in unit files, how its value is read, and what else follows
 * from it. The names are those of systemd 252 to 262; one that a manager is too old for is refused by the manager. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the text is read and what is sent: the type on the bus in front. */
typedef enum {
        EXTRA_BOOL,          /* b: yes, no */
        EXTRA_BOOL_OR_WORD,  /* b, or s under NAMEEx: yes, no, or a word */
        EXTRA_WORD,          /* s: one of the words */
        EXTRA_WORD_OR_BOOL,  /* s: likewise, or yes, no */
        EXTRA_TEXT,          /* s */
        EXTRA_PATH,          /* s: absolute */
        EXTRA_LABEL,         /* (bs): a text, "-" in front: a failure is ignored */
        EXTRA_INTEGER,       /* i: min to max */
        EXTRA_MODE,          /* u: octal */
        EXTRA_NUMBER_WORD,   /* i: "word=number …" */
        EXTRA_NUMBER_WORD_T, /* t: likewise */
        EXTRA_FLAG_WORDS,    /* i: likewise, any of them */
        EXTRA_FLAG_WORDS_T,  /* t */
        EXTRA_NAMESPACES,    /* t: likewise, "~" in front: all others; or yes, no */
        EXTRA_CAPABILITIES,  /* t: capabilities, "~" in front: all others */
        EXTRA_ERRNO,         /* i: EPERM, a number, or kill */
        EXTRA_MEMORY,  /* t: a size, infinity; or u under NAMEScale: percent of the machine's */
        EXTRA_PERCENT, /* u: percent */
        EXTRA_USEC,    /* t under NAMEUSec: a time span, infinity */
        EXTRA_NSEC,    /* t: likewise, a bare number is nanoseconds */
        EXTRA_WEIGHT,  /* t: 1 to 10000 */
        EXTRA_WEIGHT_OR_IDLE, /* t */
        EXTRA_NUMBERS,        /* ay: a list of CPUs or memory nodes */
        EXTRA_AFFINITY,       /* ay: likewise; or b under CPUAffinityFromNUMA: numa */
        EXTRA_RLIMIT_SIZE,    /* t twice, NAME and NAMESoft: VALUE or SOFT:HARD */
        EXTRA_RLIMIT_COUNT,   /* likewise */
        EXTRA_RLIMIT_USEC,    /* likewise, a bare number is microseconds */
        EXTRA_RLIMIT_NICE,    /* likewise, with a sign it is a nice level */
        EXTRA_WORDS,          /* as */
        EXTRA_PATHS,          /* as: absolute, "-" and "+" in front */
        EXTRA_NAMES,          /* as: relative paths without ".." */
        EXTRA_FILTER,         /* (bas): "~" in front: all but these */
        EXTRA_BINDS,          /* a(ssbt): SOURCE[:DESTINATION[:rbind|norbind]] */
        EXTRA_TMPFS,          /* a(ss): PATH[:OPTIONS] */
        EXTRA_DEVICES,        /* a(ss): PATH [rwm] */
        EXTRA_DEVICE_BYTES,   /* a(st): PATH SIZE, decimal */
        EXTRA_DEVICE_WEIGHT,  /* a(st): PATH WEIGHT */
        EXTRA_DEVICE_USEC,    /* a(st) under NAMEUSec: PATH TIME */
        EXTRA_ADDRESSES,      /* a(iayu) */
        _EXTRA_KIND_MAX,
} ExtraKind;

typedef struct {
        const char *name;
        ExtraKind kind;
        const char *words; /* with spaces between */
        int32_t min, max;
        unsigned own;   /* ExtraOwn: namespaces of its own, when it is not off */
        int resource;   /* of an rlimit: RLIMIT_… */
        bool needs_bpf; /* a manager without privileges drops it, and does not say so */
        bool in_scope;  /* of a group of processes, whoever made them: a scope has it too */
        bool is_own;    /* a scope has it not, but its program can do it itself */
} ExtraInfo;

const ExtraInfo *extra_at(size_t index); /* NULL ends it */
const ExtraInfo *extra_find(const char *name);
