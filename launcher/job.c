/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The keys that are more than an option have a row here, all others are rows of the option table. A value is refused in
 * the words that the option would use, with the JSON path in place of the option's name. */

#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "launcher/kernel/error.h"
#include "units/nearest.h"
#include "units/text.h"

#define JOB_SIZE_MAX (16U << 20)
#define TEXT_SHOWN   40

static bool job_error(GError **error, const char *path, const char *format, ...)
        G_GNUC_PRINTF(3, 4);

static bool job_error(GError **error, const char *path, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_autofree char *what = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB, "%s: %s", path, what);
        return false;
}

static bool check_kind(const JsonValue *value, JsonKind kind, const char *needed, const char *path,
                       GError **error) {
        if (value->kind == kind)
                return true;
        return job_error(error, path, "%s is needed, here is %s", needed,
                         json_kind_words(value->kind));
}

/* "--memory: …" becomes "$.limits.memory: …". The code stays, but for one: nobody used an option wrongly. */
static bool rename_error(const char *path, GError *refused, GError **error) {
        const char *message = option_bare_message(refused->message);

        if (g_error_matches(refused, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE))
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB, "%s: %s", path, message);
        else
                g_set_error(error, refused->domain, refused->code, "%s: %s", path, message);
        return false;
}

/* It is the job's now, whoever said it before. */
static void own(Options *options, const char *name) {
        g_hash_table_remove(options->of_profile, name);
        g_hash_table_add(options->of_job, (char *)name);
}

/* The values */

static bool take_command(Options *options, const JsonValue *value, const char *path,
                         GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!check_kind(value, JSON_ARRAY, "an array of strings", path, error))
                return false;
        if (value->items->len == 0)
                return job_error(error, path, "at least one word is needed");
        for (guint i = 0; i < value->items->len; i++) {
                const JsonValue *item = g_ptr_array_index(value->items, i);
                g_autofree char *item_path = json_path_item(path, i);

                if (!check_kind(item, JSON_STRING, "a string", item_path, error))
                        return false;
                g_ptr_array_add(words, g_strdup(item->text));
        }
        g_ptr_array_add(words, NULL);
        g_strfreev(options->job_command);
        options->job_command = (char **)g_ptr_array_free(g_steal_pointer(&words), FALSE);
        return true;
}

typedef bool (*TakeMember)(Options *options, const char *name, const JsonValue *value,
                           const char *path, GError **error);

static bool take_members(Options *options, const JsonValue *value, const char *needed,
                         const char *path, TakeMember take, GError **error) {
        if (!check_kind(value, JSON_OBJECT, needed, path, error))
                return false;
        for (guint i = 0; i < value->items->len; i++) {
                const char *name = g_ptr_array_index(value->names, i);
                g_autofree char *member_path = json_path_member(path, name);

                if (!take(options, name, g_ptr_array_index(value->items, i), member_path, error))
                        return false;
        }
        return true;
}

/* On the command line these stand in front of a "=". */
static bool check_pair(const char *name, const JsonValue *value, const char *path, GError **error) {
        if (name[0] == '\0' || strchr(name, '='))
                return job_error(error, path, "a name is not empty and has no \"=\" in it");
        return check_kind(value, JSON_STRING, "a string", path, error);
}

static bool take_variable(Options *options, const char *name, const JsonValue *value,
                          const char *path, GError **error) {
        if (!check_pair(name, value, path, error))
                return false;
        g_ptr_array_add(options->variables, g_strconcat(name, "=", value->text, NULL));
        return true;
}

static bool take_env(Options *options, const JsonValue *value, const char *path, GError **error) {
        return take_members(options, value, "an object of strings", path, take_variable, error);
}

static bool take_label(Options *options, const char *name, const JsonValue *value, const char *path,
                       GError **error) {
        if (!check_pair(name, value, path, error))
                return false;
        g_hash_table_replace(options->labels, g_strdup(name), g_strdup(value->text));
        return true;
}

static bool take_labels(Options *options, const JsonValue *value, const char *path,
                        GError **error) {
        return take_members(options, value, "an object of strings", path, take_label, error);
}

/* Without an exponent a number's spelling is what the command line takes, digit by digit; a sign is for it to refuse. */
static bool take_limit_number(Options *options, Limit limit, const char *text, const char *path,
                              GError **error) {
        g_autofree char *shown = text_printable(text, TEXT_SHOWN);
        double number;
        bool has_digit; /* other than 0 */

        if (!strpbrk(text, "eE") || text[0] == '-')
                return limit_set_parse(&options->limits, limit, text, error);
        number = g_ascii_strtod(text, NULL);
        has_digit = g_ascii_isdigit(text[strcspn(text, "123456789eE")]);
        if (!isfinite(number) || (number == 0 && has_digit))
                return job_error(error, path, "%s does not fit into a number", shown);
        return limit_set_number(&options->limits, limit, number, error);
}

static bool unknown_key(const char *path, const Nearest *nearest, GError **error) {
        if (nearest->best)
                return job_error(error, path, "unknown key (did you mean \"%s\"?)", nearest->best);
        return job_error(error, path, "unknown key");
}

static bool is_option_key(const char *verb, const char *name) {
        for (size_t i = 0; option_at(i); i++)
                if (strcmp(option_at(i)->name, name) == 0)
                        return option_is_key(option_at(i), verb);
        return false;
}

static bool take_limit(Options *options, const char *name, const JsonValue *value, const char *path,
                       GError **error) {
        g_autoptr(GError) refused = NULL;
        Nearest nearest = nearest_to(name);
        Limit limit;
        bool taken;

        if (!limit_from_key(name, &limit)) {
                for (int i = 0; i < _LIMIT_MAX; i++)
                        nearest_offer(&nearest, limit_info((Limit)i)->key);
                if (is_option_key(options->verb, name))
                        return job_error(error, path, "not a limit; it belongs beside \"limits\"");
                return unknown_key(path, &nearest, error);
        }
        if (value->kind == JSON_NUMBER)
                taken = take_limit_number(options, limit, value->text, path, &refused);
        else if (!check_kind(value, JSON_STRING, "a string or a number", path, error))
                return false;
        else
                taken = limit_set_parse(&options->limits, limit, value->text, &refused);
        if (taken) {
                own(options, limit_info(limit)->key);
                return true;
        }
        if (g_error_matches(refused, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB)) {
                g_propagate_error(error, g_steal_pointer(&refused));
                return false;
        }
        return rename_error(path, refused, error);
}

static bool take_limits(Options *options, const JsonValue *value, const char *path,
                        GError **error) {
        return take_members(options, value, "an object", path, take_limit, error);
}

/* The keys */

static const struct {
        const char *key;
        bool (*take)(Options *options, const JsonValue *value, const char *path, GError **error);
        const char *option; /* whose place it takes */
} own_keys[] = {
        { "command", take_command, NULL },
        { "env", take_env, "setenv" },
        { "labels", take_labels, "label" },
        { "limits", take_limits, NULL },
};

static bool give(Options *options, const OptionInfo *info, const char *value, const char *path,
                 GError **error) {
        g_autoptr(GError) refused = NULL;

        if (!info->take(options, value, &refused))
                return rename_error(path, refused, error);
        own(options, info->name);
        return true;
}

static bool take_repeatable(Options *options, const OptionInfo *info, const JsonValue *value,
                            const char *path, GError **error) {
        for (guint i = 0; i < value->items->len; i++) {
                const JsonValue *item = g_ptr_array_index(value->items, i);
                g_autofree char *item_path = json_path_item(path, i);

                if (!check_kind(item, JSON_STRING, "a string", item_path, error) ||
                    !give(options, info, item->text, item_path, error))
                        return false;
        }
        return true;
}

static bool take_flag(Options *options, const OptionInfo *info, const JsonValue *value,
                      const char *path, GError **error) {
        g_autoptr(GError) refused = NULL;

        if (!check_kind(value, JSON_BOOLEAN, "true or false", path, error))
                return false;
        if (!option_put_flag(options, info, value->is_true, &refused))
                return rename_error(path, refused, error);
        own(options, info->name);
        return true;
}

static bool take_option(Options *options, const OptionInfo *info, const JsonValue *value,
                        const char *path, GError **error) {
        bool is_repeatable = info->flags & OPTION_REPEATABLE;

        if (!info->value_name)
                return take_flag(options, info, value, path, error);
        if (is_repeatable && value->kind == JSON_ARRAY)
                return take_repeatable(options, info, value, path, error);
        if ((info->flags & OPTION_COUNT) && value->kind == JSON_NUMBER)
                return give(options, info, value->text, path, error);
        return check_kind(value, JSON_STRING, is_repeatable ? "a string or an array" : "a string",
                          path, error) &&
               give(options, info, value->text, path, error);
}

static bool refuse_key(const char *verb, const char *name, const char *path, GError **error) {
        Nearest nearest = nearest_to(name);
        Limit limit;

        for (size_t i = 0; i < G_N_ELEMENTS(own_keys); i++) {
                if (g_strcmp0(own_keys[i].option, name) == 0)
                        return job_error(error, path, "unknown key; use \"%s\"", own_keys[i].key);
                nearest_offer(&nearest, own_keys[i].key);
        }
        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *info = option_at(i);
                bool is_same = strcmp(info->name, name) == 0;

                if (is_same && info->group == OPTION_GROUP_LIMITS)
                        return job_error(error, path, "a limit; it belongs into \"limits\"");
                if (is_same && !option_is_of(info, verb))
                        return job_error(error, path, "cordon %s has no such option",
                                         verb ?: "run");
                if (is_same)
                        return job_error(error, path,
                                         "only for the command line, not part of a job");
                if (option_is_key(info, verb) || info->group == OPTION_GROUP_LIMITS)
                        nearest_offer(&nearest, info->name);
        }
        if (nearest.best && limit_from_key(nearest.best, &limit))
                return job_error(error, path,
                                 "unknown key (did you mean \"%s\"? it belongs into \"limits\")",
                                 nearest.best);
        return unknown_key(path, &nearest, error);
}

static bool take_key(Options *options, const char *name, const JsonValue *value, const char *path,
                     GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(own_keys); i++)
                if (strcmp(own_keys[i].key, name) == 0)
                        return own_keys[i].take(options, value, path, error);
        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *info = option_at(i);

                if (strcmp(info->name, name) == 0 && option_is_key(info, options->verb))
                        return take_option(options, info, value, path, error);
        }
        return refuse_key(options->verb, name, path, error);
}

bool job_parse(const char *text, size_t size, Options *options, GError **error) {
        g_autoptr(JsonValue) job = json_read(text, size, error);

        return job && take_members(options, job, "an object", "$", take_key, error);
}

/* Files */

static bool read_fd(int fd, GByteArray *bytes, GError **error) {
        static const size_t step = 64 * 1024;

        for (;;) {
                guint before = bytes->len;

                g_byte_array_set_size(bytes, before + step);

                ssize_t n = read(fd, bytes->data + before, step);

                g_byte_array_set_size(bytes, before + (guint)MAX(n, 0));
                if (n == 0)
                        return true;
                if (n < 0 && errno != EINTR) {
                        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB, "cannot read it: %s",
                                    g_strerror(errno));
                        return false;
                }
                if (bytes->len > JOB_SIZE_MAX) {
                        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB,
                                    "larger than 16M, which no job is");
                        return false;
                }
        }
}

GByteArray *job_read(const char *place, GError **error) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        bool is_stdin = strcmp(place, "-") == 0, was_read;
        int fd = is_stdin ? STDIN_FILENO : open(place, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0) {
                g_autofree char *shown = text_printable(place, TEXT_SHOWN);

                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB, "cannot open \"%s\": %s",
                            shown, g_strerror(errno));
                return NULL;
        }
        was_read = read_fd(fd, bytes, error);
        if (!is_stdin)
                (void)close(fd);
        return was_read ? g_steal_pointer(&bytes) : NULL;
}
