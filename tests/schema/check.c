/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is wrong with the values on standard input, one a line; for tests that are no C.
 *
 *     schema-check [--closed] record|job [POINTER]
 *
 * Says "ok" or the faults for each line. Ends with 1 where there was one, with 2 where it cannot do its work. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

static char *faults_of(Schema *schema, const char *pointer, SchemaMode mode, const char *line) {
        cJSON *value = cJSON_ParseWithOpts(line, NULL, true);
        char *faults = value ? schema_faults_at(schema, pointer, value, mode)
                             : g_strdup("$: is no JSON");

        cJSON_Delete(value);
        return faults ? g_strdelimit(faults, "\n", '|') : NULL;
}

int main(int argc, char **argv) {
        SchemaMode mode = argc > 1 && strcmp(argv[1], "--closed") == 0 ? SCHEMA_CLOSED
                                                                       : SCHEMA_OPEN;
        char **words = argv + 1 + (mode == SCHEMA_CLOSED);
        const char *text = g_strcmp0(words[0], "record") == 0 ? schema_record_text
                           : g_strcmp0(words[0], "job") == 0  ? schema_job_text
                                                              : NULL;
        g_autofree char *fault = NULL;
        g_autoptr(Schema) schema = text ? schema_new(text, &fault) : NULL;
        const char *pointer = text && words[1] ? words[1] : "#";
        g_autofree char *line = NULL;
        size_t size = 0;
        int status = 0;

        if (!schema || !schema_at(schema, pointer)) {
                fprintf(stderr, "schema-check: %s\n", fault ?: "[--closed] record|job [POINTER]");
                return 2;
        }
        while (getline(&line, &size, stdin) >= 0) {
                g_autofree char *faults = faults_of(schema, pointer, mode, line);

                status = faults ? 1 : status;
                puts(faults ?: "ok");
        }
        return status;
}
