/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table for people: what --help prints of it. */

#include <string.h>

#include "options.h"

static const char *const group_titles[_OPTION_GROUP_MAX] = {
        [OPTION_GROUP_MANAGER] =
                "Manager (default: system for root where booted, else user, else private)",
        [OPTION_GROUP_LIMITS] = "Limits",
        [OPTION_GROUP_ISOLATION] = "Isolation",
        [OPTION_GROUP_WORLD] = "The program's world",
        [OPTION_GROUP_JOBS] = "Jobs",
        [OPTION_GROUP_RECORD] = "Record",
        [OPTION_GROUP_GENERAL] = "General",
};

static const char *const group_titles_elsewhere[_OPTION_GROUP_MAX] = {
        [OPTION_GROUP_MANAGER] = "Manager (default: all that can be reached)",
        [OPTION_GROUP_RECORD] = "Output",
        [OPTION_GROUP_GENERAL] = "General",
};

/* Whoever runs something. */
static bool has_limits(const char *verb) {
        return !verb || g_strcmp0(verb, VERB_SHELL) == 0 || g_strcmp0(verb, VERB_BATCH) == 0;
}

static void print_row(FILE *stream, const OptionInfo *info, const char *help) {
        g_autofree char *letter = info->letter ? g_strdup_printf("-%c, ", info->letter)
                                               : g_strdup("    ");
        g_autofree char *left = g_strdup_printf("  %s--%s%s%s", letter, info->name,
                                                info->value_name ? " " : "",
                                                info->value_name ?: "");

        if (strlen(left) > 28)
                fprintf(stream, "%s\n%*s%s\n", left, 30, "", help);
        else
                fprintf(stream, "%-28s  %s\n", left, help);
}

static bool has_rows(OptionGroup group, const char *verb) {
        for (size_t i = 0; option_at(i); i++)
                if (option_at(i)->group == group && option_is_of(option_at(i), verb))
                        return true;
        return false;
}

void options_print(FILE *stream, const char *verb) {
        const char *const *titles = has_limits(verb) ? group_titles : group_titles_elsewhere;

        for (int group = 0; group < _OPTION_GROUP_MAX; group++) {
                if (!titles[group] || !has_rows((OptionGroup)group, verb))
                        continue;
                fprintf(stream, "\n%s:\n", titles[group]);
                for (size_t i = 0; option_at(i); i++)
                        if (option_at(i)->group == (OptionGroup)group &&
                            option_is_of(option_at(i), verb))
                                print_row(stream, option_at(i), option_help(option_at(i), verb));
        }
}
