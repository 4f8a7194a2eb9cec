/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What --dry-run prints: every property that would be asked of the manager, as a command line that a person can paste,
 * or as JSON. The gate and its descriptors are left out of the command line: systemd-run starts the program itself. */

#include <glib.h>
#include <stdbool.h>

#include "units/property.h"
#include "units/spec.h"

typedef struct {
        const char *manager;        /* "user", "system", "private"; NULL: whichever is found */
        const char *directory;      /* of -C; NULL: the caller's */
        const GPtrArray *variables; /* of -E */
        bool has_terminal;          /* of its own */
        uint64_t max_parallel;      /* 0: any number */
} PlanWorld;

/* A property as unit files have it, "RuntimeMaxSec=30000000us". NULL: another of the list says it. */
char *plan_setting(const PropertyList *list, const Property *property);

char *plan_to_text(const Spec *spec, const PlanWorld *world, const PropertyList *slice,
                   const PropertyList *unit);
char *plan_to_json(const Spec *spec, const PlanWorld *world, const PropertyList *slice,
                   const PropertyList *unit);
