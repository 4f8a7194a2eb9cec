/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* -p NAME=VALUE: a unit property as it stands in a unit file, typed as systemd wants it on the bus. What cordon sets
 * itself is refused with the option to use (units/compose knows), and so is what no table here has a type for. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "property.h"

/* The namespaces that a unit is given its own of. */
typedef enum {
        EXTRA_OWN_MOUNT = 1 << 0,
        EXTRA_OWN_NETWORK = 1 << 1,
        EXTRA_OWN_PID = 1 << 2,
        EXTRA_OWN_USER = 1 << 3,
        EXTRA_OWN_IPC = 1 << 4,
        EXTRA_OWN_UTS = 1 << 5,
        EXTRA_OWN_CGROUP = 1 << 6,
} ExtraOwn;

/* Puts it into the list. What is a list itself grows when it is given again, and an empty value empties it; else the
 * last word wins. On failure the list is unchanged. */
bool extra_parse(const char *assignment, PropertyList *list,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What its value can be, where it is one of a few words; NULL: any, or there is no such property. */
char **extra_words(const char *name);

/* Which of its namespaces a unit with these properties need not share with the manager: ExtraOwn, or'd. */
unsigned extra_own_namespaces(const PropertyList *list);

/* … and those that they are there for: a manager that gives none of these has dropped what was asked. */
unsigned extra_asked_namespaces(const PropertyList *list);

/* One that only a manager with privileges can carry, where others drop it without a word; NULL: none is said. */
const char *extra_needs_bpf(const PropertyList *list);

/* One that is a manager's to apply when it executes a program; NULL: scopes can have all of these, too. */
const char *extra_needs_service(const PropertyList *list);

/* What a scope's program does itself, of what is said there. */
void extra_compose_own(const PropertyList *list, PropertyList *unit);
bool extra_is_own(const char *name);

/* Is it said there? By its name on the bus; no list says nothing. */
bool extra_has(const PropertyList *list, const char *name);

/* The rlimits that are said there: bit n is the RLIMIT_… of that number. */
uint32_t extra_rlimits(const PropertyList *list);
