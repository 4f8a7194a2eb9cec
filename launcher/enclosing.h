/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The isolation that a scope's program makes for itself, because no manager does. */

#include <glib.h>
#include <stdbool.h>

#include "units/enclosure.h"
#include "units/spec.h"

typedef struct {
        Enclosure *enclosure; /* NULL: there is none, or the manager does it all */
        GError *no_permits;   /* why nothing could stand in for namespaces; NULL: something can */
} Enclosing;

/* From the same properties that a service would get. Where it cannot be had at all, --best-effort does without. */
bool enclosing_make(const Spec *spec, bool is_best_effort, Enclosing *ret_enclosing,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void enclosing_clear(Enclosing *enclosing);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Enclosing, enclosing_clear)
