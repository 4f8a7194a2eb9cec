/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A batch under test: its jobs written, its records read, and what of its sandboxes is left. */

#include "kit.h"

/* Starts it with what is read from input_fd (0: /dev/null). */
KitRun *batch_start(const char *const *options, int input_fd);
KitRun *batch_start_in(const char *const *options, int input_fd, void (*prepare)(void));

/* Jobs from a text, which the batch reads as a file. */
KitRun *batch_run(const char *const *options, const char *jobs);

/* A file of the test's directory with this text; its path. */
char *batch_file(const char *name, const char *text);
int batch_open(const char *text); /* likewise, without a name, to be read */

/* A line for a command; id NULL: it has none; extra: further keys, ", …"; NULL: none. */
void batch_add(GString *jobs, const char *id, const char *extra, const char *const *command);

/* The file has so many bytes. */
bool batch_wait_size(const char *path, size_t size);
/* So many records have come. */
bool batch_wait(KitRun *run, unsigned records);

/* All that has come: cJSON objects. A line that is none is a failure of the test, and left out. */
GPtrArray *batch_records(const char *text);
const cJSON *batch_find(const GPtrArray *records,
                        const char *id); /* NULL: there is none, or more than one */
const cJSON *batch_at(const GPtrArray *records, int index);   /* by its "index"; likewise */
const char *batch_text(const cJSON *record, const char *key); /* "": absent */
int batch_number(const cJSON *record, const char *key);       /* −1: absent */
unsigned batch_count(const GPtrArray *records, const char *outcome);

/* One point: no unit, cgroup or process of these records' sandboxes is left. */
void batch_check_nothing_left(const GPtrArray *records, const char *name);
