/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The same isolation where no namespace is to be had: what Landlock can express of it. It permits what lies below a path,
 * never forbids something below what it permits, hides nothing and puts nothing in a place. */

#include <glib.h>
#include <stdbool.h>

#include "enclosure.h"
#include "isolation.h"

/* Adds permits to a plan, behind its steps. False where they would not do: the error names what was asked and cannot be
 * had in this way, and the plan is as it was. */
bool permit_plan(const IsolationSet *set, const PropertyList *unit, Enclosure *enclosure,
                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
