/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What to run, under what: the request after every option, JSON key and default has been put in its place, and before
 * anybody thinks of systemd properties. Everything in it is owned. */

#include <glib.h>

#include "isolation.h"
#include "limit.h"
#include "property.h"

typedef struct {
        char *id;
        char *profile;      /* what was said by name; NULL: none. For the record alone */
        char *pool;         /* whose slice its own lies in; NULL: none */
        char **command;     /* argv, at least one */
        char **environment; /* what the program sees, "NAME=value" */
        char *user,
                *group; /* as given to --uid/--gid or needed by the manager; NULL: the manager's own */
        bool is_scope; /* the program is a child of ours, not of the manager */
        bool is_login; /* the program is a login shell: what it sees as its name has a dash in front */
        IsolationSet isolation;
        LimitSet limits;     /* defaults applied */
        GHashTable *labels;  /* string → string, or NULL */
        PropertyList *extra; /* -p: already typed and allowed, or NULL */
} Spec;

Spec *spec_new(void);
Spec *spec_copy(const Spec *spec); /* labels and values of properties are shared */
void spec_free(Spec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spec, spec_free)
