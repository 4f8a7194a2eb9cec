/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The record of a job that was refused because its id was another's has that id, too, and says nothing about the other:
 * it may have been written while that one still ran. So it counts by its index alone. */

#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launcher/json.h"
#include "launcher/kernel/error.h"
#include "lines.h"
#include "units/text.h"

#define PIECE      65536
#define NAME_SHOWN 80

void ledger_init(Ledger *ledger) {
        *ledger = (Ledger){
                .ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .indexes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .met = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
}

void ledger_clear(Ledger *ledger) {
        g_clear_pointer(&ledger->ids, g_hash_table_unref);
        g_clear_pointer(&ledger->indexes, g_hash_table_unref);
        g_clear_pointer(&ledger->met, g_hash_table_unref);
}

static const JsonValue *member(const JsonValue *object, const char *name, JsonKind kind) {
        for (guint i = 0; object && object->kind == JSON_OBJECT && i < object->items->len; i++) {
                const JsonValue *item = g_ptr_array_index(object->items, i);

                if (strcmp(g_ptr_array_index(object->names, i), name) == 0)
                        return item->kind == kind ? item : NULL;
        }
        return NULL;
}

static bool is_duplicate(const JsonValue *record) {
        const JsonValue *code = member(member(record, "error", JSON_OBJECT), "code", JSON_STRING);

        return code && strcmp(code->text, LEDGER_DUPLICATE) == 0;
}

bool ledger_note(Ledger *ledger, const char *text, size_t size) {
        g_autoptr(JsonValue) record = json_read(text, size, NULL);
        const JsonValue *id = member(record, "id", JSON_STRING);
        const JsonValue *index = member(record, "index", JSON_NUMBER);
        const JsonValue *is_ok = member(record, "ok", JSON_BOOLEAN);
        guint64 number;

        if (!member(record, "outcome", JSON_STRING) || !is_ok)
                return false;
        if (id && !is_duplicate(record))
                g_hash_table_add(ledger->ids, g_strdup(id->text));
        if (index && g_ascii_string_to_unsigned(index->text, 10, 0, G_MAXUINT64, &number, NULL))
                g_hash_table_add(ledger->indexes, g_memdup2(&number, sizeof number));
        ledger->records++;
        if (!is_ok->is_true)
                ledger->not_ok++;
        return true;
}

static bool read_all(Ledger *ledger, int fd) {
        g_autoptr(Lines) lines = lines_new(G_MAXINT32);
        char piece[PIECE];

        for (;;) {
                const char *text;
                size_t size;
                LinesResult result = lines_next(lines, &text, &size);
                ssize_t n;

                if (result == LINES_ENDED)
                        return true;
                if (result == LINES_LINE)
                        (void)ledger_note(ledger, text, size);
                if (result != LINES_MORE)
                        continue;
                n = read(fd, piece, sizeof piece);
                if (n > 0)
                        lines_put(lines, piece, (size_t)n);
                else if (n == 0)
                        lines_end(lines);
                else if (errno != EINTR)
                        return false;
        }
}

bool ledger_read(Ledger *ledger, const char *path, GError **error) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        bool was_read = fd >= 0 && read_all(ledger, fd);
        g_autofree char *shown = text_printable(path, NAME_SHOWN);

        if (!was_read)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--resume: cannot read \"%s\": %s", shown, g_strerror(errno));
        if (fd >= 0)
                (void)close(fd);
        return was_read;
}

LedgerWord ledger_look_up(Ledger *ledger, const char *id, uint64_t index) {
        bool has_index = g_hash_table_contains(ledger->indexes, &index);

        if (!id)
                return has_index ? LEDGER_DONE : LEDGER_NEW;
        if (!g_hash_table_add(ledger->met, g_strdup(id)))
                return has_index ? LEDGER_DONE : LEDGER_REPEATED;
        return g_hash_table_contains(ledger->ids, id) ? LEDGER_DONE : LEDGER_NEW;
}
