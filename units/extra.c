/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A value is read into a list of its own first and put into the caller's when it is whole. There it meets what was said
 * before: a message can hold a name once, so lists are joined here, as systemd would join them. */

#include "extra.h"

#include <string.h>

#include "compose.h"
#include "error.h"
#include "extra-read.h"
#include "extra-table.h"
#include "limit.h"
#include "nearest.h"
#include "text.h"

#define TEXT_SHOWN 60

#define TIME_SPAN "a time span such as 30s or \"5min 20s\", or infinity"
#define PAIR      "VALUE or SOFT:HARD; "

/* clang-format off */
static const struct {
        ExtraReader read;
        const char *accepted; /* NULL: the row's words, or its numbers */
} kinds[_EXTRA_KIND_MAX] = {
        [EXTRA_BOOL] =           { extra_read_bool, "yes, no" },
        [EXTRA_BOOL_OR_WORD] =   { extra_read_bool_or_word, NULL },
        [EXTRA_WORD] =           { extra_read_word, NULL },
        [EXTRA_WORD_OR_BOOL] =   { extra_read_word_or_bool, NULL },
        [EXTRA_TEXT] =           { extra_read_text, "a text" },
        [EXTRA_PATH] =           { extra_read_path, "an absolute path" },
        [EXTRA_LABEL] =          { extra_read_label, "a text" },
        [EXTRA_INTEGER] =        { extra_read_integer, NULL },
        [EXTRA_MODE] =           { extra_read_mode, "an octal mode such as 0022" },
        [EXTRA_NUMBER_WORD] =    { extra_read_number_word, NULL },
        [EXTRA_NUMBER_WORD_T] =  { extra_read_number_word, NULL },
        [EXTRA_FLAG_WORDS] =     { extra_read_flag_words, NULL },
        [EXTRA_FLAG_WORDS_T] =   { extra_read_flag_words, NULL },
        [EXTRA_NAMESPACES] =     { extra_read_namespaces, NULL },
        [EXTRA_CAPABILITIES] =   { extra_read_capabilities, "capabilities such as CAP_NET_RAW, ~ in front for all others" },
        [EXTRA_ERRNO] =          { extra_read_errno, "an error name such as EPERM, its number, or kill" },
        [EXTRA_MEMORY] =         { extra_read_memory, "a number with K, M, G or T (1024-based), percent, or infinity" },
        [EXTRA_PERCENT] =        { extra_read_percent, "0% to 100%" },
        [EXTRA_USEC] =           { extra_read_usec, TIME_SPAN },
        [EXTRA_NSEC] =           { extra_read_nsec, TIME_SPAN },
        [EXTRA_WEIGHT] =         { extra_read_weight, "1 to 10000" },
        [EXTRA_WEIGHT_OR_IDLE] = { extra_read_weight, "1 to 10000, or idle" },
        [EXTRA_NUMBERS] =        { extra_read_numbers, "numbers and ranges such as 0,2-3" },
        [EXTRA_AFFINITY] =       { extra_read_numbers, "CPU numbers and ranges such as 0,2-3, or numa" },
        [EXTRA_RLIMIT_SIZE] =    { extra_read_rlimit, PAIR "a number with K, M, G or T (1024-based), or infinity" },
        [EXTRA_RLIMIT_COUNT] =   { extra_read_rlimit, PAIR "a whole number, or infinity" },
        [EXTRA_RLIMIT_USEC] =    { extra_read_rlimit, PAIR TIME_SPAN },
        [EXTRA_RLIMIT_NICE] =    { extra_read_rlimit, PAIR "0 to 40, a nice level with its sign, or infinity" },
        [EXTRA_WORDS] =          { extra_read_words, "words with spaces between" },
        [EXTRA_PATHS] =          { extra_read_words, "absolute paths with spaces between" },
        [EXTRA_NAMES] =          { extra_read_words, "relative paths with spaces between" },
        [EXTRA_FILTER] =         { extra_read_filter, "words with spaces between, ~ in front for all others" },
        [EXTRA_BINDS] =          { extra_read_binds, "SOURCE[:DESTINATION[:rbind|norbind]], absolute" },
        [EXTRA_TMPFS] =          { extra_read_tmpfs, "PATH[:OPTIONS], absolute" },
        [EXTRA_DEVICES] =        { extra_read_devices, "a device such as /dev/null or char-pts, and of \"rwm\" what is allowed" },
        [EXTRA_DEVICE_BYTES] =   { extra_read_device_number, "a device or file, and a number with K, M, G or T (1000-based)" },
        [EXTRA_DEVICE_WEIGHT] =  { extra_read_device_number, "a device or file, and 1 to 10000" },
        [EXTRA_DEVICE_USEC] =    { extra_read_device_number, "a device or file, and a time span such as 25ms" },
        [EXTRA_ADDRESSES] =      { extra_read_addresses, "addresses such as 10.0.0.0/8, any, localhost, link-local, multicast" },
};
/* clang-format on */

static bool is_yes_or_no(ExtraKind kind) {
        return kind == EXTRA_BOOL || kind == EXTRA_BOOL_OR_WORD || kind == EXTRA_WORD_OR_BOOL ||
               kind == EXTRA_NAMESPACES;
}

/* Without the numbers that stand for them. */
static char **words_of(const ExtraInfo *info) {
        g_autofree char *all = g_strconcat(is_yes_or_no(info->kind) ? "yes no " : "",
                                           info->words ?: "", NULL);
        char **words = g_strsplit(g_strchomp(all), " ", -1);

        for (char **word = words; *word; word++)
                (*word)[strcspn(*word, "=")] = '\0';
        return words;
}

char **extra_words(const char *name) {
        const ExtraInfo *info = extra_find(name);

        return info && (info->words || is_yes_or_no(info->kind)) ? words_of(info) : NULL;
}

/* "yes, no, full, strict" */
static char *words_accepted(const ExtraInfo *info) {
        g_auto(GStrv) words = words_of(info);
        g_autofree char *joined = g_strjoinv(", ", words);

        return g_strconcat(joined,
                           info->kind == EXTRA_NAMESPACES ? ", ~ in front for all others" : "",
                           NULL);
}

static char *what_is_accepted(const ExtraInfo *info) {
        if (kinds[info->kind].accepted)
                return g_strdup(kinds[info->kind].accepted);
        if (info->words)
                return words_accepted(info);
        return g_strdup_printf("a whole number from %d to %d", info->min, info->max);
}

static bool fail_value(const ExtraInfo *info, const char *text, GError **error) {
        g_autofree char *shown = text_printable(text, TEXT_SHOWN);
        g_autofree char *accepted = what_is_accepted(info);
        g_auto(GStrv) words = words_of(info);
        bool is_one = !strchr(text, ' '); /* else it is a list of them */
        g_autofree char *meant = nearest_of(text, is_one ? (const char *const *)words : NULL);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                    "-p: %s: \"%s\" is not accepted%s; accepted: %s", info->name, shown, meant,
                    accepted);
        return false;
}

/* A limit of ours has an option of its own. */
static const char *limit_option(const char *property) {
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (g_strcmp0(limit_info((Limit)i)->property, property) == 0)
                        return limit_info((Limit)i)->key;
        return NULL;
}

static bool fail_name(const char *name, GError **error) {
        g_autofree char *shown = text_printable(name, TEXT_SHOWN);
        Nearest nearest = nearest_to(name);
        const char *limit;

        for (size_t i = 0; extra_at(i); i++)
                nearest_offer(&nearest, extra_at(i)->name);
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limit_info((Limit)i)->property)
                        nearest_offer(&nearest, limit_info((Limit)i)->property);
        limit = nearest.best ? limit_option(nearest.best) : NULL;
        if (limit)
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                            "-p: \"%s\" is not a property that cordon knows; for %s use --%s",
                            shown, nearest.best, limit);
        else
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                            "-p: \"%s\" is not a property that cordon knows%s%s%s", shown,
                            nearest.best ? ", but " : "", nearest.best ?: "",
                            nearest.best ? " is" : "");
        return false;
}

/* Joining */

static bool is_list(GVariant *value) {
        return g_variant_is_of_type(value, G_VARIANT_TYPE_ARRAY) &&
               !g_variant_is_of_type(value, G_VARIANT_TYPE_BYTESTRING);
}

/* A filter that allows and one that forbids cannot be told in one. */
static bool join_filters(GVariant *before, GVariant *after, GVariant **ret_joined) {
        g_autoptr(GVariant) allows = g_variant_get_child_value(before, 0);
        g_autoptr(GVariant) allows_after = g_variant_get_child_value(after, 0);
        g_autoptr(GVariant) words = g_variant_get_child_value(before, 1);
        g_autoptr(GVariant) words_after = g_variant_get_child_value(after, 1);

        if (!g_variant_equal(allows, allows_after))
                return false;
        *ret_joined = g_variant_new("(b@as)", g_variant_get_boolean(allows),
                                    property_join(words, words_after));
        return true;
}

static bool is_empty_filter(GVariant *filter) {
        g_autoptr(GVariant) words = g_variant_get_child_value(filter, 1);

        return g_variant_n_children(words) == 0;
}

/* What the property is after both; false: the two contradict each other. */
static bool join(GVariant *before, GVariant *after, GVariant **ret_joined) {
        *ret_joined = after;
        if (g_variant_is_of_type(after, G_VARIANT_TYPE("(bas)")) && !is_empty_filter(after) &&
            !is_empty_filter(before))
                return join_filters(before, after, ret_joined);
        if (is_list(after) && g_variant_n_children(after) > 0)
                *ret_joined = property_join(before, after);
        return true;
}

static bool add_all(const PropertyList *from, PropertyList *list, GError **error) {
        for (size_t i = 0; i < property_list_length(from); i++) {
                const Property *property = property_list_at(from, i);
                const Property *before = property_list_find(list, property->name);
                GVariant *value = property->value;

                if (before && !join(before->value, property->value, &value)) {
                        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                                    "-p: %s: given with and without ~, which cannot be joined",
                                    property->name);
                        return false;
                }
                property_list_set(list, property->name, value);
        }
        return true;
}

bool extra_parse(const char *assignment, PropertyList *list, GError **error) {
        g_autoptr(PropertyList) read = property_list_new();
        const char *equals = strchr(assignment, '=');
        g_autofree char *name = equals ? g_strndup(assignment, (gsize)(equals - assignment)) : NULL;
        const ExtraInfo *info;

        if (!equals || equals == assignment || !g_utf8_validate(assignment, -1, NULL)) {
                g_autofree char *shown = text_printable(assignment, TEXT_SHOWN);

                g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                            "-p: \"%s\" is not NAME=VALUE", shown);
                return false;
        }
        if (!compose_check_extra(name, error))
                return false;
        info = extra_find(name);
        if (!info)
                return fail_name(name, error);
        if (!kinds[info->kind].read(info, equals + 1, read))
                return fail_value(info, equals + 1, error);
        return add_all(read, list, error);
}

/* Namespaces */

static bool is_off(GVariant *value) {
        static const char *const words[] = { "", "no", "default", "all", "auto", NULL };

        if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
                return !g_variant_get_boolean(value);
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
                return g_strv_contains(words, g_variant_get_string(value, NULL));
        return is_list(value) && g_variant_n_children(value) == 0;
}

/* By its name on the bus, which may be the row's with "Ex" behind it. */
static unsigned own_of(const Property *property) {
        g_autofree char *name = g_strdup(property->name);
        const ExtraInfo *info = extra_find(name);

        if (!info && g_str_has_suffix(name, "Ex")) {
                name[strlen(name) - strlen("Ex")] = '\0';
                info = extra_find(name);
        }
        if (!info || is_off(property->value))
                return 0;
        /* private, strict: more than yes gives */
        if (g_str_equal(property->name, "ProtectControlGroupsEx"))
                return info->own | EXTRA_OWN_CGROUP;
        return info->own;
}

/* An unprivileged manager makes the others in a user namespace, and mounts what shows them. */
unsigned extra_asked_namespaces(const PropertyList *list) {
        unsigned asked = 0;

        for (size_t i = 0; list && i < property_list_length(list); i++)
                asked |= own_of(property_list_at(list, i));
        return asked;
}

unsigned extra_own_namespaces(const PropertyList *list) {
        unsigned own = extra_asked_namespaces(list);

        return own ? own | EXTRA_OWN_MOUNT | EXTRA_OWN_USER : 0;
}

const char *extra_needs_bpf(const PropertyList *list) {
        for (size_t i = 0; list && i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);
                const ExtraInfo *info = extra_find(property->name);

                if (info && info->needs_bpf && !is_off(property->value))
                        return property->name;
        }
        return NULL;
}

/* By a name on the bus, which may say in what the number is. */
static const ExtraInfo *row_of(const char *name) {
        static const char *const ends[][2] = { { "", "" }, { "Scale", "" }, { "USec", "Sec" } };

        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
                size_t stem = strlen(name) - strlen(ends[i][0]);
                g_autofree char *row = NULL;

                if (!g_str_has_suffix(name, ends[i][0]))
                        continue;
                row = g_strdup_printf("%.*s%s", (int)stem, name, ends[i][1]);
                if (extra_find(row))
                        return extra_find(row);
        }
        return NULL;
}

const char *extra_needs_service(const PropertyList *list) {
        for (size_t i = 0; list && i < property_list_length(list); i++) {
                const char *name = property_list_at(list, i)->name;
                const ExtraInfo *info = row_of(name);

                if (!info || !(info->in_scope || info->is_own))
                        return name;
        }
        return NULL;
}

bool extra_is_own(const char *name) {
        const ExtraInfo *info = row_of(name);

        return info && info->is_own;
}

void extra_compose_own(const PropertyList *list, PropertyList *unit) {
        for (size_t i = 0; list && i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);

                if (extra_is_own(property->name))
                        property_list_set(unit, property->name, property->value);
        }
}

bool extra_has(const PropertyList *list, const char *name) {
        return list && property_list_find(list, name);
}

uint32_t extra_rlimits(const PropertyList *list) {
        uint32_t resources = 0;

        for (size_t i = 0; list && i < property_list_length(list); i++) {
                const char *name = property_list_at(list, i)->name;
                const ExtraInfo *info = g_str_has_prefix(name, "Limit") ? extra_find(name) : NULL;

                if (info)
                        resources |= UINT32_C(1) << info->resource;
        }
        return resources;
}
