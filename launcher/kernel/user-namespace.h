/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Without privileges all other namespaces need one of users around them, and that may be forbidden. */

#include <stdbool.h>

/* Tried: a child makes one, with mounts and a network of its own. */
bool user_namespace_can_be_had(void);

/* What forbids them and how that is lifted, for people; NULL: nothing that is known. */
char *user_namespace_remedy(void);
