/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits are compared as they are written: limit_format() has one text for each value. A limit that somebody changed at
 * the manager since is found by reading back, not here. */

#include "pool.h"

#include <string.h>

#include "error.h"

static char *head(const char *pool) {
        return g_strdup_printf("Pool %s of cordon", pool);
}

static bool is_of_pool(const LimitSet *limits, Limit limit) {
        return limit_info(limit)->carrier == LIMIT_ON_POOL && limit_set_is_limited(limits, limit);
}

char *pool_describe(const char *pool, const LimitSet *limits) {
        g_autofree char *beginning = head(pool);
        GString *text = g_string_new(beginning);
        const char *separator = " [";

        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autofree char *value = NULL;

                if (!is_of_pool(limits, (Limit)i))
                        continue;
                value = limit_set_format(limits, (Limit)i);
                g_string_append_printf(text, "%s%s=%s", separator, limit_info((Limit)i)->key,
                                       value);
                separator = ", ";
        }
        if (strcmp(separator, " [") != 0)
                g_string_append_c(text, ']');
        return g_string_free(text, FALSE);
}

bool pool_is_described(const char *pool, const char *description) {
        g_autofree char *beginning = head(pool);
        const char *rest = description + strlen(beginning);

        return g_str_has_prefix(description, beginning) &&
               (*rest == '\0' || g_str_has_prefix(rest, " ["));
}

/* NULL: it was started without. */
static char *value_in(const char *description, const char *key) {
        const char *list = strstr(description, " [");
        g_autofree char *mark = g_strdup_printf("%s=", key);
        const char *place = list ? strstr(list, mark) : NULL;

        return place ? g_strndup(place + strlen(mark), strcspn(place + strlen(mark), ",]")) : NULL;
}

bool pool_check_limits(const char *pool, const char *description, const LimitSet *limits,
                       GError **error) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                const char *key = limit_info((Limit)i)->key;
                g_autofree char *asked = NULL, *now = NULL;

                if (!is_of_pool(limits, (Limit)i))
                        continue;
                asked = limit_set_format(limits, (Limit)i);
                now = value_in(description, key);
                if (g_strcmp0(asked, now) == 0)
                        continue;
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_UNENFORCEABLE,
                            "--%s: %s is asked for, but pool \"%s\" was started with %s; its "
                            "limits are those of its first run until the last one is gone",
                            key, asked, pool, now ?: "none");
                return false;
        }
        return true;
}
