/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which verb has which row of the table, and what it means there. */

#include <string.h>

#include "options.h"

static bool is(const char *verb, const char *other) {
        return g_strcmp0(verb, other) == 0;
}

bool option_is_of(const OptionInfo *info, const char *verb) {
        if (is(verb, VERB_BATCH))
                return !(info->flags & OPTION_NOT_IN_BATCH);
        if (info->flags & OPTION_BATCH_ALONE)
                return false;
        if (is(verb, VERB_SHELL))
                return !(info->flags & OPTION_NOT_IN_SHELL);
        if (is(verb, VERB_PROFILE)) /* it asks no manager */
                return info->elsewhere && info->group != OPTION_GROUP_MANAGER;
        return !verb || info->elsewhere;
}

bool option_is_key(const OptionInfo *info, const char *verb) {
        return info->group != OPTION_GROUP_LIMITS && !(info->flags & OPTION_NOT_IN_JOB) &&
               (option_is_of(info, verb) ||
                (is(verb, VERB_BATCH) && info->flags & OPTION_JOBS_ALONE));
}

const char *option_help(const OptionInfo *info, const char *verb) {
        if (is(verb, VERB_SHELL))
                return info->in_shell ?: info->help;
        if (is(verb, VERB_BATCH))
                return info->in_batch ?: info->help;
        return verb ? info->elsewhere : info->help;
}
