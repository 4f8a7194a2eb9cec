/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are lists. An empty text is an empty list, which takes back what was there before. */

#include <arpa/inet.h>
#include <string.h>

#include "extra-amount.h"
#include "extra-read.h"
#include "parse.h"
#include "words.h"

#define MOUNT_RECURSIVE UINT64_C(16384) /* MS_REC */

static bool path_is_accepted(const char *path) {
        return path[strspn(path, "-+")] == '/';
}

static bool name_is_accepted(const char *name) {
        g_auto(GStrv) parts = g_strsplit(name, "/", -1);

        return name[0] != '/' && name[0] != '\0' && !strchr(name, ':') &&
               !g_strv_contains((const char *const *)parts, "..");
}

bool extra_read_words(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_auto(GStrv) words = words_split(text);

        for (char **word = words; word && *word; word++)
                if ((info->kind == EXTRA_PATHS && !path_is_accepted(*word)) ||
                    (info->kind == EXTRA_NAMES && !name_is_accepted(*word)))
                        return false;
        if (!words)
                return false;
        property_list_set(out, info->name, g_variant_new_strv((const char *const *)words, -1));
        return true;
}

bool extra_read_filter(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_inverted = text[0] == '~';
        g_auto(GStrv) words = words_split(text + is_inverted);

        if (!words)
                return false;
        property_list_set(out, info->name, g_variant_new("(b^as)", !is_inverted, words));
        return true;
}

/* One SOURCE[:DESTINATION[:OPTION]]. */
static WordsResult read_bind(const char **cursor, GVariantBuilder *builder) {
        g_autofree char *source = NULL, *destination = NULL, *option = NULL;
        WordsResult result;
        bool is_optional;
        char separator;

        result = words_next(cursor, ":", &source, &separator);
        if (result == WORDS_WORD && separator == ':')
                result = words_next(cursor, ":", &destination, &separator);
        if (result == WORDS_WORD && destination && separator == ':')
                result = words_next(cursor, "", &option, &separator);
        if (result != WORDS_WORD)
                return source ? WORDS_MALFORMED : result;

        is_optional = source[0] == '-';
        if (source[is_optional] != '/' || (destination && destination[0] != '/') ||
            (option && strcmp(option, "rbind") != 0 && strcmp(option, "norbind") != 0))
                return WORDS_MALFORMED;
        g_variant_builder_add(builder, "(ssbt)", source + is_optional,
                              destination ? destination : source + is_optional, is_optional,
                              g_strcmp0(option, "norbind") == 0 ? UINT64_C(0) : MOUNT_RECURSIVE);
        return WORDS_WORD;
}

bool extra_read_binds(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(ssbt)"));
        WordsResult result;

        do
                result = read_bind(&text, builder);
        while (result == WORDS_WORD);

        if (result == WORDS_MALFORMED)
                return false;
        property_list_set(out, info->name, g_variant_builder_end(builder));
        return true;
}

bool extra_read_tmpfs(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(ss)"));
        g_auto(GStrv) words = words_split(text);

        for (char **word = words; word && *word; word++) {
                g_auto(GStrv) parts = g_strsplit(*word, ":", 2);

                if ((*word)[0] != '/')
                        return false;
                g_variant_builder_add(builder, "(ss)", parts[0], parts[1] ? parts[1] : "");
        }
        if (!words)
                return false;
        property_list_set(out, info->name, g_variant_builder_end(builder));
        return true;
}

/* A device, and what stands behind the space: NULL when there is none. */
static const char *split_device(const char *text, char **ret_device) {
        const char *space = strchr(text, ' ');

        *ret_device = space ? g_strndup(text, (gsize)(space - text)) : g_strdup(text);
        return space ? space + 1 + strspn(space + 1, " ") : NULL;
}

bool extra_read_devices(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(ss)"));
        g_autofree char *device = NULL;
        const char *access = split_device(text, &device);
        bool is_device = g_str_has_prefix(device, "/") || g_str_has_prefix(device, "char-") ||
                         g_str_has_prefix(device, "block-");

        if (text[0] != '\0') {
                if (!is_device || (access && access[strspn(access, "rwm")] != '\0'))
                        return false;
                g_variant_builder_add(builder, "(ss)", device, access ? access : "");
        }
        property_list_set(out, info->name, g_variant_builder_end(builder));
        return true;
}

static bool read_device_amount(ExtraKind kind, const char *text, uint64_t *ret_amount) {
        *ret_amount = UINT64_MAX;
        if (kind == EXTRA_DEVICE_WEIGHT)
                return parse_count(text, ret_amount) == PARSE_OK && *ret_amount >= 1 &&
                       *ret_amount <= 10000;
        if (kind == EXTRA_DEVICE_USEC)
                return extra_amount_sec(text, ret_amount);
        return strcmp(text, "infinity") == 0 || extra_amount_decimal(text, ret_amount);
}

bool extra_read_device_number(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(st)"));
        g_autofree char *device = NULL, *name = NULL;
        const char *amount_text = split_device(text, &device);
        uint64_t amount;

        name = info->kind == EXTRA_DEVICE_USEC ? extra_usec_name(info->name) : g_strdup(info->name);
        if (text[0] != '\0') {
                if (device[0] != '/' || !amount_text ||
                    !read_device_amount(info->kind, amount_text, &amount))
                        return false;
                g_variant_builder_add(builder, "(st)", device, amount);
        }
        property_list_set(out, name, g_variant_builder_end(builder));
        return true;
}

/* Addresses */

static const struct {
        const char *word;
        const char *prefixes[2];
} named_addresses[] = {
        { "any", { "0.0.0.0/0", "::/0" } },
        { "localhost", { "127.0.0.0/8", "::1/128" } },
        { "link-local", { "169.254.0.0/16", "fe80::/64" } },
        { "multicast", { "224.0.0.0/4", "ff00::/8" } },
};

/* ADDRESS[/LENGTH] */
static bool add_address(GVariantBuilder *builder, const char *text) {
        g_auto(GStrv) parts = g_strsplit(text, "/", 2);
        uint8_t bytes[sizeof(struct in6_addr)];
        int family = strchr(text, ':') ? AF_INET6 : AF_INET;
        size_t size = family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
        uint64_t length = size * 8;

        if (!parts[0] || inet_pton(family, parts[0], bytes) != 1)
                return false;
        if (parts[1] && (parse_count(parts[1], &length) != PARSE_OK || length > size * 8))
                return false;
        g_variant_builder_add(builder, "(i@ayu)", family,
                              g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes, size, 1),
                              (guint32)length);
        return true;
}

static bool add_addresses(GVariantBuilder *builder, const char *word) {
        for (size_t i = 0; i < G_N_ELEMENTS(named_addresses); i++)
                if (strcmp(named_addresses[i].word, word) == 0)
                        return add_address(builder, named_addresses[i].prefixes[0]) &&
                               add_address(builder, named_addresses[i].prefixes[1]);
        return add_address(builder, word);
}

bool extra_read_addresses(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(iayu)"));
        g_auto(GStrv) words = words_split(text);

        for (char **word = words; word && *word; word++)
                if (!add_addresses(builder, *word))
                        return false;
        if (!words)
                return false;
        property_list_set(out, info->name, g_variant_builder_end(builder));
        return true;
}
