/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Line by line, as systemd does it: what goes on is joined with a space in place of the backslash and the end of the line,
 * comments between the parts are passed over, and two backslashes at the end are no continuation. */

#include "ini.h"

#include <stdbool.h>
#include <string.h>

#include "error.h"
#include "text.h"

#define TEXT_SHOWN 40
#define BOM        "\xef\xbb\xbf"

typedef struct {
        GPtrArray *entries;
        GString *begun; /* a line that goes on */
        char *section;  /* NULL: none yet */
        unsigned line;  /* that is read */
        unsigned first; /* of what is begun */
} Ini;

static void ini_clear(Ini *ini) {
        g_clear_pointer(&ini->entries, g_ptr_array_unref);
        g_string_free(ini->begun, TRUE);
        g_free(ini->section);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ini, ini_clear)

static void entry_free(gpointer data) {
        IniEntry *entry = data;

        g_free(entry->section);
        g_free(entry->key);
        g_free(entry->value);
        g_free(entry);
}

static bool fail(unsigned line, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(unsigned line, GError **error, const char *format, ...) {
        g_autofree char *what = NULL;
        va_list arguments;

        va_start(arguments, format);
        what = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE, "%u: %s", line, what);
        return false;
}

static void add(Ini *ini, char *key, char *value) {
        IniEntry *entry = g_new0(IniEntry, 1);

        *entry = (IniEntry){ g_strdup(ini->section), key, value, ini->first };
        g_ptr_array_add(ini->entries, entry);
}

static bool take_section(Ini *ini, const char *text, GError **error) {
        size_t length = strlen(text);

        if (text[length - 1] != ']') {
                g_autofree char *shown = text_printable(text, TEXT_SHOWN);

                return fail(ini->first, error, "\"%s\" has no ] at its end", shown);
        }
        g_free(ini->section);
        ini->section = g_strndup(text + 1, length - 2);
        add(ini, NULL, NULL);
        return true;
}

static bool take_assignment(Ini *ini, const char *text, GError **error) {
        const char *equals = strchr(text, '=');

        if (!equals || equals == text) {
                g_autofree char *shown = text_printable(text, TEXT_SHOWN);

                return fail(ini->first, error,
                            "\"%s\" is not accepted; accepted: KEY=VALUE, [SECTION], and comments "
                            "behind # or ;",
                            shown);
        }
        add(ini, g_strchomp(g_strndup(text, (gsize)(equals - text))),
            g_strchug(g_strdup(equals + 1)));
        return true;
}

static bool take_whole(Ini *ini, GError **error) {
        g_autofree char *text = g_strstrip(g_strdup(ini->begun->str));

        g_string_truncate(ini->begun, 0);
        if (text[0] == '\0')
                return true;
        return text[0] == '[' ? take_section(ini, text, error) : take_assignment(ini, text, error);
}

static bool goes_on(const char *line) {
        size_t length = strlen(line), count = 0;

        while (count < length && line[length - 1 - count] == '\\')
                count++;
        return count % 2 == 1;
}

static bool take_line(Ini *ini, const char *line, GError **error) {
        const char *text = line + strspn(line, " \t\r");

        if (!g_utf8_validate(line, -1, NULL))
                return fail(ini->line, error, "not UTF-8");
        if (*text == '#' || *text == ';')
                return true;
        if (ini->begun->len == 0)
                ini->first = ini->line;
        g_string_append(ini->begun, line);
        if (!goes_on(line))
                return take_whole(ini, error);
        ini->begun->str[ini->begun->len - 1] = ' ';
        return true;
}

/* Line by line, and not all at once: there may be as many as characters. */
static bool take_lines(Ini *ini, const char *text, GError **error) {
        const char *end;

        for (;; text = end + 1) {
                end = strchrnul(text, '\n');

                g_autofree char *line = g_strndup(text, (gsize)(end - text));

                ini->line++;
                if (g_str_has_suffix(line, "\r"))
                        line[strlen(line) - 1] = '\0';
                if (!take_line(ini, line, error))
                        return false;
                if (*end == '\0')
                        return take_whole(ini, error);
        }
}

GPtrArray *ini_read(const char *text, GError **error) {
        g_auto(Ini) ini = { .entries = g_ptr_array_new_with_free_func(entry_free),
                            .begun = g_string_new(NULL) };
        bool has_bom = g_str_has_prefix(text, BOM);

        return take_lines(&ini, text + (has_bom ? strlen(BOM) : 0), error)
                       ? g_steal_pointer(&ini.entries)
                       : NULL;
}
