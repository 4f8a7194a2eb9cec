/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which jobs are done: the records that were written before (--resume), and the ids that were met since. A job has its
 * record by its id where it has one, else by its index. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The code of a job that was refused because of another's id. */
#define LEDGER_DUPLICATE "duplicate-id"

typedef struct {
        GHashTable *ids;     /* of records; NULL: there are none */
        GHashTable *indexes; /* likewise, uint64_t */
        GHashTable *met;     /* ids of jobs that were read in this run */
        uint64_t records, not_ok;
} Ledger;

void ledger_init(Ledger *ledger);
void ledger_clear(Ledger *ledger);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ledger, ledger_clear)

/* Reads records, one a line. What is none, as a line that was torn, is passed over. */
bool ledger_read(Ledger *ledger, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One line of it. False: it is no record. */
bool ledger_note(Ledger *ledger, const char *text, size_t size);

typedef enum {
        LEDGER_NEW,
        LEDGER_DONE,     /* it has its record */
        LEDGER_REPEATED, /* its id is another job's */
} LedgerWord;

/* Of a job that was just read; id NULL: it has none of its own. */
LedgerWord ledger_look_up(Ledger *ledger, const char *id, uint64_t index);
