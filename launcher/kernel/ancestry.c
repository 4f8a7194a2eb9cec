/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The machine's own root has no such counter in version 2; the root of a container, which is a cgroup like any other
 * from outside, has it: that is how they are told apart. */

#include "ancestry.h"

#include <stdint.h>
#include <string.h>

#include "kept.h"

typedef struct {
        char *path;
        uint64_t before;
} Level;

struct Ancestry {
        char *root;
        const CounterSource *source; /* borrowed, of a table */
        GArray *levels;              /* of Level, nearest first */
        bool is_whole;
};

static void level_clear(void *data) {
        g_free(((Level *)data)->path);
}

static bool level_read(const char *path, const CounterSource *source, uint64_t *ret_value) {
        g_autofree char *file = g_build_filename(path, source->file, NULL);
        g_autofree char *text = kept_read(file);

        return text && counter_parse(source, text, ret_value);
}

Ancestry *ancestry_new(const char *path, const char *root, const CounterSource *source) {
        Ancestry *ancestry = g_new0(Ancestry, 1);
        g_autofree char *next = g_strdup(path);

        ancestry->root = g_strdup(root);
        ancestry->source = source;
        ancestry->levels = g_array_new(FALSE, FALSE, sizeof(Level));
        g_array_set_clear_func(ancestry->levels, level_clear);
        while (strlen(next) > strlen(root)) {
                Level level = { 0 };

                *strrchr(next, '/') = '\0';
                ancestry->is_whole = !level_read(next, source, &level.before);
                if (ancestry->is_whole)
                        continue;
                level.path = g_strdup(next);
                g_array_append_val(ancestry->levels, level);
        }
        return ancestry;
}

void ancestry_free(Ancestry *ancestry) {
        if (!ancestry)
                return;
        g_array_unref(ancestry->levels);
        g_free(ancestry->root);
        g_free(ancestry);
}

char *ancestry_find_met(const Ancestry *ancestry) {
        for (guint i = 0; i < ancestry->levels->len; i++) {
                const Level *level = &g_array_index(ancestry->levels, Level, i);
                uint64_t now = 0;

                if (!level_read(level->path, ancestry->source, &now) || now <= level->before)
                        continue;

                const char *inside = level->path + strlen(ancestry->root);

                return g_strdup(inside[0] ? inside : "/");
        }
        return NULL;
}

bool ancestry_is_whole(const Ancestry *ancestry) {
        return ancestry->is_whole;
}
