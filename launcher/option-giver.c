/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whoever gave a value is told in his own words: the command line, a job, a profile. Below us everybody knows options
 * alone. */

#include <string.h>

#include "options.h"

static const char *place_of(const Options *options, const char *name) {
        return g_hash_table_lookup(options->of_profile, name);
}

char *options_said_as(const Options *options, const char *name) {
        Limit limit;

        if (place_of(options, name))
                return g_strconcat(place_of(options, name), ": ", name, NULL);
        if (!g_hash_table_contains(options->of_job, name))
                return g_strconcat("--", name, NULL);
        return g_strconcat(limit_from_key(name, &limit) ? "$.limits." : "$.", name, NULL);
}

char *options_say(const Options *options, const char *message) {
        const char *name = option_of_word(message);
        bool is_profiles = name && place_of(options, name);

        if (!name || (!is_profiles && !g_hash_table_contains(options->of_job, name)))
                return g_strdup(message);

        g_autofree char *said = options_said_as(options, name);

        return g_strconcat(is_profiles ? "" : options->job_words, is_profiles ? "" : ": ", said,
                           message + strcspn(message, ": "), NULL);
}

const char *option_bare_message(const char *message) {
        const char *behind = strstr(message, ": ");
        bool begins_with_option = message[0] == '-' && behind &&
                                  strcspn(message, " ") == (size_t)(behind + 1 - message);

        return begins_with_option ? behind + 2 : message;
}

/* Values from elsewhere */

bool option_put(Options *options, const OptionInfo *info, const char *value, GError **error) {
        Limit limit;

        if (limit_from_key(info->name, &limit))
                return limit_set_parse(&options->limits, limit, value, error);
        return info->take(options, value, error);
}

/* "--no-NAME", for those that have one. */
static const OptionInfo *opposite_of(const OptionInfo *info) {
        g_autofree char *name = g_strconcat("no-", info->name, NULL);

        for (size_t i = 0; option_at(i); i++)
                if (strcmp(option_at(i)->name, name) == 0)
                        return option_at(i);
        return NULL;
}

bool option_put_flag(Options *options, const OptionInfo *info, bool is_true, GError **error) {
        const OptionInfo *said = is_true ? info : opposite_of(info);

        if (!is_true && info->flag)
                *(bool *)((char *)options + info->flag) = false;
        return !said || said->take(options, NULL, error);
}
