/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Lines for people: at most 80 columns wide, broken between words, and nothing in them that a terminal would obey. */

#include <glib.h>
#include <stddef.h>

#define WRAP_COLUMNS 80

/* Puts the text behind what stands in the line already, which ends before the column; the lines that follow begin at
 * `begin`. A word that is wider than a line stays whole. */
void wrap_append(GString *out, const char *text, size_t column, size_t begin);
