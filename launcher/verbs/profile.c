/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon profile: which profiles there are, and what one says, line by line. No manager is asked. */

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "launcher/kernel/error.h"
#include "launcher/options.h"
#include "launcher/profile/shelf.h"
#include "units/text.h"
#include "verbs.h"

#define SCHEMA         1
#define STATUS_FAILURE 125

static int refuse(const GError *error) {
        g_autofree char *line = text_printable(error->message, G_MAXSIZE);

        fprintf(stderr, "cordon: %s%s\n", line,
                launcher_error_is_mistake(error) ? "; see cordon profile --help" : "");
        return STATUS_FAILURE;
}

/* Tables: each column as wide as its widest text, the last one as it is. */

#define COLUMNS 3

static void row_free(gpointer data) {
        char **row = data;

        for (size_t i = 0; i < COLUMNS; i++)
                g_free(row[i]);
        g_free(row);
}

static void add_row(GPtrArray *rows, const char *first, const char *second, const char *third) {
        const char *const texts[COLUMNS] = { first, second, third };
        char **row = g_new0(char *, COLUMNS);

        for (size_t i = 0; i < COLUMNS; i++)
                row[i] = text_printable(texts[i], G_MAXSIZE);
        g_ptr_array_add(rows, row);
}

static void print_rows(const GPtrArray *rows, const char *indent) {
        glong widths[COLUMNS] = { 0 };

        for (guint i = 0; i < rows->len; i++)
                for (size_t j = 0; j < COLUMNS; j++) {
                        char *const *row = g_ptr_array_index(rows, i);

                        widths[j] = MAX(widths[j], g_utf8_strlen(row[j], -1));
                }
        for (guint i = 0; i < rows->len; i++) {
                char *const *row = g_ptr_array_index(rows, i);

                printf("%s", indent);
                for (size_t j = 0; j + 1 < COLUMNS; j++)
                        printf("%s%*s", row[j], (int)(widths[j] - g_utf8_strlen(row[j], -1)) + 2,
                               "");
                printf("%s\n", row[COLUMNS - 1]);
        }
}

static void print_json(cJSON *object) {
        char *text = isatty(STDOUT_FILENO) ? cJSON_Print(object) : cJSON_PrintUnformatted(object);

        printf("%s\n", text);
        cJSON_free(text);
        cJSON_Delete(object);
}

/* All of them */

static void add_string(cJSON *object, const char *key, const char *value) {
        g_autofree char *valid = value ? g_utf8_make_valid(value, -1) : NULL;

        if (valid)
                cJSON_AddStringToObject(object, key, valid);
}

static cJSON *entry_of(const char *name, const Profile *profile, const GError *error) {
        cJSON *entry = cJSON_CreateObject();

        add_string(entry, "name", name);
        if (profile) {
                add_string(entry, "description", profile->description);
                add_string(entry, "file", g_ptr_array_index(profile->files, 0));
        } else {
                cJSON *object = cJSON_AddObjectToObject(entry, "error");

                add_string(object, "code", launcher_error_word(error));
                add_string(object, "message", error->message);
        }
        return entry;
}

/* Those that can be used are shown whatever the others are. */
static int list(ProfileShelf *shelf, bool is_json) {
        g_autoptr(GPtrArray) names = profile_shelf_names(shelf);
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);
        cJSON *object = cJSON_CreateObject();
        cJSON *entries;
        int status = 0;

        cJSON_AddNumberToObject(object, "schema", SCHEMA);
        entries = cJSON_AddArrayToObject(object, "profiles");
        for (guint i = 0; i < names->len; i++) {
                const char *name = g_ptr_array_index(names, i);
                g_autoptr(GError) error = NULL;
                const Profile *profile = profile_shelf_find(shelf, name, &error);

                cJSON_AddItemToArray(entries, entry_of(name, profile, error));
                if (profile)
                        add_row(rows, name, profile->description,
                                g_ptr_array_index(profile->files, 0));
                else
                        status = is_json ? STATUS_FAILURE : refuse(error);
        }
        if (is_json) {
                print_json(object);
                return status;
        }
        print_rows(rows, "");
        cJSON_Delete(object);
        return status;
}

/* One */

/* Settings in the order of the tables, section by section. */
typedef void (*ShowSetting)(void *userdata, const char *section, const ProfileSetting *setting);

static void walk_option(const Profile *profile, const OptionInfo *option, const char *section,
                        ShowSetting show, void *userdata) {
        for (guint i = 0; i < profile->settings->len; i++) {
                const ProfileSetting *setting = g_ptr_array_index(profile->settings, i);

                if (setting->option == option)
                        show(userdata, section, setting);
        }
}

static void walk_section(const Profile *profile, const char *section, ShowSetting show,
                         void *userdata) {
        for (size_t i = 0; option_at(i); i++)
                if (g_strcmp0(profile_section_of(option_at(i)), section) == 0)
                        walk_option(profile, option_at(i), section, show, userdata);
}

static void add_setting_row(void *userdata, const char *section, const ProfileSetting *setting) {
        g_autofree char *place = g_strdup_printf("%s:%u", setting->file, setting->line);

        add_row(userdata, setting->option->name, setting->value, place);
}

static void add_setting_object(void *userdata, const char *section, const ProfileSetting *setting) {
        cJSON *object = cJSON_CreateObject();

        add_string(object, "section", section);
        add_string(object, "key", setting->option->name);
        add_string(object, "value", setting->value);
        add_string(object, "file", setting->file);
        cJSON_AddNumberToObject(object, "line", setting->line);
        cJSON_AddItemToArray(userdata, object);
}

static void print_texts(const char *title, const GPtrArray *texts) {
        for (guint i = 0; i < texts->len; i++) {
                g_autofree char *shown = text_printable(g_ptr_array_index(texts, i), G_MAXSIZE);

                printf("  %-8s  %s\n", i == 0 ? title : "", shown);
        }
}

static void show_text(const Profile *profile) {
        g_autofree char *description = text_printable(profile->description, G_MAXSIZE);

        printf("%s%s%s\n", profile->name, description[0] ? ": " : "", description);
        print_texts("files", profile->files);
        print_texts("inherits", profile->ancestors);
        for (size_t i = 0; profile_section_at(i); i++) {
                g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(row_free);

                walk_section(profile, profile_section_at(i), add_setting_row, rows);
                if (rows->len == 0)
                        continue;
                printf("\n[%s]\n", profile_section_at(i));
                print_rows(rows, "  ");
        }
}

static void add_texts(cJSON *object, const char *key, const GPtrArray *texts) {
        cJSON *array = cJSON_AddArrayToObject(object, key);

        for (guint i = 0; i < texts->len; i++) {
                g_autofree char *valid = g_utf8_make_valid(g_ptr_array_index(texts, i), -1);

                cJSON_AddItemToArray(array, cJSON_CreateString(valid));
        }
}

static void show_json(const Profile *profile) {
        cJSON *object = cJSON_CreateObject();
        cJSON *settings;

        cJSON_AddNumberToObject(object, "schema", SCHEMA);
        add_string(object, "name", profile->name);
        add_string(object, "description", profile->description);
        add_texts(object, "files", profile->files);
        add_texts(object, "inherits", profile->ancestors);
        settings = cJSON_AddArrayToObject(object, "settings");
        for (size_t i = 0; profile_section_at(i); i++)
                walk_section(profile, profile_section_at(i), add_setting_object, settings);
        print_json(object);
}

int verb_profile(char **argv) {
        g_auto(Options) options = { 0 };
        g_autoptr(ProfileShelf) shelf = profile_shelf_new();
        g_autoptr(GError) error = NULL;
        const Profile *profile;

        options_init(&options);
        options.verb = VERB_PROFILE;
        if (!options_parse(&options, argv, &error))
                return refuse(error);
        if (options.is_help) {
                help_print_profile(stdout);
                return 0;
        }
        if (!options.profile)
                return list(shelf, options.is_json);
        profile = profile_shelf_find(shelf, options.profile, &error);
        if (!profile)
                return refuse(error);
        if (options.is_json)
                show_json(profile);
        else
                show_text(profile);
        return 0;
}
