/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every line is tried when it is read, on options that nobody uses: a bad value is told with its file and line, and also
 * where a later one would have taken its place. */

#include "profile.h"

#include <string.h>

#include "launcher/kernel/error.h"
#include "units/ini.h"
#include "units/name.h"
#include "units/nearest.h"
#include "units/text.h"

#define TEXT_SHOWN      40
#define PROFILE_SECTION "Profile" /* what is said of the profile itself */

static const char *const sections[] = { "Limits", "Isolation", "Run" };

/* NULL: nothing of it is in a profile. */
static const char *const section_of_group[_OPTION_GROUP_MAX] = {
        [OPTION_GROUP_LIMITS] = "Limits",
        [OPTION_GROUP_ISOLATION] = "Isolation",
        [OPTION_GROUP_WORLD] = "Run",
        [OPTION_GROUP_RECORD] = "Run",
};

const char *profile_section_at(size_t index) {
        return index < G_N_ELEMENTS(sections) ? sections[index] : NULL;
}

const char *profile_section_of(const OptionInfo *option) {
        bool is_key = option->group == OPTION_GROUP_LIMITS || option_is_key(option, NULL) ||
                      option->flags & OPTION_IN_PROFILE;

        if (!is_key || option->flags & OPTION_NOT_IN_PROFILE)
                return NULL;
        return section_of_group[option->group];
}

static void setting_free(gpointer data) {
        ProfileSetting *setting = data;

        g_free(setting->value);
        g_free(setting->file);
        g_free(setting);
}

static ProfileSetting *setting_copy(const ProfileSetting *setting) {
        ProfileSetting *copy = g_new0(ProfileSetting, 1);

        *copy = *setting;
        copy->value = g_strdup(setting->value);
        copy->file = g_strdup(setting->file);
        return copy;
}

Profile *profile_new(const char *name) {
        Profile *profile = g_new0(Profile, 1);

        profile->name = g_strdup(name);
        profile->ancestors = g_ptr_array_new_with_free_func(g_free);
        profile->files = g_ptr_array_new_with_free_func(g_free);
        profile->settings = g_ptr_array_new_with_free_func(setting_free);
        return profile;
}

void profile_free(Profile *profile) {
        if (!profile)
                return;
        g_free(profile->name);
        g_free(profile->description);
        g_free(profile->inherit);
        g_free(profile->inherit_place);
        g_ptr_array_unref(profile->ancestors);
        g_ptr_array_unref(profile->files);
        g_ptr_array_unref(profile->settings);
        g_free(profile);
}

/* Reading */

typedef struct {
        Profile *profile;
        const char *file;
        unsigned line;
} Place;

static bool fail(const Place *place, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(const Place *place, GError **error, const char *format, ...) {
        g_autofree char *what = NULL;
        va_list arguments;

        va_start(arguments, format);
        what = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE, "%s:%u: %s", place->file,
                    place->line, what);
        return false;
}

/* "timeout, grace, memory": what a section takes. */
static char *keys_of(const char *section) {
        g_autoptr(GString) words = g_string_new(NULL);

        for (size_t i = 0; option_at(i); i++)
                if (g_strcmp0(profile_section_of(option_at(i)), section) == 0)
                        g_string_append_printf(words, "%s%s", words->len > 0 ? ", " : "",
                                               option_at(i)->name);
        return g_string_free(g_steal_pointer(&words), FALSE);
}

static bool refuse_section(const Place *place, const char *section, GError **error) {
        g_autofree char *shown = text_printable(section, TEXT_SHOWN);
        g_autofree char *accepted = g_strjoin("], [", PROFILE_SECTION, sections[0], sections[1],
                                              sections[2], NULL);

        return fail(place, error, "unknown section [%s]; accepted: [%s]", shown, accepted);
}

static const OptionInfo *find_option(const char *name) {
        for (size_t i = 0; option_at(i); i++)
                if (strcmp(option_at(i)->name, name) == 0)
                        return option_at(i);
        return NULL;
}

static bool refuse_key(const Place *place, const IniEntry *entry, GError **error) {
        const OptionInfo *option = find_option(entry->key);
        const char *belongs = option ? profile_section_of(option) : NULL;
        g_autofree char *shown = text_printable(entry->key, TEXT_SHOWN);
        g_autofree char *accepted = NULL;
        Nearest nearest = nearest_to(entry->key);

        if (belongs)
                return fail(place, error, "%s: belongs into the section [%s]", shown, belongs);
        if (option)
                return fail(place, error, "%s: only for the command line%s, not part of a profile",
                            shown, option_is_key(option, NULL) ? " or a job" : "");
        for (size_t i = 0; option_at(i); i++)
                if (profile_section_of(option_at(i)))
                        nearest_offer(&nearest, option_at(i)->name);
        if (nearest.best)
                return fail(place, error, "unknown key \"%s\" (did you mean \"%s\"?)", shown,
                            nearest.best);
        accepted = keys_of(entry->section);
        return fail(place, error, "unknown key \"%s\" in [%s]; accepted: %s", shown, entry->section,
                    accepted);
}

static bool parse_flag(const char *text, bool *ret_is_true) {
        static const char *const words[2][6] = { { "0", "no", "n", "false", "f", "off" },
                                                 { "1", "yes", "y", "true", "t", "on" } };

        for (int is_true = 0; is_true < 2; is_true++)
                for (size_t i = 0; i < G_N_ELEMENTS(words[is_true]); i++)
                        if (g_ascii_strcasecmp(text, words[is_true][i]) == 0) {
                                *ret_is_true = is_true;
                                return true;
                        }
        return false;
}

static bool put(Options *options, const ProfileSetting *setting, GError **error) {
        bool is_true = false;

        if (setting->option->value_name)
                return option_put(options, setting->option, setting->value, error);
        if (parse_flag(setting->value, &is_true))
                return option_put_flag(options, setting->option, is_true, error);

        g_autofree char *shown = text_printable(setting->value, TEXT_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "\"%s\" is not accepted; accepted: yes, no", shown);
        return false;
}

static bool try_setting(const Place *place, const ProfileSetting *setting, GError **error) {
        g_auto(Options) options;
        g_autoptr(GError) refused = NULL;

        options_init(&options);
        return put(&options, setting, &refused) ||
               fail(place, error, "%s: %s", setting->option->name,
                    option_bare_message(refused->message));
}

static bool take_setting(const Place *place, const IniEntry *entry, const OptionInfo *option,
                         GError **error) {
        ProfileSetting *setting = g_new0(ProfileSetting, 1);

        *setting = (ProfileSetting){ option, g_strdup(entry->value), g_strdup(place->file),
                                     place->line };
        g_ptr_array_add(place->profile->settings, setting);
        return entry->value[0] == '\0' || try_setting(place, setting, error);
}

static bool take_inherit(const Place *place, const char *value, GError **error) {
        Profile *profile = place->profile;
        g_autoptr(GError) refused = NULL;

        if (value[0] && !name_profile_check(value, &refused))
                return fail(place, error, "Inherit: %s", option_bare_message(refused->message));
        text_replace(&profile->inherit, value[0] ? value : NULL);
        g_free(profile->inherit_place);
        profile->inherit_place = g_strdup_printf("%s:%u", place->file, place->line);
        return true;
}

/* [Profile] */
static bool take_own(const Place *place, const IniEntry *entry, GError **error) {
        Nearest nearest = nearest_to(entry->key);
        g_autofree char *shown = text_printable(entry->key, TEXT_SHOWN);

        if (strcmp(entry->key, "Description") == 0) {
                text_replace(&place->profile->description, entry->value[0] ? entry->value : NULL);
                return true;
        }
        if (strcmp(entry->key, "Inherit") == 0)
                return take_inherit(place, entry->value, error);
        if (find_option(entry->key))
                return refuse_key(place, entry, error);
        nearest_offer(&nearest, "Description");
        nearest_offer(&nearest, "Inherit");
        if (nearest.best)
                return fail(place, error, "unknown key \"%s\" (did you mean \"%s\"?)", shown,
                            nearest.best);
        return fail(place, error, "unknown key \"%s\" in [%s]; accepted: Description, Inherit",
                    shown, PROFILE_SECTION);
}

static bool take_entry(const Place *place, const IniEntry *entry, GError **error) {
        const OptionInfo *option = entry->key ? find_option(entry->key) : NULL;
        bool is_own = g_strcmp0(entry->section, PROFILE_SECTION) == 0, is_known = is_own;

        for (size_t i = 0; i < G_N_ELEMENTS(sections); i++)
                is_known = is_known || g_strcmp0(entry->section, sections[i]) == 0;
        if (!entry->section) {
                g_autofree char *shown = text_printable(entry->key, TEXT_SHOWN);

                return fail(place, error,
                            "%s: stands in no section; accepted: [%s], [%s], [%s], [%s]", shown,
                            PROFILE_SECTION, sections[0], sections[1], sections[2]);
        }
        if (!is_known)
                return refuse_section(place, entry->section, error);
        if (!entry->key)
                return true;
        if (is_own)
                return take_own(place, entry, error);
        if (!option || g_strcmp0(profile_section_of(option), entry->section) != 0)
                return refuse_key(place, entry, error);
        return take_setting(place, entry, option, error);
}

bool profile_read(Profile *profile, const char *file, const char *text, GError **error) {
        g_autoptr(GError) refused = NULL;
        g_autoptr(GPtrArray) entries = ini_read(text, &refused);

        g_ptr_array_add(profile->files, g_strdup(file));
        if (!entries) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE, "%s:%s", file,
                            refused->message);
                return false;
        }
        for (guint i = 0; i < entries->len; i++) {
                const IniEntry *entry = g_ptr_array_index(entries, i);
                const Place place = { profile, file, entry->line };

                if (!take_entry(&place, entry, error))
                        return false;
        }
        return true;
}

/* What counts */

static void append_copies(GPtrArray *settings, const GPtrArray *of) {
        for (guint i = 0; i < of->len; i++)
                g_ptr_array_add(settings, setting_copy(g_ptr_array_index(of, i)));
}

void profile_inherit(Profile *profile, const Profile *parent) {
        GPtrArray *settings = g_ptr_array_new_with_free_func(setting_free);

        g_ptr_array_add(profile->ancestors, g_strdup(parent->name));
        append_copies(settings, parent->settings);
        append_copies(settings, profile->settings);
        g_ptr_array_unref(profile->settings);
        profile->settings = settings;
}

/* From the last to the first: what has been seen of a key decides about what stands before it. */
void profile_settle(Profile *profile) {
        g_autoptr(GHashTable) closed = g_hash_table_new(NULL, NULL); /* nothing before counts */
        g_autoptr(GPtrArray) counting = g_ptr_array_new();
        GPtrArray *settings = g_ptr_array_new_with_free_func(setting_free);

        for (guint i = profile->settings->len; i-- > 0;) {
                ProfileSetting *setting = g_ptr_array_index(profile->settings, i);

                if (g_hash_table_contains(closed, setting->option))
                        continue;
                if (setting->value[0])
                        g_ptr_array_add(counting, setting);
                if (setting->value[0] == '\0' || !(setting->option->flags & OPTION_REPEATABLE))
                        g_hash_table_add(closed, (void *)setting->option);
        }
        for (guint i = counting->len; i-- > 0;)
                g_ptr_array_add(settings, setting_copy(g_ptr_array_index(counting, i)));
        g_ptr_array_unref(profile->settings);
        profile->settings = settings;
}

bool profile_apply(const Profile *profile, Options *options, GError **error) {
        for (guint i = 0; i < profile->settings->len; i++) {
                const ProfileSetting *setting = g_ptr_array_index(profile->settings, i);
                const Place place = { NULL, setting->file, setting->line };
                const OptionInfo *option = setting->option;
                g_autoptr(GError) refused = NULL;

                if (!option_is_of(option, options->verb) && !option_is_key(option, options->verb))
                        continue;
                if (!put(options, setting, &refused))
                        return fail(&place, error, "%s: %s", option->name,
                                    option_bare_message(refused->message));
                g_hash_table_replace(options->of_profile, (char *)option->name,
                                     g_strdup_printf("%s:%u", setting->file, setting->line));
        }
        return true;
}

void profile_forget_output(Options *options) {
        if (options->is_capture)
                return;
        if (g_hash_table_contains(options->of_profile, "output"))
                options->limits.is_set[LIMIT_OUTPUT] = false;
        if (g_hash_table_contains(options->of_profile, "on-output"))
                options->is_kill_on_output = false;
}
