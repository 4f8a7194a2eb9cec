/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The text of a configuration file, as systemd writes its own: [SECTION], KEY=VALUE, comments behind # or ; at the
 * beginning of a line, and a backslash at the end of a line that goes on in the next. What sections and keys there are is
 * the reader's business. */

#include <glib.h>

typedef struct {
        char *section; /* NULL: it stands before any */
        char *key;     /* NULL: the section begins here */
        char *value;   /* without the space around it, may be empty; NULL with the key */
        unsigned line; /* from 1; where it begins */
} IniEntry;

/* All entries in order (IniEntry*). NULL: it is no such text, and the message begins with the number of the line. */
GPtrArray *ini_read(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
