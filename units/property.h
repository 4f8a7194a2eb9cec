/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A unit property as a value: a name and a typed value that any room can look at, print and compare, before anybody
 * writes a message. The value is a GVariant because its type strings are D-Bus signatures. A file descriptor ('h') is
 * an index into the list's descriptors, which are borrowed: the list never closes them. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
        char *name;
        GVariant *value;
} Property;

typedef struct {
        GPtrArray *items; /* of Property* */
        GArray *fds;      /* of int, borrowed */
} PropertyList;

PropertyList *property_list_new(void);
PropertyList *property_list_copy(const PropertyList *list); /* the values are shared */
void property_list_free(PropertyList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PropertyList, property_list_free)

/* Sinks a floating value. A name that is there already is replaced in place: the last word wins. */
void property_list_set(PropertyList *list, const char *name, GVariant *value);
void property_list_set_bool(PropertyList *list, const char *name, bool value);
void property_list_set_string(PropertyList *list, const char *name, const char *value);
void property_list_set_uint64(PropertyList *list, const char *name, uint64_t value);
void property_list_set_fd(PropertyList *list, const char *name, int fd);

size_t property_list_length(const PropertyList *list);
const Property *property_list_at(const PropertyList *list, size_t index);
const Property *property_list_find(const PropertyList *list, const char *name);
/* Of lists: the items of both; else as property_list_set(). */
void property_list_extend(PropertyList *list, const char *name, GVariant *value);
GVariant *property_join(GVariant *before, GVariant *after);
bool property_list_remove(PropertyList *list, const char *name);

/* One property a line, "MemoryMax=268435456", in order: for golden tests, -v and --dry-run. */
char *property_list_to_text(const PropertyList *list);
