/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A profile: what options can say, under a name, in configuration files. Its keys are the rows of the option table and of
 * the limit table, and its sections are their groups: a new row is a key without another line of code. Here is what a
 * text means; which files there are is profile/shelf's business. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/options.h"

typedef struct {
        const OptionInfo *option;
        char *value; /* as it is written; empty: what was said of this key so far is forgotten */
        char *file;
        unsigned line;
} ProfileSetting;

typedef struct {
        char *name;
        char *description;    /* NULL: none */
        char *inherit;        /* another's name; NULL: none */
        char *inherit_place;  /* "FILE:LINE" of that word */
        GPtrArray *ancestors; /* char*: all that it inherits from, the nearest first */
        GPtrArray *files;     /* char*: it was read from these, the one with its name first */
        GPtrArray *settings;  /* ProfileSetting*, in the order in which they count */
} Profile;

Profile *profile_new(const char *name);
void profile_free(Profile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Profile, profile_free)

/* Puts a file's text on top. The message of a refusal begins with "FILE:LINE: ". */
bool profile_read(Profile *profile, const char *file, const char *text,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Puts what another says below, and leaves of all settings those that count. */
void profile_inherit(Profile *profile, const Profile *parent);
void profile_settle(Profile *profile);

/* Puts it into the options, as far as the verb has them; they say then where each came from. */
bool profile_apply(const Profile *profile, Options *options,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What is not captured is not counted: there a profile's bounds of the output are not meant. */
void profile_forget_output(Options *options);

/* "Limits"; NULL: the option is no key of a profile. */
const char *profile_section_of(const OptionInfo *option);
/* In the order of display; NULL ends them. */
const char *profile_section_at(size_t index);
