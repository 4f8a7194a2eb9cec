/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where profiles lie: those that came with the program, the machine's, the caller's own. NAME.conf of a later directory
 * takes the place of an earlier one; files of NAME.conf.d, from all of them and in the order of their names, are put on
 * top. What was read once is kept, so that all jobs of a batch mean the same by a name. */

#include <glib.h>
#include <stdbool.h>

#include "profile.h"

typedef struct ProfileShelf ProfileShelf;

ProfileShelf *profile_shelf_new(void);
/* These directories instead, the least first; the first is the program's own. NULL ends them. */
ProfileShelf *profile_shelf_new_in(const char *const *directories);
void profile_shelf_free(ProfileShelf *shelf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProfileShelf, profile_shelf_free)

/* With all that it inherits; the shelf's. NULL: there is none, or one that cannot be used. */
const Profile *profile_shelf_find(ProfileShelf *shelf, const char *name, GError **error);

/* profile_apply() of that one. */
bool profile_shelf_apply(ProfileShelf *shelf, const char *name, Options *options,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* All names (char*), sorted, those of profiles that cannot be used among them. */
GPtrArray *profile_shelf_names(const ProfileShelf *shelf);
