/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The validator: each keyword with values that it lets pass and values that it must not; and what is no schema. */

#include <string.h>
#include <tap.h>

#include "schema.h"

static const struct {
        const char *schema, *value;
        const char *faults; /* NULL: none */
} rows[] = {
        { "true", "1", NULL },
        { "false", "1", "$: must not be there" },
        { "{}", "[null]", NULL },

        { "{\"type\": \"string\"}", "\"a\"", NULL },
        { "{\"type\": \"string\"}", "1", "$: is not of type \"string\"" },
        { "{\"type\": \"integer\"}", "1", NULL },
        { "{\"type\": \"integer\"}", "1.0", NULL },
        { "{\"type\": \"integer\"}", "-1e30", NULL },
        { "{\"type\": \"integer\"}", "-0.5", "$: is not of type \"integer\"" },
        { "{\"type\": \"integer\"}", "1.5", "$: is not of type \"integer\"" },
        { "{\"type\": \"integer\"}", "\"1\"", "$: is not of type \"integer\"" },
        { "{\"type\": \"number\"}", "1.5", NULL },
        { "{\"type\": \"boolean\"}", "false", NULL },
        { "{\"type\": \"boolean\"}", "0", "$: is not of type \"boolean\"" },
        { "{\"type\": \"null\"}", "null", NULL },
        { "{\"type\": \"null\"}", "false", "$: is not of type \"null\"" },
        { "{\"type\": \"object\"}", "[]", "$: is not of type \"object\"" },
        { "{\"type\": \"array\"}", "{}", "$: is not of type \"array\"" },
        { "{\"type\": [\"string\", \"array\"]}", "[]", NULL },
        { "{\"type\": [\"string\", \"array\"]}", "1", "$: is not of type [\"string\",\"array\"]" },

        { "{\"const\": 1}", "1", NULL },
        { "{\"const\": true}", "1", "$: is not true" },
        { "{\"const\": {\"a\": [1]}}", "{\"a\": [1]}", NULL },
        { "{\"const\": {\"a\": [1]}}", "{\"a\": [2]}", "$: is not {\"a\":[1]}" },
        { "{\"enum\": [\"a\", \"b\"]}", "\"b\"", NULL },
        { "{\"enum\": [\"a\", \"b\"]}", "\"B\"", "$: is none of [\"a\",\"b\"]" },

        { "{\"minimum\": 2}", "2", NULL },
        { "{\"minimum\": 2}", "1.5", "$: 1.5 is less than 2" },
        { "{\"minimum\": 2}", "\"1\"", NULL },
        { "{\"maximum\": 2}", "2", NULL },
        { "{\"maximum\": 2}", "3", "$: 3 is more than 2" },
        { "{\"minLength\": 2}", "\"\xc3\xa4\xc3\xb6\"", NULL },
        { "{\"minLength\": 2}", "\"\xc3\xa4\"", "$: is too short" },
        { "{\"pattern\": \"^a+$\"}", "\"aa\"", NULL },
        { "{\"pattern\": \"^a+$\"}", "\"ab\"", "$: \"ab\" does not match ^a+$" },
        { "{\"pattern\": \"^a+$\"}", "\"a\\n\"", "$: \"a\n\" does not match ^a+$" },
        { "{\"pattern\": \"b\"}", "\"abc\"", NULL },
        { "{\"pattern\": \"b\"}", "1", NULL },

        { "{\"items\": {\"type\": \"string\"}}", "[\"a\", \"b\"]", NULL },
        { "{\"items\": {\"type\": \"string\"}}", "[\"a\", 1, 2]",
          "$[1]: is not of type \"string\"\n$[2]: is not of type \"string\"" },
        { "{\"items\": false}", "{\"a\": 1}", NULL },
        { "{\"minItems\": 1}", "[1]", NULL },
        { "{\"minItems\": 1}", "[]", "$: has too few items" },
        { "{\"uniqueItems\": true}", "[1, \"1\"]", NULL },
        { "{\"uniqueItems\": true}", "[1, 2, 1]", "$: has an item twice" },
        { "{\"uniqueItems\": false}", "[1, 1]", NULL },

        { "{\"properties\": {\"a\": {\"const\": 1}}}", "{\"a\": 1, \"b\": 2}", NULL },
        { "{\"properties\": {\"a\": {\"const\": 1}}}", "{\"A\": 2}", NULL },
        { "{\"properties\": {\"a\": {\"const\": 1}}}", "{\"a\": 2}", "$.a: is not 1" },
        { "{\"properties\": {\"a\": false}}", "{\"a\": 2}", "$.a: must not be there" },
        { "{\"properties\": {\"a\": {\"properties\": {\"b\": {\"const\": 1}}}}}",
          "{\"a\": {\"b\": 2}}", "$.a.b: is not 1" },
        { "{\"additionalProperties\": {\"type\": \"string\"}}", "{\"a\": \"b\"}", NULL },
        { "{\"additionalProperties\": {\"type\": \"string\"}}", "{\"a\": 1}",
          "$.a: is not of type \"string\"" },
        { "{\"properties\": {\"a\": true}, \"additionalProperties\": false}", "{\"a\": 1}", NULL },
        { "{\"properties\": {\"a\": true}, \"additionalProperties\": false}", "{\"b\": 1}",
          "$.b: must not be there" },
        { "{\"required\": [\"a\"]}", "{\"a\": null}", NULL },
        { "{\"required\": [\"a\", \"b\"]}", "{}", "$: lacks \"a\"\n$: lacks \"b\"" },
        { "{\"required\": [\"a\"]}", "[]", NULL },
        { "{\"dependentRequired\": {\"a\": [\"b\"]}}", "{}", NULL },
        { "{\"dependentRequired\": {\"a\": [\"b\"]}}", "{\"a\": 1, \"b\": 1}", NULL },
        { "{\"dependentRequired\": {\"a\": [\"b\"]}}", "{\"a\": 1}", "$: lacks \"b\"" },
        { "{\"propertyNames\": {\"pattern\": \"^x\"}}", "{\"xa\": 1}", NULL },
        { "{\"propertyNames\": {\"pattern\": \"^x\"}}", "{\"a\": 1}",
          "$: \"a\" does not match ^x" },

        { "{\"allOf\": [{\"minimum\": 1}, {\"maximum\": 2}]}", "1", NULL },
        { "{\"allOf\": [{\"minimum\": 1}, {\"maximum\": 2}]}", "3", "$: 3 is more than 2" },
        { "{\"anyOf\": [{\"const\": 1}, {\"minimum\": 1}]}", "1", NULL },
        { "{\"anyOf\": [{\"const\": 1}, {\"const\": 2}]}", "3", "$: is nothing of anyOf" },
        { "{\"oneOf\": [{\"const\": 1}, {\"minimum\": 1}]}", "2", NULL },
        { "{\"oneOf\": [{\"const\": 1}, {\"minimum\": 1}]}", "1", "$: is 2 of oneOf" },
        { "{\"oneOf\": [{\"const\": 1}, {\"minimum\": 1}]}", "0", "$: is 0 of oneOf" },
        { "{\"not\": {\"const\": 1}}", "2", NULL },
        { "{\"not\": {\"const\": 1}}", "1", "$: is what it must not be: {\"const\":1}" },
        { "{\"if\": {\"const\": 1}, \"then\": false}", "2", NULL },
        { "{\"if\": {\"const\": 1}, \"then\": false}", "1", "$: must not be there" },
        { "{\"if\": {\"const\": 1}, \"else\": {\"const\": 2}}", "1", NULL },
        { "{\"if\": {\"const\": 1}, \"else\": {\"const\": 2}}", "3", "$: is not 2" },
        { "{\"then\": false, \"else\": false}", "3", NULL },
        { "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"const\": 1}}}", "1", NULL },
        { "{\"$ref\": \"#/$defs/a\", \"minimum\": 3, \"$defs\": {\"a\": {\"const\": 1}}}", "2",
          "$: is not 1\n$: 2 is less than 3" },
        { "{\"properties\": {\"a\": {\"$ref\": \"#\"}}, \"required\": [\"b\"]}",
          "{\"b\": 1, \"a\": {}}", "$.a: lacks \"b\"" },
};

static void test_rows(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *fault = NULL, *faults = NULL;
                g_autoptr(Schema) schema = schema_new(rows[i].schema, &fault);
                cJSON *value = cJSON_Parse(rows[i].value);

                if (schema && value)
                        faults = schema_faults(schema, value, SCHEMA_OPEN);
                is(schema && value ? faults : fault ?: "no value", rows[i].faults, "%s of %s",
                   rows[i].schema, rows[i].value);
                cJSON_Delete(value);
        }
}

/* What is closed: where keys are named, and it is said that this is all. */
static const struct {
        const char *schema, *value;
        const char *faults;
} closed[] = {
        { "{\"type\": \"object\", \"properties\": {\"a\": true}}", "{\"a\": 1}", NULL },
        { "{\"type\": \"object\", \"properties\": {\"a\": true}}", "{\"b\": 1}",
          "$.b: must not be there" },
        { "{\"type\": \"object\", \"properties\": {\"a\": true}}", "{\"a\": 1, \"a\": 1}",
          "$: has \"a\" twice" },
        { "{\"properties\": {\"a\": true}}", "{\"b\": 1}", NULL },
        { "{\"type\": \"object\"}", "{\"b\": 1}", NULL },
        { "{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": true}",
          "{\"b\": 1}", NULL },
};

static void test_closed(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(closed); i++) {
                g_autofree char *fault = NULL, *faults = NULL, *open = NULL;
                g_autoptr(Schema) schema = schema_new(closed[i].schema, &fault);
                cJSON *value = cJSON_Parse(closed[i].value);

                faults = schema_faults(schema, value, SCHEMA_CLOSED);
                open = schema_faults(schema, value, SCHEMA_OPEN);
                is(faults, closed[i].faults, "closed, %s of %s", closed[i].schema, closed[i].value);
                is(open, NULL, "and open it lets that pass");
                cJSON_Delete(value);
        }
}

static const struct {
        const char *schema, *fault;
} none[] = {
        { "", "is no JSON" },
        { "{\"type\": \"string\"} x", "is no JSON" },
        { "1", "a schema is an object, true or false" },
        { "{\"tpye\": \"string\"}", "\"tpye\" is not known here" },
        { "{\"format\": \"date-time\"}", "\"format\" is not known here" },
        { "{\"properties\": {\"a\": {\"format\": \"x\"}}}", "\"format\" is not known here" },
        { "{\"items\": {\"maxLength\": 3}}", "\"maxLength\" is not known here" },
        { "{\"allOf\": [{\"maxLength\": 3}]}", "\"maxLength\" is not known here" },
        { "{\"$defs\": {\"a\": 1}}", "a schema is an object, true or false" },
        { "{\"type\": \"text\"}", "what stands behind \"type\" is not for it" },
        { "{\"type\": [\"string\", 1]}", "what stands behind \"type\" is not for it" },
        { "{\"required\": \"a\"}", "what stands behind \"required\" is not for it" },
        { "{\"required\": [1]}", "what stands behind \"required\" is not for it" },
        { "{\"dependentRequired\": {\"a\": \"b\"}}",
          "what stands behind \"dependentRequired\" is not for it" },
        { "{\"pattern\": \"(\"}", "what stands behind \"pattern\" is not for it" },
        { "{\"minimum\": \"1\"}", "what stands behind \"minimum\" is not for it" },
        { "{\"uniqueItems\": 1}", "what stands behind \"uniqueItems\" is not for it" },
        { "{\"enum\": \"a\"}", "what stands behind \"enum\" is not for it" },
        { "{\"properties\": []}", "what stands behind \"properties\" is not for it" },
        { "{\"not\": []}", "what stands behind \"not\" is not for it" },
        { "{\"anyOf\": {}}", "what stands behind \"anyOf\" is not for it" },
        { "{\"$comment\": 1}", "what stands behind \"$comment\" is not for it" },
        { "{\"$ref\": \"#/$defs/a\"}", "what stands behind \"$ref\" is not for it" },
        { "{\"$ref\": \"http://other\"}", "what stands behind \"$ref\" is not for it" },
};

static void test_none(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(none); i++) {
                g_autofree char *fault = NULL;
                g_autoptr(Schema) schema = schema_new(none[i].schema, &fault);

                is(schema ? "a schema" : fault, none[i].fault, "no schema: %s", none[i].schema);
        }
}

int main(void) {
        plan(NO_PLAN);
        test_rows();
        test_closed();
        test_none();
        done_testing();
}
