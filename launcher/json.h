/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A strict reader of JSON (RFC 8259), for what strangers hand us. It refuses what lenient readers pass over: a key that
 * is there twice, a NUL in a string, a lone surrogate, bytes that are not UTF-8, a byte order mark, text behind the end
 * and nesting without end. Numbers are kept as they are written, because only who wants one knows what fits. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH_MAX 64 /* arrays and objects inside each other */

typedef enum {
        JSON_NULL,
        JSON_BOOLEAN,
        JSON_NUMBER,
        JSON_STRING,
        JSON_ARRAY,
        JSON_OBJECT,
} JsonKind;

typedef struct {
        JsonKind kind;
        bool is_true; /* of a boolean */
        char *text; /* of a string: its characters, never with a NUL in them; of a number: its spelling */
        GPtrArray *items; /* of an array or an object: JsonValue*; NULL else */
        GPtrArray *names; /* of an object: char*, one for each item, no two alike; NULL else */
} JsonValue;

/* The one value that the text is. The error says where: "$.limits: expected … (line 3, column 7)". */
JsonValue *json_read(const char *text, size_t size, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void json_free(JsonValue *value);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonValue, json_free)

const char *json_kind_words(JsonKind kind); /* "an array" */

/* Paths for messages: "$" is the whole, "$.limits.memory", "$.command[2]", "$.env["A B"]" what is inside. */
char *json_path_member(const char *path, const char *name);
char *json_path_item(const char *path, size_t index);
