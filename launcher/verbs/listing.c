/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon --list-options VERB, hidden: what shell completions and tests ask. One spelling of an option a line, columns
 * parted by tabs: the option, its help, and the name of its value where it takes one. */

#include <stdio.h>

#include "launcher/options.h"
#include "verbs.h"

static void print_spelling(const char *dashes, const char *name, const OptionInfo *info) {
        printf("%s%s\t%s", dashes, name, info->help);
        if (info->value_name)
                printf("\t%s", info->value_name);
        putchar('\n');
}

int verb_list_options(char **argv) {
        const OptionInfo *info;

        for (size_t i = 0; (info = option_at(i)); i++) {
                char letter[] = { info->letter, '\0' };

                print_spelling("--", info->name, info);
                if (info->letter)
                        print_spelling("-", letter, info);
        }
        return 0;
}
