/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any text as a profile: read into settings that every verb's options take, or refused in one line that begins with the
 * file and a line of it. What counts in the end counts again. */

#include "fuzz.h"
#include "launcher/profile/profile.h"

static void check_refusal(const char *text, const char *message) {
        guint64 line = 0, lines = 1;

        g_assert(g_str_has_prefix(message, "f:"));
        line = g_ascii_strtoull(message + 2, NULL, 10);
        for (const char *c = text; *c; c++)
                lines += *c == '\n';
        g_assert(line >= 1 && line <= lines);
        g_assert(!strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
        g_assert(strlen(message) < 4096);
}

static void try_verb(const Profile *profile, const char *verb) {
        g_auto(Options) options;

        options_init(&options);
        options.verb = verb;
        g_assert(profile_apply(profile, &options, NULL));
        profile_forget_output(&options);
        g_assert(options.is_capture || !options.limits.is_set[LIMIT_OUTPUT]);
}

static void check_settings(const Profile *profile) {
        for (guint i = 0; i < profile->settings->len; i++) {
                const ProfileSetting *setting = g_ptr_array_index(profile->settings, i);

                g_assert(profile_section_of(setting->option));
                g_assert(setting->value[0] && g_utf8_validate(setting->value, -1, NULL));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(Profile) profile = profile_new("p"), heir = profile_new("q");
        g_autoptr(GError) error = NULL;
        bool is_read = profile_read(profile, "f", text, &error);
        guint count;

        g_assert(is_read == !error);
        if (error) {
                check_refusal(text, error->message);
                return 0;
        }
        g_assert(!profile->inherit || profile->inherit_place);
        profile_settle(profile);
        check_settings(profile);
        count = profile->settings->len;
        profile_settle(profile);
        profile_inherit(heir, profile);
        profile_settle(heir);
        g_assert(profile->settings->len == count && heir->settings->len == count);
        try_verb(profile, NULL);
        try_verb(profile, VERB_SHELL);
        try_verb(profile, VERB_BATCH);
        return 0;
}
