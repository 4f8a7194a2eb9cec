/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A JSON Schema, draft 2020-12, as far as docs/schema goes: is a value what it says? A keyword that is not known here is
 * a mistake of the schema and not passed over, so nothing that a schema asks is left unasked. */

#include <cjson/cJSON.h>
#include <glib.h>
#include <stdbool.h>

typedef struct Schema Schema;

/* NULL: this is no schema, or more than is known here; ret_fault says what. */
Schema *schema_new(const char *text, char **ret_fault);
void schema_free(Schema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Schema, schema_free)

/* Of this build: SCHEMA_RECORD, SCHEMA_JOB. */
extern const char schema_record_text[], schema_job_text[];

typedef enum {
        SCHEMA_OPEN,   /* as every reader: keys that are not named may be there */
        SCHEMA_CLOSED, /* as who wrote the schema: an object that names its keys has no other */
} SchemaMode;

/* What is wrong with a value, a line for each fault with its JSON path; NULL: nothing. */
char *schema_faults(Schema *schema, const cJSON *value, SchemaMode mode);

/* The same by the schema below this pointer: "#/$defs/batch". */
char *schema_faults_at(Schema *schema, const char *pointer, const cJSON *value, SchemaMode mode);

/* What the schema says at a pointer: "#/properties/outcome/enum"; NULL: nothing. */
const cJSON *schema_at(const Schema *schema, const char *pointer);
