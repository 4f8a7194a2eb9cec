/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One function a keyword, in a table; a schema is valid where all of its keywords are. The hard thing are the keywords that
 * ask whether a value *would* be valid (not, if, oneOf): they look with nobody listening, and what they find is no fault
 * yet. */

#include "schema.h"

#include <stdint.h>
#include <string.h>

struct Schema {
        cJSON *root;
        GHashTable *patterns; /* text → GRegex */
};

/* Where in the value we are, and who listens. */
typedef struct {
        Schema *schema;
        SchemaMode mode;
        GString *faults; /* NULL: nobody */
        const char *path;
} Look;

static bool is_valid(const Look *look, const cJSON *schema, const cJSON *value);

static bool G_GNUC_PRINTF(2, 3) fault(const Look *look, const char *format, ...) {
        va_list arguments;

        if (!look->faults)
                return false;
        va_start(arguments, format);
        g_string_append_printf(look->faults, "%s%s: ", look->faults->len > 0 ? "\n" : "",
                               look->path);
        g_string_append_vprintf(look->faults, format, arguments);
        va_end(arguments);
        return false;
}

/* Exact keys: cJSON's own look is not. */
static const cJSON *member(const cJSON *object, const char *name) {
        return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_valid_silently(const Look *look, const cJSON *schema, const cJSON *value) {
        const Look silent = { look->schema, look->mode, NULL, look->path };

        return is_valid(&silent, schema, value);
}

static bool is_member_valid(const Look *look, const cJSON *schema, const cJSON *value) {
        g_autofree char *path = g_strdup_printf("%s.%s", look->path, value->string);
        const Look inside = { look->schema, look->mode, look->faults, path };

        return is_valid(&inside, schema, value);
}

/* Types and values */

/* Above 2^53 there is no double that is not whole. */
static bool is_integer(const cJSON *value) {
        double number = value->valuedouble;

        return cJSON_IsNumber(value) &&
               (number > 0x1p53 || number < -0x1p53 || (double)(int64_t)number == number);
}

static const struct {
        const char *name;
        cJSON_bool (*is_it)(const cJSON *value);
} types[] = {
        { "array", cJSON_IsArray },   { "boolean", cJSON_IsBool },  { "null", cJSON_IsNull },
        { "number", cJSON_IsNumber }, { "object", cJSON_IsObject }, { "string", cJSON_IsString },
};

static bool is_of_type(const cJSON *value, const char *name) {
        if (strcmp(name, "integer") == 0)
                return is_integer(value);
        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (strcmp(types[i].name, name) == 0)
                        return types[i].is_it(value);
        return false;
}

static bool check_type(const Look *look, const cJSON *asked, const cJSON *schema,
                       const cJSON *value) {
        g_autofree char *text = NULL;

        if (cJSON_IsString(asked) && is_of_type(value, asked->valuestring))
                return true;
        for (const cJSON *one = asked->child; one; one = one->next)
                if (is_of_type(value, one->valuestring))
                        return true;
        text = cJSON_PrintUnformatted(asked);
        return fault(look, "is not of type %s", text);
}

static bool check_const(const Look *look, const cJSON *asked, const cJSON *schema,
                        const cJSON *value) {
        g_autofree char *text = cJSON_PrintUnformatted(asked);

        return cJSON_Compare(asked, value, true) || fault(look, "is not %s", text);
}

static bool check_enum(const Look *look, const cJSON *asked, const cJSON *schema,
                       const cJSON *value) {
        g_autofree char *text = NULL;

        for (const cJSON *one = asked->child; one; one = one->next)
                if (cJSON_Compare(one, value, true))
                        return true;
        text = cJSON_PrintUnformatted(asked);
        return fault(look, "is none of %s", text);
}

static bool check_minimum(const Look *look, const cJSON *asked, const cJSON *schema,
                          const cJSON *value) {
        return !cJSON_IsNumber(value) || value->valuedouble >= asked->valuedouble ||
               fault(look, "%.17g is less than %.17g", value->valuedouble, asked->valuedouble);
}

static bool check_maximum(const Look *look, const cJSON *asked, const cJSON *schema,
                          const cJSON *value) {
        return !cJSON_IsNumber(value) || value->valuedouble <= asked->valuedouble ||
               fault(look, "%.17g is more than %.17g", value->valuedouble, asked->valuedouble);
}

static bool check_min_length(const Look *look, const cJSON *asked, const cJSON *schema,
                             const cJSON *value) {
        return !cJSON_IsString(value) ||
               g_utf8_strlen(value->valuestring, -1) >= (glong)asked->valuedouble ||
               fault(look, "is too short");
}

static bool check_pattern(const Look *look, const cJSON *asked, const cJSON *schema,
                          const cJSON *value) {
        const GRegex *pattern = g_hash_table_lookup(look->schema->patterns, asked->valuestring);

        return !cJSON_IsString(value) || g_regex_match(pattern, value->valuestring, 0, NULL) ||
               fault(look, "\"%.200s\" does not match %s", value->valuestring, asked->valuestring);
}

/* Arrays */

static bool check_items(const Look *look, const cJSON *asked, const cJSON *schema,
                        const cJSON *value) {
        bool are_valid = true;
        size_t index = 0;

        if (!cJSON_IsArray(value))
                return true;
        for (const cJSON *item = value->child; item; item = item->next) {
                g_autofree char *path = g_strdup_printf("%s[%zu]", look->path, index++);
                const Look inside = { look->schema, look->mode, look->faults, path };

                are_valid = is_valid(&inside, asked, item) && are_valid;
        }
        return are_valid;
}

static bool check_min_items(const Look *look, const cJSON *asked, const cJSON *schema,
                            const cJSON *value) {
        return !cJSON_IsArray(value) || cJSON_GetArraySize(value) >= asked->valueint ||
               fault(look, "has too few items");
}

static bool check_unique(const Look *look, const cJSON *asked, const cJSON *schema,
                         const cJSON *value) {
        if (!cJSON_IsArray(value) || !cJSON_IsTrue(asked))
                return true;
        for (const cJSON *item = value->child; item; item = item->next)
                for (const cJSON *other = item->next; other; other = other->next)
                        if (cJSON_Compare(item, other, true))
                                return fault(look, "has an item twice");
        return true;
}

/* Objects */

static bool check_properties(const Look *look, const cJSON *asked, const cJSON *schema,
                             const cJSON *value) {
        bool are_valid = true;

        if (!cJSON_IsObject(value))
                return true;
        for (const cJSON *one = asked->child; one; one = one->next) {
                const cJSON *found = member(value, one->string);

                are_valid = (!found || is_member_valid(look, one, found)) && are_valid;
        }
        return are_valid;
}

static bool check_additional(const Look *look, const cJSON *asked, const cJSON *schema,
                             const cJSON *value) {
        const cJSON *named = member(schema, "properties");
        bool are_valid = true;

        if (!cJSON_IsObject(value))
                return true;
        for (const cJSON *one = value->child; one; one = one->next)
                if (!member(named, one->string))
                        are_valid = is_member_valid(look, asked, one) && are_valid;
        return are_valid;
}

static bool check_required(const Look *look, const cJSON *asked, const cJSON *schema,
                           const cJSON *value) {
        bool are_there = true;

        if (!cJSON_IsObject(value))
                return true;
        for (const cJSON *one = asked->child; one; one = one->next)
                if (!member(value, one->valuestring))
                        are_there = fault(look, "lacks \"%s\"", one->valuestring);
        return are_there;
}

static bool check_dependent(const Look *look, const cJSON *asked, const cJSON *schema,
                            const cJSON *value) {
        bool are_there = true;

        for (const cJSON *one = asked->child; one; one = one->next)
                if (member(value, one->string))
                        are_there = check_required(look, one, schema, value) && are_there;
        return are_there;
}

static bool check_names(const Look *look, const cJSON *asked, const cJSON *schema,
                        const cJSON *value) {
        bool are_valid = true;

        if (!cJSON_IsObject(value))
                return true;
        for (const cJSON *one = value->child; one; one = one->next) {
                const cJSON name = { .type = cJSON_String, .valuestring = one->string };

                are_valid = is_valid(look, asked, &name) && are_valid;
        }
        return are_valid;
}

/* Schemas of schemas */

static bool check_ref(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value) {
        return is_valid(look, schema_at(look->schema, asked->valuestring), value);
}

static bool check_all(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value) {
        bool are_valid = true;

        for (const cJSON *one = asked->child; one; one = one->next)
                are_valid = is_valid(look, one, value) && are_valid;
        return are_valid;
}

static unsigned count_valid(const Look *look, const cJSON *schemas, const cJSON *value) {
        unsigned count = 0;

        for (const cJSON *one = schemas->child; one; one = one->next)
                count += is_valid_silently(look, one, value);
        return count;
}

static bool check_any(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value) {
        return count_valid(look, asked, value) > 0 || fault(look, "is nothing of anyOf");
}

static bool check_one(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value) {
        unsigned count = count_valid(look, asked, value);

        return count == 1 || fault(look, "is %u of oneOf", count);
}

static bool check_not(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value) {
        g_autofree char *text = cJSON_PrintUnformatted(asked);

        return !is_valid_silently(look, asked, value) ||
               fault(look, "is what it must not be: %s", text);
}

static bool check_if(const Look *look, const cJSON *asked, const cJSON *schema,
                     const cJSON *value) {
        bool holds = is_valid_silently(look, asked, value);
        const cJSON *chosen = member(schema, holds ? "then" : "else");

        return !chosen || is_valid(look, chosen, value);
}

/* The keywords. What stands behind one is a value, one schema, several in an array or in an object. */
typedef enum {
        OPERAND_TEXT,
        OPERAND_NUMBER,
        OPERAND_BOOLEAN,
        OPERAND_ANYTHING,
        OPERAND_ARRAY, /* of values */
        OPERAND_TYPE,
        OPERAND_REF,
        OPERAND_PATTERN,
        OPERAND_LISTS, /* an object of arrays of strings */
        OPERAND_NAMES, /* an array of strings */
        OPERAND_SCHEMA,
        OPERAND_SCHEMAS,
        OPERAND_MEMBERS,
} Operand;

static const struct {
        const char *name;
        Operand operand;
        bool (*check)(const Look *look, const cJSON *asked, const cJSON *schema,
                      const cJSON *value); /* NULL: says nothing, or another one asks it */
} keywords[] = {
        { "$schema", OPERAND_TEXT, NULL },
        { "$id", OPERAND_TEXT, NULL },
        { "$comment", OPERAND_TEXT, NULL },
        { "title", OPERAND_TEXT, NULL },
        { "description", OPERAND_TEXT, NULL },
        { "$defs", OPERAND_MEMBERS, NULL },
        { "$ref", OPERAND_REF, check_ref },
        { "type", OPERAND_TYPE, check_type },
        { "const", OPERAND_ANYTHING, check_const },
        { "enum", OPERAND_ARRAY, check_enum },
        { "minimum", OPERAND_NUMBER, check_minimum },
        { "maximum", OPERAND_NUMBER, check_maximum },
        { "minLength", OPERAND_NUMBER, check_min_length },
        { "pattern", OPERAND_PATTERN, check_pattern },
        { "items", OPERAND_SCHEMA, check_items },
        { "minItems", OPERAND_NUMBER, check_min_items },
        { "uniqueItems", OPERAND_BOOLEAN, check_unique },
        { "properties", OPERAND_MEMBERS, check_properties },
        { "additionalProperties", OPERAND_SCHEMA, check_additional },
        { "required", OPERAND_NAMES, check_required },
        { "dependentRequired", OPERAND_LISTS, check_dependent },
        { "propertyNames", OPERAND_SCHEMA, check_names },
        { "allOf", OPERAND_SCHEMAS, check_all },
        { "anyOf", OPERAND_SCHEMAS, check_any },
        { "oneOf", OPERAND_SCHEMAS, check_one },
        { "not", OPERAND_SCHEMA, check_not },
        { "if", OPERAND_SCHEMA, check_if },
        { "then", OPERAND_SCHEMA, NULL },
        { "else", OPERAND_SCHEMA, NULL },
};

static size_t keyword_find(const char *name) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(keywords) && strcmp(keywords[i].name, name) != 0)
                i++;
        return i;
}

/* An object that names its keys and says that it is one. What only adds conditions does not say so. */
static bool is_closed(const Look *look, const cJSON *schema) {
        const cJSON *type = member(schema, "type");

        return look->mode == SCHEMA_CLOSED && cJSON_IsString(type) &&
               strcmp(type->valuestring, "object") == 0 && member(schema, "properties") &&
               !member(schema, "additionalProperties");
}

static bool has_no_key_twice(const Look *look, const cJSON *value) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        bool is_unique = true;

        if (!cJSON_IsObject(value))
                return true;
        for (const cJSON *one = value->child; one; one = one->next)
                if (!g_hash_table_add(seen, one->string))
                        is_unique = fault(look, "has \"%s\" twice", one->string);
        return is_unique;
}

static bool is_valid(const Look *look, const cJSON *schema, const cJSON *value) {
        static const cJSON never = { .type = cJSON_False };
        bool result = true;

        if (cJSON_IsBool(schema))
                return cJSON_IsTrue(schema) || fault(look, "must not be there");
        for (const cJSON *one = schema->child; one; one = one->next) {
                size_t i = keyword_find(one->string);

                if (keywords[i].check)
                        result = keywords[i].check(look, one, schema, value) && result;
        }
        if (is_closed(look, schema)) {
                result = check_additional(look, &never, schema, value) && result;
                result = has_no_key_twice(look, value) && result;
        }
        return result;
}

/* Is the schema one? */

static char *check_schema(Schema *schema, const cJSON *part);

static bool are_names(const cJSON *operand) {
        for (const cJSON *one = operand->child; one; one = one->next)
                if (!cJSON_IsString(one))
                        return false;
        return cJSON_IsArray(operand);
}

static bool are_lists(const cJSON *operand) {
        for (const cJSON *one = operand->child; one; one = one->next)
                if (!are_names(one))
                        return false;
        return cJSON_IsObject(operand);
}

static bool is_type_name(const cJSON *operand) {
        bool is_known = cJSON_IsString(operand) && strcmp(operand->valuestring, "integer") == 0;

        for (size_t i = 0; cJSON_IsString(operand) && i < G_N_ELEMENTS(types); i++)
                is_known = is_known || strcmp(types[i].name, operand->valuestring) == 0;
        return is_known;
}

static bool are_types(const cJSON *operand) {
        if (!cJSON_IsArray(operand))
                return is_type_name(operand);
        for (const cJSON *one = operand->child; one; one = one->next)
                if (!is_type_name(one))
                        return false;
        return true;
}

static bool take_pattern(Schema *schema, const cJSON *operand) {
        GRegex *pattern = NULL;

        if (cJSON_IsString(operand))
                pattern = g_regex_new(operand->valuestring,
                                      G_REGEX_DOLLAR_ENDONLY | G_REGEX_OPTIMIZE, 0, NULL);
        if (pattern)
                g_hash_table_replace(schema->patterns, operand->valuestring, pattern);
        return pattern;
}

static bool is_operand(Schema *schema, Operand operand, const cJSON *value) {
        switch (operand) {
        case OPERAND_TEXT:
                return cJSON_IsString(value);
        case OPERAND_NUMBER:
                return cJSON_IsNumber(value);
        case OPERAND_BOOLEAN:
                return cJSON_IsBool(value);
        case OPERAND_ANYTHING:
                return true;
        case OPERAND_ARRAY:
                return cJSON_IsArray(value);
        case OPERAND_TYPE:
                return are_types(value);
        case OPERAND_REF:
                return cJSON_IsString(value) && schema_at(schema, value->valuestring);
        case OPERAND_PATTERN:
                return take_pattern(schema, value);
        case OPERAND_LISTS:
                return are_lists(value);
        case OPERAND_NAMES:
                return are_names(value);
        case OPERAND_SCHEMA:
                return cJSON_IsObject(value) || cJSON_IsBool(value);
        case OPERAND_SCHEMAS:
                return cJSON_IsArray(value);
        case OPERAND_MEMBERS:
                return cJSON_IsObject(value);
        }
        g_assert_not_reached();
}

static char *check_keyword(Schema *schema, const cJSON *keyword) {
        size_t i = keyword_find(keyword->string);
        char *found;

        if (i == G_N_ELEMENTS(keywords))
                return g_strdup_printf("\"%s\" is not known here", keyword->string);
        if (!is_operand(schema, keywords[i].operand, keyword))
                return g_strdup_printf("what stands behind \"%s\" is not for it", keyword->string);
        if (keywords[i].operand == OPERAND_SCHEMA)
                return check_schema(schema, keyword);
        if (keywords[i].operand != OPERAND_SCHEMAS && keywords[i].operand != OPERAND_MEMBERS)
                return NULL;
        for (const cJSON *one = keyword->child; one; one = one->next)
                if ((found = check_schema(schema, one)))
                        return found;
        return NULL;
}

static char *check_schema(Schema *schema, const cJSON *part) {
        char *found;

        if (cJSON_IsBool(part))
                return NULL;
        if (!cJSON_IsObject(part))
                return g_strdup("a schema is an object, true or false");
        for (const cJSON *one = part->child; one; one = one->next)
                if ((found = check_keyword(schema, one)))
                        return found;
        return NULL;
}

Schema *schema_new(const char *text, char **ret_fault) {
        g_autoptr(Schema) schema = g_new0(Schema, 1);
        char *found;

        schema->patterns = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                 (GDestroyNotify)g_regex_unref);
        schema->root = cJSON_ParseWithOpts(text, NULL, true);
        found = schema->root ? check_schema(schema, schema->root) : g_strdup("is no JSON");
        if (!found)
                return g_steal_pointer(&schema);
        *ret_fault = found;
        return NULL;
}

void schema_free(Schema *schema) {
        if (!schema)
                return;
        g_hash_table_unref(schema->patterns);
        cJSON_Delete(schema->root);
        g_free(schema);
}

const cJSON *schema_at(const Schema *schema, const char *pointer) {
        g_auto(GStrv) names = g_strsplit(pointer, "/", -1);
        const cJSON *at = g_strcmp0(names[0], "#") == 0 ? schema->root : NULL;

        for (char **name = names + 1; at && names[0] && *name; name++)
                at = cJSON_IsArray(at)
                             ? cJSON_GetArrayItem(at, (int)g_ascii_strtoll(*name, NULL, 10))
                             : member(at, *name);
        return at;
}

char *schema_faults_at(Schema *schema, const char *pointer, const cJSON *value, SchemaMode mode) {
        g_autoptr(GString) faults = g_string_new(NULL);
        const Look look = { schema, mode, faults, "$" };

        if (is_valid(&look, schema_at(schema, pointer), value))
                return NULL;
        return g_string_free(g_steal_pointer(&faults), FALSE);
}

char *schema_faults(Schema *schema, const cJSON *value, SchemaMode mode) {
        return schema_faults_at(schema, "#", value, mode);
}
