/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Recursive descent over text that was found to be UTF-8 without a NUL before, so that every byte met here is either
 * ASCII or part of a character that is copied as it is. The containers being read stand on a stack, which bounds the
 * recursion and is where a message learns the path from. */

#include "json.h"

#include <stdint.h>
#include <string.h>

#include "launcher/kernel/error.h"
#include "units/text.h"

#define NAME_SHOWN 40

typedef struct {
        const char *start, *at, *end;
        JsonValue *open[JSON_DEPTH_MAX];
        size_t depth;
        GError **error;
} Reader;

static JsonValue *read_value(Reader *reader);

static JsonValue *value_new(JsonKind kind) {
        JsonValue *value = g_new0(JsonValue, 1);

        value->kind = kind;
        if (kind == JSON_ARRAY || kind == JSON_OBJECT)
                value->items = g_ptr_array_new_with_free_func((GDestroyNotify)json_free);
        if (kind == JSON_OBJECT)
                value->names = g_ptr_array_new_with_free_func(g_free);
        return value;
}

void json_free(JsonValue *value) {
        if (!value)
                return;
        g_free(value->text);
        g_clear_pointer(&value->items, g_ptr_array_unref);
        g_clear_pointer(&value->names, g_ptr_array_unref);
        g_free(value);
}

const char *json_kind_words(JsonKind kind) {
        static const char *const words[] = {
                [JSON_NULL] = "null",       [JSON_BOOLEAN] = "a boolean",
                [JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
                [JSON_ARRAY] = "an array",  [JSON_OBJECT] = "an object",
        };

        return words[kind];
}

/* Paths and words */

static bool name_is_plain(const char *name) {
        for (const char *p = name; *p; p++)
                if (!g_ascii_isalnum(*p) && *p != '-' && *p != '_')
                        return false;
        return name[0] != '\0' && strlen(name) <= NAME_SHOWN;
}

char *json_path_member(const char *path, const char *name) {
        g_autofree char *shown = text_printable(name, NAME_SHOWN);

        return name_is_plain(name) ? g_strdup_printf("%s.%s", path, name)
                                   : g_strdup_printf("%s[\"%s\"]", path, shown);
}

char *json_path_item(const char *path, size_t index) {
        return g_strdup_printf("%s[%zu]", path, index);
}

/* The last name of an object is of the member that is being read. */
static char *path_of(const Reader *reader) {
        char *path = g_strdup("$");

        for (size_t i = 0; i < reader->depth; i++) {
                const JsonValue *value = reader->open[i];
                g_autofree char *outer = path;

                if (value->kind == JSON_ARRAY)
                        path = json_path_item(outer, value->items->len);
                else if (value->names->len > value->items->len)
                        path = json_path_member(outer, value->names->pdata[value->names->len - 1]);
                else
                        path = g_steal_pointer(&outer);
        }
        return path;
}

static bool fail(Reader *reader, const char *what) {
        g_autofree char *path = path_of(reader);
        const char *line = reader->start;
        int number = 1;

        for (const char *p = line; (p = memchr(p, '\n', (size_t)(reader->at - p))); line = ++p)
                number++;
        g_set_error(reader->error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB,
                    "%s: %s (line %d, column %ld)", path, what, number,
                    g_utf8_strlen(line, reader->at - line) + 1);
        return false;
}

static bool fail_expected(Reader *reader, const char *expected) {
        const char *at = reader->at;
        size_t length = at < reader->end ? (size_t)(g_utf8_next_char(at) - at) : 0;
        g_autofree char *met = g_strndup(at, length);
        g_autofree char *shown = text_printable(met, NAME_SHOWN);
        g_autofree char *what = g_strdup_printf("expected %s, here is %s", expected,
                                                length > 0 ? shown : "the end of the text");

        return fail(reader, what);
}

/* Tokens */

static char peek(const Reader *reader) {
        return reader->at < reader->end ? *reader->at : '\0'; /* there is no NUL in the text */
}

static bool accept(Reader *reader, char c) {
        if (peek(reader) != c)
                return false;
        reader->at++;
        return true;
}

static void skip_space(Reader *reader) {
        while (reader->at < reader->end && strchr(" \t\r\n", *reader->at))
                reader->at++;
}

static bool accept_word(Reader *reader, const char *word) {
        size_t length = strlen(word);

        if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
                return false;
        reader->at += length;
        return true;
}

static bool read_hex(Reader *reader, uint32_t *ret_unit) {
        *ret_unit = 0;
        for (int i = 0; i < 4; i++) {
                if (!g_ascii_isxdigit(peek(reader)))
                        return fail_expected(reader, "four hex digits");
                *ret_unit = *ret_unit * 16 + (uint32_t)g_ascii_xdigit_value(*reader->at++);
        }
        return true;
}

/* Behind "\u": one UTF-16 unit, or the two of a pair. */
static bool read_escaped_unit(Reader *reader, GString *out) {
        uint32_t unit, low;

        if (!read_hex(reader, &unit))
                return false;
        if (unit == 0)
                return fail(reader, "a string cannot hold \\u0000");
        if (unit >= 0xd800 && unit < 0xdc00) {
                if (!accept_word(reader, "\\u"))
                        return fail(reader, "half a surrogate pair");
                if (!read_hex(reader, &low))
                        return false;
                if (low < 0xdc00 || low > 0xdfff)
                        return fail(reader, "half a surrogate pair");
                unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        } else if (unit >= 0xdc00 && unit <= 0xdfff) {
                return fail(reader, "half a surrogate pair");
        }
        g_string_append_unichar(out, unit);
        return true;
}

static bool read_escape(Reader *reader, GString *out) {
        static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *escape = peek(reader) ? strchr(escapes, peek(reader)) : NULL;

        if (escape) {
                reader->at++;
                g_string_append_c(out, meanings[escape - escapes]);
                return true;
        }
        if (accept(reader, 'u'))
                return read_escaped_unit(reader, out);
        return fail_expected(reader, "one of \" \\ / b f n r t u behind the backslash");
}

static char *read_text(Reader *reader) {
        g_autoptr(GString) out = g_string_new(NULL);

        while (!accept(reader, '"')) {
                const char *run = reader->at;

                while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
                       (unsigned char)*reader->at >= ' ')
                        reader->at++;
                g_string_append_len(out, run, reader->at - run);
                if (peek(reader) == '"')
                        continue;
                if (!accept(reader, '\\')) {
                        (void)fail_expected(reader, "the string's closing quote");
                        return NULL;
                }
                if (!read_escape(reader, out))
                        return NULL;
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static bool skip_digits(Reader *reader) {
        if (!g_ascii_isdigit(peek(reader)))
                return fail_expected(reader, "a digit");
        while (g_ascii_isdigit(peek(reader)))
                reader->at++;
        return true;
}

static JsonValue *read_number(Reader *reader) {
        const char *start = reader->at;

        (void)accept(reader, '-');
        if (accept(reader, '0')) {
                if (g_ascii_isdigit(peek(reader))) {
                        (void)fail(reader, "a number does not begin with 0");
                        return NULL;
                }
        } else if (!skip_digits(reader)) {
                return NULL;
        }
        if (accept(reader, '.') && !skip_digits(reader))
                return NULL;
        if (accept(reader, 'e') || accept(reader, 'E')) {
                if (!accept(reader, '+'))
                        (void)accept(reader, '-');
                if (!skip_digits(reader))
                        return NULL;
        }

        JsonValue *value = value_new(JSON_NUMBER);

        value->text = g_strndup(start, (gsize)(reader->at - start));
        return value;
}

/* Containers */

/* "name":, which may not be there yet. */
static bool read_name(Reader *reader, JsonValue *object, GHashTable *seen) {
        skip_space(reader);
        if (!accept(reader, '"'))
                return fail_expected(reader, "a key in quotes");

        char *name = read_text(reader);

        if (!name)
                return false;
        g_ptr_array_add(object->names, name);
        if (!g_hash_table_add(seen, name))
                return fail(reader, "the key is there twice");
        skip_space(reader);
        return accept(reader, ':') || fail_expected(reader, "\":\"");
}

static bool read_items(Reader *reader, JsonValue *value, char close, const char *expected) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

        skip_space(reader);
        if (accept(reader, close))
                return true;
        for (;;) {
                JsonValue *item;

                if (value->kind == JSON_OBJECT && !read_name(reader, value, seen))
                        return false;
                item = read_value(reader);
                if (!item)
                        return false;
                g_ptr_array_add(value->items, item);
                skip_space(reader);
                if (accept(reader, close))
                        return true;
                if (accept(reader, ','))
                        continue;
                reader->depth--; /* what is wrong is the container, not its next item */
                return fail_expected(reader, expected);
        }
}

static JsonValue *read_container(Reader *reader) {
        bool is_object = *reader->at++ == '{';
        g_autoptr(JsonValue) value = value_new(is_object ? JSON_OBJECT : JSON_ARRAY);

        if (reader->depth == JSON_DEPTH_MAX) {
                (void)fail(reader, "more than " G_STRINGIFY(JSON_DEPTH_MAX) " levels of nesting");
                return NULL;
        }
        reader->open[reader->depth++] = value;
        if (!read_items(reader, value, is_object ? '}' : ']',
                        is_object ? "\",\" or \"}\"" : "\",\" or \"]\""))
                return NULL;
        reader->depth--;
        return g_steal_pointer(&value);
}

static JsonValue *read_literal(Reader *reader) {
        static const struct {
                const char *word;
                JsonKind kind;
        } literals[] = { { "false", JSON_BOOLEAN },
                         { "true", JSON_BOOLEAN },
                         { "null", JSON_NULL } };

        for (size_t i = 0; i < G_N_ELEMENTS(literals); i++)
                if (accept_word(reader, literals[i].word)) {
                        JsonValue *value = value_new(literals[i].kind);

                        value->is_true = literals[i].word[0] == 't';
                        return value;
                }
        (void)fail_expected(reader, "a value");
        return NULL;
}

static JsonValue *read_value(Reader *reader) {
        char c;

        skip_space(reader);
        c = peek(reader);
        if (c == '{' || c == '[')
                return read_container(reader);
        if (c == '-' || g_ascii_isdigit(c))
                return read_number(reader);
        if (!accept(reader, '"'))
                return read_literal(reader);

        char *text = read_text(reader);
        JsonValue *value = text ? value_new(JSON_STRING) : NULL;

        if (value)
                value->text = text;
        return value;
}

/* What is wrong with the bytes, before anybody looks at their meaning. */
static bool check_bytes(Reader *reader) {
        size_t size = (size_t)(reader->end - reader->start);

        if (size == 0)
                return fail(reader, "there is nothing to read");
        if (size >= 3 && memcmp(reader->start, "\xef\xbb\xbf", 3) == 0)
                return fail(reader, "a byte order mark is not accepted");
        if (g_utf8_validate(reader->start, (gssize)size, &reader->at)) {
                reader->at = reader->start;
                return true;
        }
        return fail(reader, *reader->at == '\0' ? "a NUL byte" : "these bytes are not UTF-8");
}

JsonValue *json_read(const char *text, size_t size, GError **error) {
        const char *start = size > 0 ? text : "";
        Reader reader = { .start = start, .at = start, .end = start + size, .error = error };
        g_autoptr(JsonValue) value = check_bytes(&reader) ? read_value(&reader) : NULL;

        if (!value)
                return NULL;
        skip_space(&reader);
        if (reader.at == reader.end)
                return g_steal_pointer(&value);
        (void)fail_expected(&reader, "the end of the text");
        return NULL;
}
