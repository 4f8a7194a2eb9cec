/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --untrusted: a program that wants out. What it has beside files and a network of its own (units/isolation): no
 * identity that owns anything, no privilege, few system calls, bounds on everything (units/limit). */

#include <glib.h>
#include <stdbool.h>

#include "property.h"

typedef struct {
        bool is_system;         /* the system manager: more can be had */
        bool is_booted;         /* it, or a user's own */
        bool is_privileged;     /* a manager of root's: it can mount /proc anew */
        bool has_network;       /* it was asked for */
        bool has_own_files;     /* --fs strict */
        bool is_another_user;   /* who it is was asked for */
        unsigned systemd_major; /* 0: unknown, so what the oldest knows */
} UntrustedContext;

/* PrivateTmp=disconnected came with it. */
#define UNTRUSTED_TMPFS_SINCE 257

/* What cannot be closed everywhere. */
typedef enum {
        RESIDUAL_SIGNALS,   /* to other processes of the user that it is */
        RESIDUAL_PROCESSES, /* are seen, and some of what is theirs can be set */
        RESIDUAL_SOCKETS,   /* abstract ones, of the network that it shares */
        RESIDUAL_FILES,     /* its user's, among the caller's files */
        RESIDUAL_TMP,       /* /tmp is the machine's disk */
        _RESIDUAL_MAX,
} UntrustedResidual;

typedef struct {
        const char *word; /* of the record */
        const char *meaning;
} UntrustedResidualInfo;

const UntrustedResidualInfo *untrusted_residual_info(UntrustedResidual residual);

/* "left open: …", of a set with bit n for residual n; NULL: nothing. */
char *untrusted_residual_words(unsigned set);

/* Puts the properties onto the unit. */
void untrusted_compose(const UntrustedContext *context, PropertyList *unit);

/* Is the property, by its name on the bus, one that --untrusted settles? -p may not say otherwise then. */
bool untrusted_owns(const char *name);

/* Its environment, but for what -E gives: "NAME=value", NULL-terminated. */
char *const *untrusted_environment(void);
