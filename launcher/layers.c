/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which layers there are is known only when those above were read, so they are read once to learn it, and again on top of
 * what was found. The name of a profile may stand in either; the upper one counts. */

#include "layers.h"

#include <string.h>

#include "job.h"

static bool read_job(const char *place, const GByteArray *job, Options *options, GError **error) {
        if (!job_parse((const char *)job->data, job->len, options, error)) {
                g_prefix_error(error, "--job: ");
                return false;
        }
        /* It came over standard input and has used that up: the program gets none, unless another is named. */
        if (strcmp(place, "-") == 0 && !options->input)
                options->input = g_strdup("null");
        return true;
}

static bool apply(ProfileShelf *shelf, const char *name, const char *said, Options *options,
                  GError **error) {
        if (profile_shelf_apply(shelf, name, options, error))
                return true;
        g_prefix_error(error, "%s: ", said);
        return false;
}

/* The words once more, on top. */
static bool read_words(bool is_good, Options *options, char **argv, GError **error) {
        return options_parse(options, argv, is_good ? error : NULL) && is_good;
}

bool layers_parse(Options *options, char **argv, GError **error) {
        bool is_good = options_parse(options, argv, error);
        g_autofree char *place = g_steal_pointer(&options->job), *name = NULL;
        g_autoptr(ProfileShelf) shelf = NULL;
        g_autoptr(GByteArray) job = NULL;

        if (!is_good || options->is_help)
                return is_good;
        if (place) {
                options_restart(options);
                job = job_read(place, error);
                if (!job)
                        g_prefix_error(error, "--job: ");
                is_good = job && read_job(place, job, options, error);
                is_good = read_words(is_good, options, argv, error);
                g_clear_pointer(&options->job, g_free);
        }
        if (!is_good || !options->profile)
                return is_good;

        name = g_strdup(options->profile);
        shelf = profile_shelf_new();
        options_restart(options);
        is_good = apply(shelf, name, "--profile", options, error);
        if (job)
                is_good = read_job(place, job, options, is_good ? error : NULL) && is_good;
        is_good = read_words(is_good, options, argv, error);
        g_clear_pointer(&options->job, g_free);
        profile_forget_output(options);
        return is_good;
}

bool layers_parse_line(Options *options, ProfileShelf *shelf, char **argv, const char *text,
                       size_t size, GError **error) {
        g_autofree char *name = NULL;
        const char *said;

        if (!options_parse(options, argv, error) || !job_parse(text, size, options, error))
                return false;
        if (!options->profile)
                return true;
        name = g_strdup(options->profile);
        said = g_hash_table_contains(options->of_job, "profile") ? "$.profile" : "--profile";
        if (!profile_shelf_find(shelf, name, NULL)) /* what was read stays, for the record */
                return apply(shelf, name, said, options, error);
        options_restart(options);
        return apply(shelf, name, said, options, error) && options_parse(options, argv, error) &&
               job_parse(text, size, options, error);
}
