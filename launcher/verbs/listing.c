/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon --list-options VERB, hidden: what shell completions and tests ask. One spelling of an option a line, columns
 * parted by tabs: the option, its help, and the name of its value where it takes one. A verb that takes a file beside its
 * options has a line for that, too, which begins with FILE; with PROFILE, where it takes the name of one; or with COMMAND,
 * where a program and its arguments are behind the options. */

#include <stdio.h>
#include <string.h>

#include "launcher/options.h"
#include "launcher/profile/shelf.h"
#include "units/text.h"
#include "verbs.h"

static void print_spelling(const char *dashes, const char *name, const OptionInfo *info,
                           const char *verb) {
        printf("%s%s\t%s", dashes, name, option_help(info, verb));
        if (info->value_name)
                printf("\t%s", info->value_name);
        putchar('\n');
}

int verb_list_options(char **argv) {
        const char *verb = *argv && strcmp(*argv, "run") != 0 ? *argv : NULL;
        const OptionInfo *info;

        for (size_t i = 0; (info = option_at(i)); i++) {
                char letter[] = { info->letter, '\0' };

                if (!option_is_of(info, verb))
                        continue;
                print_spelling("--", info->name, info, verb);
                if (info->letter)
                        print_spelling("-", letter, info, verb);
        }
        if (!verb)
                puts("COMMAND\tthe program to run\tCOMMAND");
        if (g_strcmp0(verb, VERB_BATCH) == 0)
                puts("FILE\tthe jobs, one JSON object a line\tFILE");
        if (g_strcmp0(verb, VERB_PROFILE) == 0)
                puts("PROFILE\tthe one to show\tPROFILE");
        return 0;
}

/* cordon --list-profiles: what a value of --profile can be, a name a line, behind a tab what it is for. */
int verb_list_profiles(char **argv) {
        g_autoptr(ProfileShelf) shelf = profile_shelf_new();
        g_autoptr(GPtrArray) names = profile_shelf_names(shelf);

        for (guint i = 0; i < names->len; i++) {
                const char *name = g_ptr_array_index(names, i);
                const Profile *profile = profile_shelf_find(shelf, name, NULL);
                g_autofree char *shown = text_printable(profile ? profile->description : NULL,
                                                        G_MAXSIZE);

                printf("%s\t%s\n", name, shown);
        }
        return 0;
}
