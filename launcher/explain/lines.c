/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An option stands alone in front; what there is to say of it is wrapped behind it. */

#include "lines.h"

#include <string.h>

#include "units/text.h"
#include "units/untrusted.h"
#include "units/wrap.h"

#define TEXT_BEGIN  24
#define VALUE_SHOWN 46

/* A name that is too wide has a line of its own. */
static void append_row(GString *out, const char *name, const char *text) {
        size_t width = (size_t)g_utf8_strlen(name, -1) + 2;

        if (!text)
                return;
        g_string_append_printf(out, "  %s", name);
        if (width >= TEXT_BEGIN)
                g_string_append_printf(out, "\n%*s", TEXT_BEGIN, "");
        else
                g_string_append_printf(out, "%*s", (int)(TEXT_BEGIN - width), "");
        wrap_append(out, text, TEXT_BEGIN, TEXT_BEGIN);
}

static void append_manager(GString *out, const Explanation *explanation) {
        const Rehearsal *rehearsal = explanation->rehearsal;
        const Options *options = explanation->options;
        const char *origin = options->manager == MANAGER_AUTO
                                     ? "the one that a run takes here when none is named"
                                     : "as was asked for";
        g_autofree char *words = NULL;

        if (rehearsal->manager == MANAGER_AUTO)
                words = g_strdup_printf("none can be reached: %s", rehearsal->message);
        else
                words = g_strdup_printf("%s%s%s; %s", manager_kind_word(rehearsal->manager),
                                        rehearsal->version ? ", systemd " : "",
                                        rehearsal->version ?: "", origin);
        append_row(out, "manager", words);
}

static void append_units(GString *out, const Explanation *explanation) {
        g_autofree char *words = NULL;

        if (explanation->unit)
                words = g_strdup_printf("%s in %s", explanation->unit, explanation->slice);
        else
                words = g_strdup("one with a name made up, in a slice of its own");

        append_row(out, "unit", words);
}

static char *name_of(const Clause *clause) {
        g_autofree char *value = clause->value ? text_printable(clause->value, VALUE_SHOWN) : NULL;

        return value ? g_strdup_printf("%s %s", clause->said, value) : g_strdup(clause->said);
}

static char *standing_of(const Explanation *explanation, const Clause *clause) {
        bool goes_on = explanation->options->is_best_effort && !explanation->rehearsal->message;
        const char *words = standing_words(clause->standing, goes_on);

        if (!words)
                return NULL;
        if (clause->standing == STANDING_STAND_IN)
                return g_strdup_printf("%s: %s in its place, which the program can change", words,
                                       clause->by);
        if (clause->reason)
                return g_strdup_printf("%s: %s", words, clause->reason);
        if (clause->effective && g_strcmp0(clause->effective, clause->value) != 0)
                return g_strdup_printf("%s: %s", words, clause->effective);
        return g_strdup(words);
}

static void append_clause(GString *out, const Explanation *explanation, const Clause *clause) {
        g_autofree char *name = name_of(clause);
        g_autofree char *standing = standing_of(explanation, clause);
        g_autofree char *left_open = untrusted_residual_words(clause->residuals);
        g_autofree char *origin = !clause->origin ? NULL
                                  : strcmp(clause->origin, "default") == 0
                                          ? g_strdup("by default: ")
                                          : g_strdup_printf("with %s: ", clause->origin);
        g_autofree char *words = g_strconcat(origin ?: "", clause->words, NULL);

        append_row(out, name, words);
        append_row(out, "", clause->how);
        append_row(out, "", standing);
        append_row(out, "", left_open);
}

static void append_verdict(GString *out, const Explanation *explanation) {
        const char *message = rehearsal_verdict(explanation->rehearsal, explanation->options);
        g_autofree char *words = NULL;

        if (message)
                words = g_strdup_printf("The run would be refused: %s", message);
        else
                words = g_strdup("Nothing was run: all but the program was tried, in a unit that "
                                 "is gone again.");
        g_string_append_c(out, '\n');
        wrap_append(out, words, 0, 0);
}

char *explanation_to_text(const Explanation *explanation) {
        GString *out = g_string_new(NULL);

        g_string_append_printf(out, "cordon %s would do this here\n",
                               explanation->options->verb ?: "run");
        append_manager(out, explanation);
        append_units(out, explanation);
        for (guint i = 0; i < explanation->clauses->len; i++)
                append_clause(out, explanation, g_ptr_array_index(explanation->clauses, i));
        append_verdict(out, explanation);
        return g_string_free(out, FALSE);
}
