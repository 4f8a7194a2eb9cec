/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lies where inside, read from the properties of a unit as a manager would read them: one thing at each path, what
 * is above before what is below. So isolation is composed once (units/isolation), and made either by a manager or by a
 * child of ours. */

#include <glib.h>
#include <stdbool.h>

#include "property.h"

/* Of several at one path the first of these is there. */
typedef enum {
        LAYOUT_BIND,
        LAYOUT_PRIVATE_TMP,
        LAYOUT_PRIVATE_DEVICES,
        LAYOUT_KERNEL, /* /proc, /sys, /dev of the machine, where / is another */
        LAYOUT_READ_ONLY,
        LAYOUT_TMPFS,
} LayoutKind;

typedef struct {
        LayoutKind kind;
        char *path;
        char *source;         /* of a bind */
        char *options;        /* of a tmpfs; NULL: none */
        unsigned flags;       /* STEP_… of units/step */
        const char *property; /* that asked for it */
} LayoutPlace;

typedef struct {
        GPtrArray *places; /* of LayoutPlace*, by path */
        bool has_own_users, has_no_network, has_no_new_privileges;
} Layout;

/* NULL where a property is among them that no child can carry; the error names it. */
Layout *layout_read(const PropertyList *unit, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void layout_free(Layout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Layout, layout_free)

const LayoutPlace *layout_at(const Layout *layout, guint index);
/* The place that decides what is at a path, other than the path's own; NULL: the machine's /. */
const LayoutPlace *layout_above(const Layout *layout, const char *path);
