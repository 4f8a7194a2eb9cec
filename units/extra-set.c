/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are a number which stands for a word or for several: flags, capabilities, CPUs. */

#include <string.h>

#include "extra-read.h"
#include "parse.h"
#include "words.h"

/* By number, without "cap_" in front: the kernel's order. */
static const char *const capabilities[] = {
        "chown",
        "dac_override",
        "dac_read_search",
        "fowner",
        "fsetid",
        "kill",
        "setgid",
        "setuid",
        "setpcap",
        "linux_immutable",
        "net_bind_service",
        "net_broadcast",
        "net_admin",
        "net_raw",
        "ipc_lock",
        "ipc_owner",
        "sys_module",
        "sys_rawio",
        "sys_chroot",
        "sys_ptrace",
        "sys_pacct",
        "sys_admin",
        "sys_boot",
        "sys_nice",
        "sys_resource",
        "sys_time",
        "sys_tty_config",
        "mknod",
        "lease",
        "audit_write",
        "audit_control",
        "setfcap",
        "mac_override",
        "mac_admin",
        "syslog",
        "wake_alarm",
        "block_suspend",
        "audit_read",
        "perfmon",
        "bpf",
        "checkpoint_restore",
};

/* The number behind "word=" in "word=1 other=2". */
static bool number_of(const char *pairs, const char *word, uint64_t *ret_number) {
        size_t length = strlen(word);

        for (const char *p = pairs; length > 0; p += strspn(p, " ")) {
                if (strncmp(p, word, length) == 0 && p[length] == '=') {
                        *ret_number = g_ascii_strtoull(p + length + 1, NULL, 10);
                        return true;
                }
                p += strcspn(p, " ");
                if (*p == '\0')
                        return false;
        }
        return false;
}

static bool put(const ExtraInfo *info, uint64_t number, PropertyList *out) {
        bool is_wide = info->kind != EXTRA_NUMBER_WORD && info->kind != EXTRA_FLAG_WORDS;

        property_list_set(out, info->name,
                          is_wide ? g_variant_new_uint64(number)
                                  : g_variant_new_int32((int32_t)number));
        return true;
}

bool extra_read_number_word(const ExtraInfo *info, const char *text, PropertyList *out) {
        uint64_t number;

        return number_of(info->words, text, &number) && put(info, number, out);
}

static bool read_flags(const char *pairs, const char *text, uint64_t *ret_flags) {
        g_auto(GStrv) words = words_split(text);

        *ret_flags = 0;
        for (char **word = words; word && *word; word++) {
                uint64_t flag;

                if (!number_of(pairs, *word, &flag))
                        return false;
                *ret_flags |= flag;
        }
        return words != NULL;
}

bool extra_read_flag_words(const ExtraInfo *info, const char *text, PropertyList *out) {
        uint64_t flags;

        return read_flags(info->words, text, &flags) && put(info, flags, out);
}

static uint64_t all_flags(const char *pairs) {
        uint64_t all = 0;

        for (const char *p = pairs; (p = strchr(p, '=')); p++)
                all |= g_ascii_strtoull(p + 1, NULL, 10);
        return all;
}

/* The flags are those that are allowed: "yes" restricts all of them. */
bool extra_read_namespaces(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_inverted = text[0] == '~', is_true;
        uint64_t flags;

        if (extra_bool(text, &is_true))
                return put(info, is_true ? 0 : all_flags(info->words), out);
        if (!read_flags(info->words, text + is_inverted, &flags))
                return false;
        return put(info, is_inverted ? ~flags & all_flags(info->words) : flags, out);
}

static bool capability_of(const char *word, uint64_t *ret_capability) {
        if (g_ascii_strncasecmp(word, "cap_", 4) != 0)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
                if (g_ascii_strcasecmp(word + 4, capabilities[i]) == 0) {
                        *ret_capability = UINT64_C(1) << i;
                        return true;
                }
        return false;
}

bool extra_read_capabilities(const ExtraInfo *info, const char *text, PropertyList *out) {
        bool is_inverted = text[0] == '~';
        g_auto(GStrv) words = words_split(text + is_inverted);
        uint64_t all = 0, capability;

        for (char **word = words; word && *word; word++) {
                if (!capability_of(*word, &capability))
                        return false;
                all |= capability;
        }
        return words && put(info, is_inverted ? ~all : all, out);
}

/* Commas or spaces between; a bitmap on the bus. */
bool extra_read_numbers(const ExtraInfo *info, const char *text, PropertyList *out) {
        g_auto(GStrv) words = words_split(text);
        g_autofree char *list = words ? g_strjoinv(",", words) : NULL;
        g_autofree uint8_t *bytes = NULL;
        uint64_t count;
        size_t size;

        if (info->kind == EXTRA_AFFINITY && strcmp(text, "numa") == 0) {
                property_list_set_bool(out, "CPUAffinityFromNUMA", true);
                return true;
        }
        if (!list || parse_cpu_list(list, &bytes, &size, &count) != PARSE_OK)
                return false;
        property_list_set(out, info->name,
                          g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, bytes, size, 1));
        return true;
}
