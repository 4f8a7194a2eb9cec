/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a program is kept away from: own /tmp, no network, a root with little in it, and exceptions path by path. THE
 * isolation table says what each is called and which property carries it; what it takes to show that it is in force is
 * launcher/walls' business. Paths in a set are absolute, and lead through no symbolic link once the request is
 * complete. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "allow.h"
#include "property.h"

typedef enum {
        ISOLATION_UNTRUSTED,
        ISOLATION_PRIVATE_TMP,
        ISOLATION_NET,
        ISOLATION_FS,
        ISOLATION_RO,
        ISOLATION_RW,
        ISOLATION_HIDE,
        ISOLATION_SCRATCH,
        _ISOLATION_MAX,
} Isolation;

typedef struct {
        const char *key;       /* of the option, the job and the record */
        const char *by;        /* the property that carries it */
        const char *namespace; /* what has to be the program's own for it */
        const char *words;     /* what it does, for people */
} IsolationInfo;

const IsolationInfo *isolation_info(Isolation isolation);

typedef struct {
        Isolation kind; /* RO, RW, HIDE or SCRATCH */
        char *path;
        uint64_t size_bytes; /* of a scratch; UINT64_MAX: as the manager has it */
        bool is_file;        /* of what is hidden: not a directory */
} PathRule;

typedef struct {
        bool is_untrusted;
        bool has_private_tmp, has_no_network, has_strict_fs;
        bool is_net_said, is_fs_said; /* host included */
        Allow *allow;                 /* --net allow=; NULL: not asked for */
        char *workspace;              /* absolute; NULL: the working directory */
        GPtrArray *rules;             /* of PathRule*, in the order given; NULL: none */
} IsolationSet;

/* As --scratch has it: PATH, or PATH:SIZE in bytes. */
char *isolation_rule_text(const PathRule *rule);

void isolation_set_clear(IsolationSet *set);
void isolation_set_copy(const IsolationSet *from, IsolationSet *ret_set);

/* One option's text; NULL for a flag. A relative path is one below the working directory. */
bool isolation_set_parse(IsolationSet *set, Isolation isolation, const char *text,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Any path that an option names, absolute; and whether a unit can carry it for this. */
char *isolation_path(Isolation isolation, const char *option, const char *text, GError **error);
bool isolation_check_path(Isolation isolation, const char *option, const char *path,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What --untrusted means for the others, where nothing else was said. */
void isolation_set_settle(IsolationSet *set);

bool isolation_is_asked(const IsolationSet *set, Isolation isolation);
/* As if it had not been asked for; what it brought along stays. */
void isolation_set_drop(IsolationSet *set, Isolation isolation);
/* The property that carries it: the row's, or that of its other form. */
const char *isolation_by(const IsolationSet *set, Isolation isolation);
const char *isolation_meaning(const IsolationSet *set, Isolation isolation); /* likewise */
bool isolation_any(const IsolationSet *set);
bool isolation_any_mount(const IsolationSet *set); /* something of the file system is another */

/* What of the caller's file system is at this path inside: NULL: the same; else the key of what replaced or left it out. */
const char *isolation_hides(const IsolationSet *set, const char *path);

/* At the directory or below it. */
bool isolation_is_within(const char *path, const char *directory);

/* Of the system that --fs strict shows read-only. */
bool isolation_is_system(const char *path);

/* A path that --fs strict fills itself. */
bool isolation_is_own_place(const char *path);

/* The namespaces that the unit does not share with its manager then: ExtraOwn, or'd. */
unsigned isolation_own_namespaces(const IsolationSet *set);

typedef struct {
        const char *gate_path;     /* must stay executable inside; NULL: none is needed */
        bool is_unprivileged;      /* the manager makes no namespace but in a user namespace */
        bool is_booted;            /* the system's or a user's manager */
        bool is_system;            /* it is the system manager */
        bool is_another_user;      /* who it is was asked for */
        unsigned systemd_major;    /* 0: unknown */
        const char *empty_root;    /* a directory to be / with --fs strict; NULL: a tmpfs will do */
        const PropertyList *extra; /* what -p says of the same; NULL: nothing */
} IsolationContext;

/* Puts the properties onto the unit. */
void isolation_compose(const IsolationSet *set, const IsolationContext *context,
                       PropertyList *unit);

/* Does -p say otherwise? */
bool isolation_check_extra(const IsolationSet *set, const PropertyList *extra,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
