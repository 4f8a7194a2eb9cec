/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* escape-table: prints the table of docs/escape.md from the one that the tests run by. escape-table FILE: is it there? */

#include <glib.h>
#include <string.h>
#include <tap.h>

#include "prospect.h"

static const struct {
        const char *theme, *title;
} themes[] = {
        { "cgroup", "Control groups, mounts, namespaces" },
        { "manager", "Asking somebody else" },
        { "process", "Other processes" },
        { "self", "More for itself" },
        { "kernel", "The kernel and the machine" },
        { "network", "The network" },
        { "files", "Files" },
        { "memory", "Memory" },
        { "bomb", "Bombs and floods" },
        { "life", "Outliving, and lying about it" },
};

static const char *const words[] = {
        [PROSPECT_HELD] = "held",
        [PROSPECT_ESCAPES] = "**escapes**",
        [PROSPECT_DEPENDS] = "depends",
};

static void add_row(GString *text, const Prospect *prospect, bool is_network) {
        const Residual *residual = residual_find(prospect->name);

        g_string_append_printf(text, "| `%s` | %s | %s | %s |", prospect->name, prospect->meaning,
                               words[prospect->root], words[prospect->user]);
        if (is_network)
                g_string_append_printf(text, " %s |", words[prospect->without_network]);
        g_string_append_printf(text, residual ? " held, but for `%s` |\n" : " held |\n",
                               residual ? residual->word : NULL);
}

static void add_theme(GString *text, const char *theme, const char *title) {
        bool is_network = g_str_equal(theme, "network");

        g_string_append_printf(text,
                               "### %s\n\n| attempt | what it is | plain, root | plain, user |",
                               title);
        g_string_append(text,
                        is_network ? " `--net none` | `--untrusted` |\n|---|---|---|---|---|---|\n"
                                   : " `--untrusted` |\n|---|---|---|---|---|\n");
        for (const Prospect *prospect = prospects; prospect->name; prospect++)
                if (g_str_equal(prospect->theme, theme))
                        add_row(text, prospect, is_network);
        g_string_append_c(text, '\n');
}

static char *make_table(void) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(themes); i++)
                add_theme(text, themes[i].theme, themes[i].title);
        return g_string_free(text, FALSE);
}

static bool has_title(const char *theme) {
        for (size_t i = 0; i < G_N_ELEMENTS(themes); i++)
                if (g_str_equal(themes[i].theme, theme))
                        return true;
        return false;
}

int main(int argc, char *argv[]) {
        g_autofree char *table = make_table(), *page = NULL;

        if (argc < 2) {
                g_print("%s", table);
                return 0;
        }

        plan(NO_PLAN);
        ok(g_file_get_contents(argv[1], &page, NULL, NULL) && strstr(page, table),
           "docs/escape.md has the table as escape-table prints it");
        for (const Prospect *prospect = prospects; prospect->name; prospect++)
                if (!has_title(prospect->theme))
                        fail("%s is of a theme that has a title", prospect->name);
        for (const Residual *residual = residuals; residual->name; residual++)
                ok(prospect_find(residual->name), "the residual %s is in the table",
                   residual->name);
        done_testing();
}
