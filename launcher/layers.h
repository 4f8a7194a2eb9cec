/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is said in several places, one above the other. Below all of it lies the profile; of a run's job and its command
 * line the command line wins, of a batch's command line and its jobs the job. Each wins key by key. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "launcher/options.h"
#include "launcher/profile/shelf.h"

/* Profile, job, command line: options_parse() with what it names below it. As options_parse() does, it reads all it can
 * when something is wrong; the error is the first one. */
bool layers_parse(Options *options, char **argv, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Profile, command line, job: the text is a line of a batch. */
bool layers_parse_line(Options *options, ProfileShelf *shelf, char **argv, const char *text,
                       size_t size, GError **error) G_GNUC_WARN_UNUSED_RESULT;
