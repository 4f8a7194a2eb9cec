/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The readers behind the kinds of units/extra-table: text → one or two properties in a list. False: the text is not
 * what the kind accepts, and the list may hold the half of it. */

#include <stdbool.h>

#include "extra-table.h"
#include "property.h"

typedef bool (*ExtraReader)(const ExtraInfo *info, const char *text, PropertyList *out);

/* One value: units/extra-value */
bool extra_read_bool(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_bool_or_word(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_word(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_word_or_bool(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_text(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_path(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_label(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_integer(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_mode(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_errno(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_memory(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_percent(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_usec(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_nsec(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_weight(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_rlimit(const ExtraInfo *info, const char *text, PropertyList *out);

/* Some of many: units/extra-set */
bool extra_read_number_word(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_flag_words(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_namespaces(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_capabilities(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_numbers(const ExtraInfo *info, const char *text, PropertyList *out);

/* Lists: units/extra-list */
bool extra_read_words(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_filter(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_binds(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_tmpfs(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_devices(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_device_number(const ExtraInfo *info, const char *text, PropertyList *out);
bool extra_read_addresses(const ExtraInfo *info, const char *text, PropertyList *out);

/* yes, true, on, y, t, 1 and their opposites, in any case */
bool extra_bool(const char *text, bool *ret_is_true);
char *extra_usec_name(const char *name); /* "…Sec" as "…USec" */
