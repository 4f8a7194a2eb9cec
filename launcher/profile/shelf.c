/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A directory that is not there has no profiles. One that may not be read is another matter: what is in it would have
 * counted. */

#include "shelf.h"

#include <errno.h>
#include <string.h>

#include "config.h"
#include "launcher/kernel/error.h"
#include "launcher/trusted.h"
#include "units/name.h"
#include "units/nearest.h"
#include "units/text.h"

#define MACHINES_PROFILES "/etc/cordon/profiles"
#define SUFFIX            ".conf"
#define NAMES_SHOWN       20

struct ProfileShelf {
        GPtrArray *directories; /* char*, the least first */
        GHashTable *profiles;   /* name → Profile*, whole */
};

/* Beside the program, in the tree that it was built in or where it was installed to. */
static char *own_directory(void) {
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = self ? g_path_get_dirname(self) : g_strdup("/");
        g_autofree char *built = g_build_filename(directory, "profile", NULL);
        g_autofree char *installed = g_build_filename(directory, "..", "lib", "cordon", "profiles",
                                                      NULL);

        if (g_file_test(built, G_FILE_TEST_IS_DIR))
                return g_steal_pointer(&built);
        if (g_file_test(installed, G_FILE_TEST_IS_DIR))
                return g_canonicalize_filename(installed, NULL);
        return g_strdup(CORDON_PROFILE_DIR);
}

ProfileShelf *profile_shelf_new_in(const char *const *directories) {
        ProfileShelf *shelf = g_new0(ProfileShelf, 1);

        shelf->directories = g_ptr_array_new_with_free_func(g_free);
        shelf->profiles = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                (GDestroyNotify)profile_free);
        for (; *directories; directories++)
                if (g_path_is_absolute(*directories)) /* the working directory is nobody's home */
                        g_ptr_array_add(shelf->directories, g_strdup(*directories));
        return shelf;
}

ProfileShelf *profile_shelf_new(void) {
        g_autofree char *ours = own_directory();
        g_autofree char *callers = g_build_filename(g_get_user_config_dir(), "cordon", "profiles",
                                                    NULL);

        return profile_shelf_new_in((const char *[]){ ours, MACHINES_PROFILES, callers, NULL });
}

void profile_shelf_free(ProfileShelf *shelf) {
        if (!shelf)
                return;
        g_ptr_array_unref(shelf->directories);
        g_hash_table_unref(shelf->profiles);
        g_free(shelf);
}

/* Names */

static void add_names(const char *directory, GHashTable *names) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *file;

        while (dir && (file = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, file, NULL);
                g_autofree char *name = NULL;

                if (!g_str_has_suffix(file, SUFFIX) || g_file_test(path, G_FILE_TEST_IS_DIR))
                        continue;
                name = g_strndup(file, strlen(file) - strlen(SUFFIX));
                if (name_profile_check(name, NULL))
                        g_hash_table_add(names, g_steal_pointer(&name));
        }
}

static int compare_texts(gconstpointer a, gconstpointer b) {
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of a set, sorted; the set's. */
static GPtrArray *sorted_keys(GHashTable *set) {
        GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, set);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                g_ptr_array_add(keys, g_strdup(key));
        g_ptr_array_sort(keys, compare_texts);
        return keys;
}

GPtrArray *profile_shelf_names(const ProfileShelf *shelf) {
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < shelf->directories->len; i++)
                add_names(g_ptr_array_index(shelf->directories, i), names);
        return sorted_keys(names);
}

static char *names_words(const GPtrArray *names) {
        g_autoptr(GString) words = g_string_new(names->len > 0 ? NULL : "none");

        for (guint i = 0; i < MIN(names->len, NAMES_SHOWN); i++)
                g_string_append_printf(words, "%s%s", i > 0 ? ", " : "",
                                       (const char *)g_ptr_array_index(names, i));
        if (names->len > NAMES_SHOWN)
                g_string_append_printf(words, ", and %u more", names->len - NAMES_SHOWN);
        return g_string_free(g_steal_pointer(&words), FALSE);
}

/* Files */

static bool read_text(guint directory, const char *path, char **ret_text, GError **error) {
        g_autoptr(GError) refused = NULL;

        if (directory == 0 ? trusted_read_ours(path, ret_text, &refused)
                           : trusted_read(path, ret_text, &refused))
                return true;
        g_set_error_literal(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE, refused->message);
        return false;
}

/* There is nothing to be read, and no file that would have counted. */
static bool is_absent(const char *path, GError **error) {
        g_autofree char *shown = text_printable(path, G_MAXSIZE);

        if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE,
                    "%s: a link to a file that is not there", shown);
        return false;
}

/* False: it cannot be used. A profile without files: there is none. */
static bool read_main(const ProfileShelf *shelf, Profile *profile, GError **error) {
        for (guint i = shelf->directories->len; i-- > 0;) {
                g_autofree char *path = g_strconcat(g_ptr_array_index(shelf->directories, i), "/",
                                                    profile->name, SUFFIX, NULL);
                g_autofree char *text = NULL;

                if (!read_text(i, path, &text, error))
                        return false;
                if (text)
                        return profile_read(profile, path, text, error);
                if (!is_absent(path, error))
                        return false;
        }
        return true;
}

static char *drop_ins_of(const ProfileShelf *shelf, guint directory, const char *name) {
        return g_strconcat(g_ptr_array_index(shelf->directories, directory), "/", name, SUFFIX,
                           ".d", NULL);
}

static bool find_drop_ins(const char *directory, GHashTable *files, GError **error) {
        g_autoptr(GError) refused = NULL;
        g_autoptr(GDir) dir = g_dir_open(directory, 0, &refused);
        g_autofree char *shown = text_printable(directory, G_MAXSIZE);
        const char *file;

        if (!dir && (g_error_matches(refused, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                     g_error_matches(refused, G_FILE_ERROR, G_FILE_ERROR_NOTDIR)))
                return true;
        if (!dir) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE,
                            "%s: cannot be read as a directory", shown);
                return false;
        }
        while ((file = g_dir_read_name(dir)))
                if (g_str_has_suffix(file, SUFFIX) && file[0] != '.')
                        g_hash_table_add(files, g_strdup(file));
        return true;
}

/* The one of the last directory that has it. */
static bool read_drop_in(const ProfileShelf *shelf, Profile *profile, const char *file,
                         GError **error) {
        for (guint i = shelf->directories->len; i-- > 0;) {
                g_autofree char *directory = drop_ins_of(shelf, i, profile->name);
                g_autofree char *path = g_build_filename(directory, file, NULL);
                g_autofree char *text = NULL;

                if (!read_text(i, path, &text, error))
                        return false;
                if (text)
                        return profile_read(profile, path, text, error);
                if (!is_absent(path, error))
                        return false;
        }
        return true;
}

static bool read_drop_ins(const ProfileShelf *shelf, Profile *profile, GError **error) {
        g_autoptr(GHashTable) files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GPtrArray) sorted = NULL;

        for (guint i = 0; i < shelf->directories->len; i++) {
                g_autofree char *directory = drop_ins_of(shelf, i, profile->name);

                if (!find_drop_ins(directory, files, error))
                        return false;
        }
        sorted = sorted_keys(files);
        for (guint i = 0; i < sorted->len; i++)
                if (!read_drop_in(shelf, profile, g_ptr_array_index(sorted, i), error))
                        return false;
        return true;
}

/* Inheriting */

static void refuse_absent(const ProfileShelf *shelf, const char *name, const char *from,
                          GError **error) {
        g_autoptr(GPtrArray) names = profile_shelf_names(shelf);
        g_autofree char *words = names_words(names), *meant = NULL;

        g_ptr_array_add(names, NULL);
        meant = nearest_of(name, (const char *const *)names->pdata);
        g_set_error(error, LAUNCHER_ERROR, from ? LAUNCHER_ERROR_PROFILE : LAUNCHER_ERROR_BAD_VALUE,
                    "%s%sthere is no profile \"%s\"%s; there are: %s", from ?: "",
                    from ? ": Inherit: " : "", name, meant, words);
}

/* Alone, without what it inherits. `from` names the word that asked for it, NULL: the caller. */
static Profile *read_alone(const ProfileShelf *shelf, const char *name, const char *from,
                           GError **error) {
        g_autoptr(Profile) profile = profile_new(name);

        if (!read_main(shelf, profile, error))
                return NULL;
        if (profile->files->len > 0)
                return read_drop_ins(shelf, profile, error) ? g_steal_pointer(&profile) : NULL;

        refuse_absent(shelf, name, from, error);
        return NULL;
}

static bool is_among(const GPtrArray *chain, const char *name) {
        for (guint i = 0; i < chain->len; i++)
                if (strcmp(((const Profile *)g_ptr_array_index(chain, i))->name, name) == 0)
                        return true;
        return false;
}

static void refuse_cycle(const GPtrArray *chain, GError **error) {
        const Profile *last = g_ptr_array_index(chain, chain->len - 1);
        g_autoptr(GString) way = g_string_new(NULL);

        for (guint i = 0; i < chain->len; i++)
                g_string_append_printf(way, "%s → ",
                                       ((const Profile *)g_ptr_array_index(chain, i))->name);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_PROFILE,
                    "%s: Inherit: a cycle: %s%s; accepted: another profile (a file in %s" SUFFIX
                    ".d adds to %s)",
                    last->inherit_place, way->str, last->inherit, last->inherit, last->inherit);
}

/* The profile and all that it inherits from, the nearest first. */
static GPtrArray *read_chain(const ProfileShelf *shelf, const char *name, GError **error) {
        g_autoptr(GPtrArray) chain = g_ptr_array_new_with_free_func((GDestroyNotify)profile_free);
        const char *from = NULL;

        while (name) {
                Profile *profile;

                if (is_among(chain, name)) {
                        refuse_cycle(chain, error);
                        return NULL;
                }
                profile = read_alone(shelf, name, from, error);
                if (!profile)
                        return NULL;
                g_ptr_array_add(chain, profile);
                name = profile->inherit;
                from = profile->inherit_place;
        }
        return g_steal_pointer(&chain);
}

const Profile *profile_shelf_find(ProfileShelf *shelf, const char *name, GError **error) {
        Profile *profile = g_hash_table_lookup(shelf->profiles, name);
        g_autoptr(GPtrArray) chain = NULL;

        if (profile)
                return profile;
        if (!name_profile_check(name, error))
                return NULL;
        chain = read_chain(shelf, name, error);
        if (!chain)
                return NULL;
        profile = g_ptr_array_steal_index(chain, 0);
        for (guint i = 0; i < chain->len; i++)
                profile_inherit(profile, g_ptr_array_index(chain, i));
        profile_settle(profile);
        g_hash_table_insert(shelf->profiles, profile->name, profile);
        return profile;
}

bool profile_shelf_apply(ProfileShelf *shelf, const char *name, Options *options, GError **error) {
        const Profile *profile = profile_shelf_find(shelf, name, error);

        return profile && profile_apply(profile, options, error);
}
