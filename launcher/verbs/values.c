/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon --list-values VERB OPTION [TYPED [WORD...]], hidden: what the value of an option can be, for shell completions; an
 * operand goes by the name that --list-options has for it. One
 * a line, its help behind a tab where there is some; the shell leaves out what does not fit what is typed. Files and
 * directories are the shell's own matter. Names that do not stand for themselves have a row here. */

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "dbus/inquiry.h"
#include "launcher/manager/door.h"
#include "launcher/options.h"
#include "launcher/session.h"
#include "units/allow.h"
#include "units/cause.h"
#include "units/extra-table.h"
#include "units/extra.h"
#include "units/name.h"
#include "units/text.h"
#include "verbs.h"

#define PATIENCE_USEC G_USEC_PER_SEC /* somebody has pressed a key and waits */

extern char **environ;

typedef struct {
        const char *typed; /* up to the cursor */
        char **words;      /* of the line, those behind the verb */
} Question;

static void offer(const char *before, const char *word, const char *behind, const char *help) {
        g_autofree char *whole = g_strconcat(before, word, behind, NULL);
        g_autofree char *shown = text_printable(whole, G_MAXSIZE);

        if (strcmp(shown, whole) == 0) /* else it would be another one */
                printf("%s%s%s\n", whole, help ? "\t" : "", help ?: "");
}

/* "exited," of "exited,lo" */
static char *begun_list(const char *typed, const char *begin) {
        const char *comma = strrchr(typed + strlen(begin), ',');

        return comma ? g_strndup(typed, (gsize)(comma + 1 - typed)) : g_strdup(begin);
}

static void offer_outcomes(const Question *question) {
        g_autofree char *begun = begun_list(question->typed, "");
        g_auto(GStrv) said = g_strsplit(begun, ",", -1);

        for (int i = 0; i < _OUTCOME_MAX; i++) {
                const OutcomeInfo *info = outcome_info((Outcome)i);

                if (!g_strv_contains((const char *const *)said, info->word))
                        offer(begun, info->word, "", info->help);
        }
}

static void offer_users(const Question *question) {
        const struct passwd *entry;

        setpwent();
        while ((entry = getpwent()))
                offer("", entry->pw_name, "", NULL);
        endpwent();
}

static void offer_groups(const Question *question) {
        const struct group *entry;

        setgrent();
        while ((entry = getgrent()))
                offer("", entry->gr_name, "", NULL);
        endgrent();
}

/* The one that the line names, else the one that a run would take. */
static ManagerKind manager_of(char **words) {
        ManagerKind kind = MANAGER_AUTO;

        for (; *words && strcmp(*words, "--") != 0; words++)
                if (g_str_has_prefix(*words, "--"))
                        (void)manager_kind_from_word(*words + 2, &kind);
        return session_choose_manager(&kind, NULL) ? kind : MANAGER_AUTO;
}

/* Those that have a slice now. */
static void offer_pools(const Question *question) {
        g_autoptr(sd_bus) bus = door_peek(manager_of(question->words));
        g_auto(GStrv) units = bus ? inquiry_active_units(bus, "cordon-pool-*.slice", PATIENCE_USEC)
                                  : NULL;
        char **unit;

        for (unit = units; unit && *unit; unit++) {
                g_autofree char *pool = name_pool_from_unit(*unit);

                if (pool)
                        offer("", pool, "", NULL);
        }
}

static void offer_profiles(const Question *question) {
        (void)verb_list_profiles(NULL);
}

static void offer_properties(const Question *question) {
        const char *equals = strchr(question->typed, '=');
        g_autofree char *name = equals ? g_strndup(question->typed,
                                                   (gsize)(equals - question->typed))
                                       : NULL;
        g_autofree char *begun = name ? g_strconcat(name, "=", NULL) : NULL;
        g_auto(GStrv) words = name ? extra_words(name) : NULL;
        const ExtraInfo *info;

        for (size_t i = 0; !name && (info = extra_at(i)); i++)
                offer("", info->name, "=", NULL);
        for (char **word = words; word && *word; word++)
                offer(begun, *word, "", NULL);
}

static void offer_variables(const Question *question) {
        for (char **variable = environ; *variable; variable++) {
                g_autofree char *name = g_strndup(*variable, strcspn(*variable, "="));

                offer("", name, "", NULL);
        }
}

/* By the name of the value: a new kind of value is a row. Names that are not here stand for themselves, or for anything. */
static const struct {
        const char *name;
        void (*offer)(const Question *question);
} sources[] = {
        { "GROUP", offer_groups },          { "NAME=VALUE", offer_properties },
        { "OUTCOME,...", offer_outcomes },  { "POOL", offer_pools },
        { "PROFILE", offer_profiles },      { "USER", offer_users },
        { "VAR[=VALUE]", offer_variables },
};

static bool has_capitals(const char *text) {
        return strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

/* "host|none|allow=LIST": words, and what begins with one. Of lists the one that every machine has is known. */
static void offer_words(const char *names, const Question *question) {
        static const char allow[] = "allow=";
        g_auto(GStrv) words = g_strsplit(names, "|", -1);

        for (char **word = words; *word; word++) {
                g_autofree char *begun = NULL;

                if (!has_capitals(*word)) {
                        offer("", *word, "", NULL);
                        continue;
                }
                if (!g_str_has_prefix(*word, allow))
                        continue;
                if (g_str_has_prefix(question->typed, allow))
                        begun = begun_list(question->typed, allow);
                offer(begun ?: allow, begun ? "@" ALLOW_REGISTRIES : "", "", NULL);
        }
}

/* "--pool" and "-p" alike. */
static const OptionInfo *find(const char *spelling, const char *verb) {
        const char *name = option_of_word(spelling);

        for (size_t i = 0; name && option_at(i); i++)
                if (strcmp(option_at(i)->name, name) == 0 && option_is_of(option_at(i), verb))
                        return option_at(i);
        return NULL;
}

/* Of an option, or the operand itself; NULL: there is no value. */
static const char *value_name_of(const char *word, const char *verb) {
        const OptionInfo *info = find(word, verb);

        if (word[0] != '-')
                return word;
        return info ? info->value_name : NULL;
}

int verb_list_values(char **argv) {
        const char *verb = *argv && strcmp(*argv, "run") != 0 ? *argv : NULL;
        const char *name = argv[0] && argv[1] ? value_name_of(argv[1], verb) : NULL;
        static char *const nothing[] = { NULL };
        Question question = { .typed = "", .words = (char **)nothing };

        if (!name)
                return 0;
        if (argv[2]) {
                question.typed = argv[2];
                question.words = argv + 3;
        }
        for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
                if (strcmp(sources[i].name, name) == 0) {
                        sources[i].offer(&question);
                        return 0;
                }
        offer_words(name, &question);
        return 0;
}
