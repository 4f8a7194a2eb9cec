/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The order is systemd's (its src/core/namespace.c): by path, and at one path by kind; what was read-only there stays it
 * whoever wins. */

#include "layout.h"

#include <string.h>

#include "error.h"
#include "isolation.h"
#include "step.h"

#define MOUNT_RECURSIVE UINT64_C(16384) /* MS_REC */

/* The machine's memory would be its only bound otherwise; as tmp.mount has it. */
#define TMP_OPTIONS   "mode=1777,size=50%,nr_inodes=1m"
/* As a manager has them where nothing else is said. */
#define TMPFS_OPTIONS "mode=0755,size=10%,nr_inodes=400k"
#define RUN_OPTIONS   "mode=0755,size=20%,nr_inodes=800k"

static void layout_place_free(gpointer data) {
        LayoutPlace *place = data;

        g_free(place->path);
        g_free(place->source);
        g_free(place->options);
        g_free(place);
}

/* Returns it, for what is particular. */
static LayoutPlace *add(Layout *layout, LayoutKind kind, const char *path, unsigned flags,
                        const char *property) {
        LayoutPlace *place = g_new0(LayoutPlace, 1);

        place->kind = kind;
        place->path = g_canonicalize_filename(path, "/");
        place->flags = flags;
        place->property = property;
        g_ptr_array_add(layout->places, place);
        return place;
}

static void add_bind(Layout *layout, LayoutKind kind, const char *source, const char *path,
                     unsigned flags, const char *property) {
        add(layout, kind, path, flags, property)->source = g_strdup(source);
}

static void add_tmpfs(Layout *layout, const char *path, const char *options, unsigned flags,
                      const char *property) {
        add(layout, LAYOUT_TMPFS, path, flags, property)->options = g_strdup(options);
}

/* Readers of values: false where it has a value that is not carried. */

static void read_binds(Layout *layout, GVariant *value, unsigned read_only, const char *property) {
        GVariantIter iter;
        const char *source, *path;
        gboolean is_optional;
        guint64 mount_flags;

        g_variant_iter_init(&iter, value);
        while (g_variant_iter_next(&iter, "(&s&sbt)", &source, &path, &is_optional, &mount_flags))
                add_bind(layout, LAYOUT_BIND, source, path,
                         read_only | (is_optional ? STEP_IS_OPTIONAL : 0) |
                                 (mount_flags & MOUNT_RECURSIVE ? STEP_IS_RECURSIVE : 0),
                         property);
}

static bool read_bind(Layout *layout, GVariant *value) {
        read_binds(layout, value, 0, "BindPaths");
        return true;
}

static bool read_read_only_bind(Layout *layout, GVariant *value) {
        read_binds(layout, value, STEP_IS_READ_ONLY, "BindReadOnlyPaths");
        return true;
}

/* Words that are flags of the mount; all others are the file system's own. */
static bool take_flag(const char *word, unsigned *flags) {
        static const struct {
                const char *word;
                unsigned set, clear;
        } words[] = {
                { "ro", STEP_IS_READ_ONLY, 0 },  { "rw", 0, STEP_IS_READ_ONLY },
                { "nosuid", STEP_NO_SUID, 0 },   { "suid", 0, STEP_NO_SUID },
                { "nodev", STEP_NO_DEVICES, 0 }, { "dev", 0, STEP_NO_DEVICES },
                { "noexec", STEP_NO_EXEC, 0 },   { "exec", 0, STEP_NO_EXEC },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (g_str_equal(words[i].word, word)) {
                        *flags = (*flags & ~words[i].clear) | words[i].set;
                        return true;
                }
        return false;
}

static bool read_tmpfs(Layout *layout, GVariant *value) {
        GVariantIter iter;
        const char *path, *words;

        g_variant_iter_init(&iter, value);
        while (g_variant_iter_next(&iter, "(&s&s)", &path, &words)) {
                g_auto(GStrv) split = g_strsplit(words, ",", -1);
                g_autoptr(GString) options = g_string_new(TMPFS_OPTIONS);
                unsigned flags = STEP_NO_DEVICES;

                for (char **word = split; *word; word++)
                        if (**word && !take_flag(*word, &flags))
                                g_string_append_printf(options, ",%s", *word);
                add_tmpfs(layout, path, options->str, flags, "TemporaryFileSystem");
        }
        return true;
}

static bool read_read_only(Layout *layout, GVariant *value) {
        GVariantIter iter;
        const char *path;

        g_variant_iter_init(&iter, value);
        while (g_variant_iter_next(&iter, "&s", &path)) {
                bool is_optional = path[0] == '-';

                path += is_optional;
                path += path[0] == '+'; /* from the root of the unit, which is that of the child */
                (void)add(layout, LAYOUT_READ_ONLY, path, is_optional ? STEP_IS_OPTIONAL : 0,
                          "ReadOnlyPaths");
        }
        return true;
}

static bool read_private_tmp(Layout *layout, GVariant *value) {
        static const char *const paths[] = { "/tmp", "/var/tmp" };

        for (size_t i = 0; g_variant_get_boolean(value) && i < G_N_ELEMENTS(paths); i++)
                add(layout, LAYOUT_PRIVATE_TMP, paths[i],
                    STEP_IS_OPTIONAL | STEP_NO_SUID | STEP_NO_DEVICES, "PrivateTmp")
                        ->options = g_strdup(TMP_OPTIONS);
        return true;
}

static bool read_private_devices(Layout *layout, GVariant *value) {
        if (g_variant_get_boolean(value))
                (void)add(layout, LAYOUT_PRIVATE_DEVICES, "/dev", STEP_NO_SUID | STEP_NO_EXEC,
                          "PrivateDevices");
        return true;
}

static void add_kernels(Layout *layout, const char *property) {
        static const char *const paths[] = { "/proc", "/sys", "/dev" };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
                add_bind(layout, LAYOUT_KERNEL, paths[i], paths[i], STEP_IS_RECURSIVE, property);
        add_tmpfs(layout, "/run", RUN_OPTIONS, STEP_NO_SUID | STEP_NO_DEVICES, property);
}

static bool read_api(Layout *layout, GVariant *value) {
        if (g_variant_get_boolean(value))
                add_kernels(layout, "MountAPIVFS");
        return true;
}

static bool read_control_groups(Layout *layout, GVariant *value) {
        if (!g_variant_get_boolean(value))
                return true;
        add_kernels(layout, "ProtectControlGroups"); /* there, so that they can be protected */
        (void)add(layout, LAYOUT_READ_ONLY, "/sys/fs/cgroup", 0, "ProtectControlGroups");
        return true;
}

static bool read_private_users(Layout *layout, GVariant *value) {
        layout->has_own_users = g_variant_get_boolean(value);
        return true;
}

static bool read_private_network(Layout *layout, GVariant *value) {
        layout->has_no_network = g_variant_get_boolean(value);
        return true;
}

static bool read_no_new_privileges(Layout *layout, GVariant *value) {
        layout->has_no_new_privileges = g_variant_get_boolean(value);
        return true;
}

/* Nobody puts them there. */
static bool read_log_sockets(Layout *layout, GVariant *value) {
        return !g_variant_get_boolean(value);
}

static const struct {
        const char *name, *type;
        bool (*read)(Layout *layout, GVariant *value);
} properties[] = {
        { "BindPaths", "a(ssbt)", read_bind },
        { "BindReadOnlyPaths", "a(ssbt)", read_read_only_bind },
        { "BindLogSockets", "b", read_log_sockets },
        { "MountAPIVFS", "b", read_api },
        { "NoNewPrivileges", "b", read_no_new_privileges },
        { "PrivateDevices", "b", read_private_devices },
        { "PrivateNetwork", "b", read_private_network },
        { "PrivateTmp", "b", read_private_tmp },
        { "PrivateUsers", "b", read_private_users },
        { "ProtectControlGroups", "b", read_control_groups },
        { "ReadOnlyPaths", "as", read_read_only },
        { "TemporaryFileSystem", "a(ss)", read_tmpfs },
};

static bool read_property(Layout *layout, const Property *property, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
                if (g_str_equal(properties[i].name, property->name) &&
                    g_variant_is_of_type(property->value, G_VARIANT_TYPE(properties[i].type)) &&
                    properties[i].read(layout, property->value))
                        return true;

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_UNENFORCEABLE,
                    "%s= needs a service: in a scope there is only what a process can do by itself",
                    property->name);
        return false;
}

/* Component by component, so that what is below a path follows it directly. */
static int compare_paths(const char *a, const char *b) {
        for (; *a && *a == *b; a++, b++)
                ;
        if (*a == *b)
                return 0;
        if (!*a || !*b)
                return *a ? 1 : -1;
        if (*a == '/' || *b == '/')
                return *a == '/' ? -1 : 1;
        return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_places(gconstpointer one, gconstpointer other) {
        const LayoutPlace *a = *(const LayoutPlace *const *)one,
                          *b = *(const LayoutPlace *const *)other;
        int order = compare_paths(a->path, b->path);

        return order ? order : (int)a->kind - (int)b->kind;
}

static void drop_duplicates(GPtrArray *places) {
        for (guint i = 1; i < places->len;) {
                LayoutPlace *winner = g_ptr_array_index(places, i - 1);
                const LayoutPlace *place = g_ptr_array_index(places, i);

                if (!g_str_equal(winner->path, place->path)) {
                        i++;
                        continue;
                }
                if (place->kind == LAYOUT_READ_ONLY || (place->flags & STEP_IS_READ_ONLY))
                        winner->flags |= STEP_IS_READ_ONLY;
                g_ptr_array_remove_index(places, i);
        }
}

static bool has_own_root(const Layout *layout) {
        return layout->places->len > 0 && layout_at(layout, 0)->path[1] == '\0' &&
               layout_at(layout, 0)->kind != LAYOUT_READ_ONLY;
}

/* They are there already where / is the machine's. */
static void drop_needless(Layout *layout) {
        for (guint i = layout->places->len; i-- > 0;) {
                const LayoutPlace *place = layout_at(layout, i);
                bool is_run = place->kind == LAYOUT_TMPFS &&
                              !g_str_equal(place->property, "TemporaryFileSystem");

                if (place->kind == LAYOUT_KERNEL || is_run)
                        g_ptr_array_remove_index(layout->places, i);
        }
}

Layout *layout_read(const PropertyList *unit, GError **error) {
        g_autoptr(Layout) layout = g_new0(Layout, 1);

        layout->places = g_ptr_array_new_with_free_func(layout_place_free);
        for (size_t i = 0; i < property_list_length(unit); i++)
                if (!read_property(layout, property_list_at(unit, i), error))
                        return NULL;
        g_ptr_array_sort(layout->places, compare_places);
        if (!has_own_root(layout))
                drop_needless(layout);
        drop_duplicates(layout->places);
        return g_steal_pointer(&layout);
}

void layout_free(Layout *layout) {
        if (!layout)
                return;
        g_ptr_array_unref(layout->places);
        g_free(layout);
}

const LayoutPlace *layout_at(const Layout *layout, guint index) {
        return g_ptr_array_index(layout->places, index);
}

const LayoutPlace *layout_above(const Layout *layout, const char *path) {
        const LayoutPlace *nearest = NULL;

        for (guint i = 0; i < layout->places->len; i++) {
                const LayoutPlace *place = layout_at(layout, i);
                bool is_above = place->path[1] == '\0' || isolation_is_within(path, place->path);

                if (is_above && !g_str_equal(path, place->path))
                        nearest = place;
        }
        return nearest;
}
