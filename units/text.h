/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text of strangers (arguments, values, names) made fit for one line of a message: valid UTF-8, no control
 * characters, bounded. For showing only, never for passing on: what was cut or escaped does not come back. */

#include <glib.h>

/* At most max_chars characters (not bytes), the last one an ellipsis when something was cut. Control characters and
 * bytes that are not UTF-8 are shown as \xNN. NULL is shown as nothing. */
char *text_printable(const char *text, size_t max_chars);

/* The words of a command with a space between, printable, at most max_chars characters. */
char *text_command(char *const *command, size_t max_chars);

/* Puts a copy of the text in place of what is there. Either may be NULL. */
void text_replace(char **place, const char *text);
