/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --output-dir: of each job the files ID.stdout and ID.stderr, which grow while it runs, and ID.json, its record, which
 * is there when it is whole. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/capture.h"
#include "launcher/record.h"

typedef struct Store Store;

/* The directory is made where it is not there. */
Store *store_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void store_free(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_free)

/* Empty files for a job's output, by descriptor; what one of that name held is gone. The caller closes them, and frees
 * their names. */
bool store_begin(Store *store, const char *id, int ret_fds[CAPTURE_STREAMS],
                 char *ret_names[CAPTURE_STREAMS], GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Of a job, which has its place. */
bool store_put_record(Store *store, const RecordSource *source,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;
