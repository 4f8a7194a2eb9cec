/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A job: the JSON form of what an option can say. It fills the same struct; a row of the option table is a key of a job
 * without another line of code. What is about the invocation and not about the program (where the record goes, how
 * much is said, which manager) is no part of a job. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "launcher/options.h"

/* Puts one JSON object on top of the options. On failure part of it may be there; the message begins with the JSON path
 * of what is wrong. */
bool job_parse(const char *text, size_t size, Options *options,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The text of --job: a path, or "-" for standard input. */
GByteArray *job_read(const char *place, GError **error) G_GNUC_WARN_UNUSED_RESULT;
