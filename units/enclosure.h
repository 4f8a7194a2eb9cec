/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How a child of ours makes for itself what a manager would make of the properties of a unit: a list of plain steps, in
 * order (units/step), which launcher/gate/builder takes. Where a manager has a scope and no service, that is all there is
 * of isolation. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "property.h"
#include "step.h"

typedef struct {
        GArray *steps;      /* of Step; the permits are the last of them */
        GByteArray *texts;  /* what they have offsets into, each with its NUL */
        guint permit_count; /* units/permit */
        bool has_permits;   /* they will do where the steps cannot be taken */
} Enclosure;

typedef struct {
        bool is_privileged; /* CAP_SYS_ADMIN: no namespace of users is needed, unless PrivateUsers= asks for it */
        uint32_t uid, gid;
} EnclosureContext;

/* NULL where a child cannot carry one of the properties; the error names it. Without isolation there are no steps. */
Enclosure *enclosure_plan(const PropertyList *unit, const EnclosureContext *context,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void enclosure_free(Enclosure *enclosure);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Enclosure, enclosure_free)

guint enclosure_step_count(const Enclosure *enclosure); /* without the permits */

/* Source, target and options may be NULL. */
void enclosure_add(Enclosure *enclosure, Step step, const char *source, const char *target,
                   const char *options);

/* The devices of a /dev that has nothing else. Ends with NULL. */
const char *const *enclosure_devices(void);

/* What a step does, for people: "mounting \"/a\" read-only at \"/b\"". */
char *enclosure_step_text(const Enclosure *enclosure, guint index);
