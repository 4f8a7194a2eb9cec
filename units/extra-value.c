/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are one value. The hard thing is that a few change their name on the bus with what they say. */

#include <errno.h>
#include <string.h>

#include "extra-amount.h"
#include "extra-read.h"
#include "parse.h"

#define INFINITE    UINT64_MAX
#define WEIGHT_MAX  10000
#define WEIGHT_IDLE 0
#define ERRNO_MAX   4095
#define ERRNO_KILL  (INT32_MAX - 1) /* what systemd sends for "kill" */

bool extra_bool(const char *text, bool *ret_is_true) {
        static const char *const words[] = { "no", "yes", "false", "true", "off", "on",
                                             "n",  "y",   "f",     "t",    "0",   "1" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (g_ascii_strcasecmp(words[i], text) == 0) {
                        *ret_is_true = i % 2 == 1;
                        return true;
                }
        return false;
}

bool extra_read_bool(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_true;

        if (!extra_bool(text, &is_true))
                return false;
        property_list_set_bool(out, info->name, is_true);
        return true;
}

static bool is_one_of(const char *words, const char *text) {
        g_auto(GStrv) list = g_strsplit(words, " ", -1);

        return text[0] != '\0' && g_strv_contains((const char *const *)list, text);
}

bool extra_read_word(const ExtraInfo *info, const char *text, PropertyList *out) {
        if (!is_one_of(info->words, text))
                return false;
        property_list_set_string(out, info->name, text);
        return true;
}

bool extra_read_bool_or_word(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autofree char *name = g_strconcat(info->name, "Ex", NULL);

        if (extra_read_bool(info, text, out))
                return true;
        if (!is_one_of(info->words, text))
                return false;
        property_list_set_string(out, name, text);
        return true;
}

bool extra_read_word_or_bool(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_true;

        if (!extra_bool(text, &is_true))
                return extra_read_word(info, text, out);
        property_list_set_string(out, info->name, is_true ? "yes" : "no");
        return true;
}

bool extra_read_text(const ExtraInfo *info, const char *text, PropertyList *out) {
        property_list_set_string(out, info->name, text);
        return true;
}

bool extra_read_path(const ExtraInfo *info, const char *text, PropertyList *out) {
        return text[0] == '/' && extra_read_text(info, text, out);
}

bool extra_read_label(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_optional = text[0] == '-';

        property_list_set(out, info->name,
                          g_variant_new("(bs)", is_optional, text + (is_optional ? 1 : 0)));
        return true;
}

static bool read_integer(const char *text, int64_t min, int64_t max, int64_t *ret_number) {
        bool is_negative = text[0] == '-';
        uint64_t number;

        if (parse_count(text + (text[0] == '-' || text[0] == '+' ? 1 : 0), &number) != PARSE_OK ||
            number > INT32_MAX)
                return false;
        *ret_number = is_negative ? -(int64_t)number : (int64_t)number;
        return *ret_number >= min && *ret_number <= max;
}

bool extra_read_integer(const ExtraInfo *info, const char *text, PropertyList *out) {
        int64_t number;

        if (!read_integer(text, info->min, info->max, &number))
                return false;
        property_list_set(out, info->name, g_variant_new_int32((int32_t)number));
        return true;
}

bool extra_read_mode(const ExtraInfo *info, const char *text, PropertyList *out) {
        size_t length = strspn(text, "01234567");

        if (length == 0 || text[length] || length > 5 || g_ascii_strtoull(text, NULL, 8) > 07777)
                return false;
        property_list_set(out, info->name,
                          g_variant_new_uint32((guint32)g_ascii_strtoull(text, NULL, 8)));
        return true;
}

bool extra_read_errno(const ExtraInfo *info, const char *text, PropertyList *out) {
        int64_t number = strcmp(text, "kill") == 0 ? ERRNO_KILL : 0;

        for (int i = 1; number == 0 && i <= ERRNO_MAX; i++)
                if (g_strcmp0(strerrorname_np(i), text) == 0)
                        number = i;
        if (number == 0 && !read_integer(text, 1, ERRNO_MAX, &number))
                return false;
        property_list_set(out, info->name, g_variant_new_int32((int32_t)number));
        return true;
}

/* Percent travels as a fraction of 2^32 − 1, rounded. */
static GVariant *scale_new(uint64_t permyriad) {
        return g_variant_new_uint32((guint32)((permyriad * UINT32_MAX + 5000) / 10000));
}

static bool read_share(const char *text, uint64_t *ret_permyriad) {
        return extra_amount_percent(text, ret_permyriad) && *ret_permyriad <= 10000;
}

bool extra_read_memory(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autofree char *scale_name = g_strconcat(info->name, "Scale", NULL);
        uint64_t amount = INFINITE;

        if (read_share(text, &amount)) {
                property_list_set(out, scale_name, scale_new(amount));
                return true;
        }
        if (strcmp(text, "infinity") != 0 && !extra_amount_bytes(text, &amount))
                return false;
        property_list_set_uint64(out, info->name, amount);
        return true;
}

bool extra_read_percent(const ExtraInfo *info, const char *text, PropertyList *out) {
        uint64_t permyriad;

        if (!read_share(text, &permyriad))
                return false;
        property_list_set(out, info->name, scale_new(permyriad));
        return true;
}

char *extra_usec_name(const char *name) {
        g_assert(g_str_has_suffix(name, "Sec"));
        return g_strdup_printf("%.*sUSec", (int)(strlen(name) - strlen("Sec")), name);
}

bool extra_read_usec(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autofree char *name = extra_usec_name(info->name);
        uint64_t usec = INFINITE;

        if (strcmp(text, "infinity") != 0 && !extra_amount_sec(text, &usec))
                return false;
        property_list_set_uint64(out, name, usec);
        return true;
}

bool extra_read_nsec(const ExtraInfo *info, const char *text, PropertyList *out) {
        uint64_t nsec = INFINITE;

        if (strcmp(text, "infinity") != 0 && !extra_amount_nsec(text, &nsec))
                return false;
        property_list_set_uint64(out, info->name, nsec);
        return true;
}

bool extra_read_weight(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_idle = info->kind == EXTRA_WEIGHT_OR_IDLE && strcmp(text, "idle") == 0;
        uint64_t weight = WEIGHT_IDLE;

        if (!is_idle &&
            (parse_count(text, &weight) != PARSE_OK || weight == 0 || weight > WEIGHT_MAX))
                return false;
        property_list_set_uint64(out, info->name, weight);
        return true;
}

/* Resource limits */

/* With a sign it is a nice level, without it is what the kernel counts: 20 less the level. */
static bool read_nice_limit(const char *text, uint64_t *ret_limit) {
        bool has_sign = text[0] == '+' || text[0] == '-';
        int64_t number;

        if (!read_integer(text, has_sign ? -20 : 0, has_sign ? 19 : 40, &number))
                return false;
        *ret_limit = (uint64_t)(has_sign ? 20 - number : number);
        return true;
}

static bool read_rlimit(ExtraKind kind, const char *text, uint64_t *ret_limit) {
        *ret_limit = INFINITE;
        if (strcmp(text, "infinity") == 0)
                return true;
        if (kind == EXTRA_RLIMIT_SIZE)
                return extra_amount_bytes(text, ret_limit);
        if (kind == EXTRA_RLIMIT_USEC)
                return extra_amount_usec(text, ret_limit);
        if (kind == EXTRA_RLIMIT_NICE)
                return read_nice_limit(text, ret_limit);
        return parse_count(text, ret_limit) == PARSE_OK;
}

bool extra_read_rlimit(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autofree char *soft_name = g_strconcat(info->name, "Soft", NULL);
        const char *colon = strchr(text, ':');
        g_autofree char *soft_text = colon ? g_strndup(text, (gsize)(colon - text))
                                           : g_strdup(text);
        uint64_t soft, hard;

        if (!read_rlimit(info->kind, soft_text, &soft) ||
            !read_rlimit(info->kind, colon ? colon + 1 : text, &hard) || soft > hard)
                return false;
        /* Hard first: systemd gives both the value of the first one that it meets. */
        property_list_set_uint64(out, info->name, hard);
        property_list_set_uint64(out, soft_name, soft);
        return true;
}
