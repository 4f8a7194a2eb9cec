/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon --list-options VERB, hidden: what shell completions and tests ask. One spelling of an option a line, columns
 * parted by tabs: the option, its help, and the name of its value where it takes one. A verb that takes a file beside its
 * options has a line for that, too, which begins with FILE. */

#include <stdio.h>
#include <string.h>

#include "launcher/options.h"
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
        if (g_strcmp0(verb, VERB_BATCH) == 0)
                puts("FILE\tthe jobs, one JSON object a line\tFILE");
        return 0;
}
