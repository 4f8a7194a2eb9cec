/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ids and unit names. The hard thing is the dash: in a slice's name it is a path separator, so an id's own dashes are
 * escaped, and an unescaped one behind the prefix means that a unit is not a run (a pool, a guard, somebody else's), but for the two in
 * the slice of a run that is in a pool. */

#include <stdint.h>
#include <string.h>

#include "error.h"
#include "name.h"
#include "text.h"

#define DASH                "\\x2d"
#define UNIT_NAME_MAX_BYTES 255 /* of systemd */
#define ESCAPED_MAX         (UNIT_NAME_MAX_BYTES - strlen(NAME_PREFIX) - strlen(".service"))
#define POOL_PREFIX         NAME_PREFIX "pool-"

static const char *const run_suffixes[] = { ".slice", ".service", ".scope" };

/* Ids that would collide with units of our own. */
static const char *const reserved_ids[] = { "pool" };

static bool id_char_is_ok(char c, bool is_first) {
        return g_ascii_isalnum(c) || (!is_first && c != '\0' && strchr("_.-", c));
}

static bool id_is_spelled_ok(const char *id) {
        if (!id_char_is_ok(*id, true))
                return false;

        for (const char *c = id; *c; c++)
                if (!id_char_is_ok(*c, false))
                        return false;

        return strlen(id) <= NAME_ID_MAX;
}

static bool check_spelling(const char *option, const char *noun, const char *name, GError **error) {
        g_autofree char *shown = text_printable(name, NAME_ID_MAX);

        if (id_is_spelled_ok(name))
                return true;
        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                    "--%s: \"%s\" is not %s; accepted: letters, digits, '_', '.' and '-', "
                    "beginning with a letter or digit, at most %d characters",
                    option, shown, noun, NAME_ID_MAX);
        return false;
}

static bool check_length(const char *option, const char *name, size_t max, GError **error) {
        g_autofree char *shown = text_printable(name, NAME_ID_MAX);
        g_autofree char *escaped = name_escape(name);

        if (strlen(escaped) <= max)
                return true;
        g_set_error(
                error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                "--%s: \"%s\" is too long for a unit name; accepted: fewer dashes (each takes four of %zu bytes)",
                option, shown, max);
        return false;
}

bool name_id_check(const char *id, GError **error) {
        if (!check_spelling("id", "an id", id, error))
                return false;

        for (size_t i = 0; i < G_N_ELEMENTS(reserved_ids); i++)
                if (strcmp(id, reserved_ids[i]) == 0) {
                        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                                    "--id: \"%s\" is reserved; accepted: any other id", id);
                        return false;
                }

        return check_length("id", id, ESCAPED_MAX, error);
}

/* What is left when each is one letter long. */
bool name_pool_check(const char *pool, GError **error) {
        return check_spelling("pool", "the name of a pool", pool, error) &&
               check_length("pool", pool,
                            UNIT_NAME_MAX_BYTES - strlen(POOL_PREFIX) - strlen("-x.slice"), error);
}

bool name_profile_check(const char *profile, GError **error) {
        return check_spelling("profile", "the name of a profile", profile, error);
}

bool name_check_both(const char *pool, const char *id, GError **error) {
        g_autofree char *slice = name_slice(pool, id);

        if (strlen(slice) <= UNIT_NAME_MAX_BYTES)
                return true;
        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_NAME,
                    "--pool: \"%s\" and the id \"%s\" are too long together for a unit name; "
                    "accepted: fewer dashes (each takes four of %d bytes)",
                    pool, id, UNIT_NAME_MAX_BYTES);
        return false;
}

char *name_id_from_random(uint64_t random) {
        static const char alphabet[] = "abcdefghjkmnpqrstuvwxyz23456789"; /* no i, l, o, 0, 1 */
        const uint64_t n_letters = strcspn(alphabet, "23456789"), n_all = strlen(alphabet);
        char id[7] = { 0 };

        for (size_t i = 0; i < sizeof(id) - 1; i++) {
                uint64_t base = i == 0 ? n_letters : n_all;

                id[i] = alphabet[random % base];
                random /= base;
        }

        return g_strdup(id);
}

char *name_escape(const char *id) {
        g_autoptr(GString) out = g_string_new(NULL);

        for (const char *c = id; *c; c++) {
                if (*c == '-')
                        g_string_append(out, DASH);
                else
                        g_string_append_c(out, *c);
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *unit_name(const char *id, const char *suffix) {
        g_autofree char *escaped = name_escape(id);

        return g_strconcat(NAME_PREFIX, escaped, suffix, NULL);
}

char *name_slice(const char *pool, const char *id) {
        g_autofree char *escaped_pool = pool ? name_escape(pool) : NULL;
        g_autofree char *escaped_id = name_escape(id);

        return pool ? g_strconcat(POOL_PREFIX, escaped_pool, "-", escaped_id, ".slice", NULL)
                    : unit_name(id, ".slice");
}

char *name_slice_pattern(const char *id) {
        g_autofree char *escaped = name_escape(id);

        return g_strconcat(POOL_PREFIX, "*-", escaped, ".slice", NULL);
}

char *name_pool_slice(const char *pool) {
        g_autofree char *escaped = name_escape(pool);

        return g_strconcat(POOL_PREFIX, escaped, ".slice", NULL);
}

char *name_slice_path(const char *slice) {
        g_autoptr(GString) path = g_string_new(NULL);

        for (const char *dash = slice + strlen(NAME_PREFIX); (dash = strchr(dash, '-')); dash++)
                g_string_append_printf(path, "%.*s.slice/", (int)(dash - slice), slice);
        g_string_append(path, slice);
        return g_string_free(g_steal_pointer(&path), FALSE);
}

char *name_service(const char *id) {
        return unit_name(id, ".service");
}

char *name_scope(const char *id) {
        return unit_name(id, ".scope");
}

char *name_in_use(const char *id) {
        return g_strdup_printf("--id: \"%s\" is in use", id);
}

char *name_unit(const char *id, bool is_scope) {
        return is_scope ? name_scope(id) : name_service(id);
}

static char *unescape(const char *text, size_t length) {
        g_autoptr(GString) out = g_string_sized_new(length);

        for (const char *c = text; c < text + length; c++) {
                if (strncmp(c, DASH, strlen(DASH)) == 0) {
                        g_string_append_c(out, '-');
                        c += strlen(DASH) - 1;
                } else if (*c == '-') {
                        return NULL;
                } else {
                        g_string_append_c(out, *c);
                }
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

/* "POOL-ID.slice" */
static char *id_in_pool(const char *body) {
        const char *dash = strchr(body, '-');
        g_autofree char *pool = dash ? g_strndup(body, (size_t)(dash - body)) : NULL;
        g_autofree char *name = pool ? unescape(pool, strlen(pool)) : NULL;

        if (!name || !name_pool_check(name, NULL) || !g_str_has_suffix(dash, ".slice"))
                return NULL;
        return unescape(dash + 1, strlen(dash + 1) - strlen(".slice"));
}

char *name_id_from_unit(const char *unit) {
        const char *body = unit + strlen(NAME_PREFIX);
        g_autofree char *id = NULL;

        if (!g_str_has_prefix(unit, NAME_PREFIX))
                return NULL;

        if (g_str_has_prefix(unit, POOL_PREFIX))
                id = id_in_pool(unit + strlen(POOL_PREFIX));
        for (size_t i = 0; i < G_N_ELEMENTS(run_suffixes) && !id; i++)
                if (g_str_has_suffix(body, run_suffixes[i]))
                        id = unescape(body, strlen(body) - strlen(run_suffixes[i]));

        /* Whoever made it, an id that we would not give is not one of ours. */
        return id && name_id_check(id, NULL) ? g_steal_pointer(&id) : NULL;
}

char *name_pool_from_unit(const char *unit) {
        const char *body = unit + strlen(POOL_PREFIX);
        g_autofree char *pool = NULL;

        if (!g_str_has_prefix(unit, POOL_PREFIX) || !g_str_has_suffix(body, ".slice"))
                return NULL;
        pool = unescape(body, strlen(body) - strlen(".slice"));
        return pool && name_pool_check(pool, NULL) ? g_steal_pointer(&pool) : NULL;
}

#define OWNER_MARK "(launcher "

char *name_description_with_owner(const char *id, const char *owner) {
        return g_strdup_printf("cordon %s: limits " OWNER_MARK "%s)", id, owner);
}

char *name_owner_from_description(const char *description) {
        const char *mark = strstr(description, OWNER_MARK);
        const char *end = mark ? strchr(mark, ')') : NULL;

        if (!end)
                return NULL;
        mark += strlen(OWNER_MARK);
        return g_strndup(mark, (size_t)(end - mark));
}
