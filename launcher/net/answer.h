/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asking something that may take its time (a name server, another program) in a child of ours, which a deadline ends,
 * and which does not outlive us. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Runs in the child; what it writes to the descriptor is the answer. */
typedef void (*AnswerBody)(int fd, const void *what);

typedef struct {
        GByteArray *bytes; /* what was written so far; never NULL */
        bool is_late;      /* … when the deadline ended it */
        bool is_whole;     /* it ended by itself, with status 0 */
} Answer;

Answer answer_to(AnswerBody body, const void *what, uint64_t patience_usec);
void answer_clear(Answer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

/* What a program says on its standard output, without what stands behind the first NUL; NULL: it failed or took too
 * long. It is looked for in those directories of PATH that are absolute and not below the working directory: what is
 * there may be the work of a program that was held inside. variables: "NAME=value", for it alone. */
char *answer_of_tool(const char *const *argv, const char *const *variables);
bool answer_has_tool(const char *name);
