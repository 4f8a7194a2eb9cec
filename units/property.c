/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists of unit properties. Order is kept because systemd applies properties in order, and because golden tests and
 * people read them. */

#include <stdint.h>

#include "property.h"

static void property_free(gpointer data) {
        Property *property = data;

        g_free(property->name);
        g_variant_unref(property->value);
        g_free(property);
}

PropertyList *property_list_new(void) {
        PropertyList *list = g_new0(PropertyList, 1);

        list->items = g_ptr_array_new_with_free_func(property_free);
        list->fds = g_array_new(FALSE, FALSE, sizeof(int));
        return list;
}

PropertyList *property_list_copy(const PropertyList *list) {
        PropertyList *copy = property_list_new();

        for (guint i = 0; i < list->items->len; i++) {
                const Property *property = list->items->pdata[i];

                property_list_set(copy, property->name, property->value);
        }
        g_array_append_vals(copy->fds, list->fds->data, list->fds->len);
        return copy;
}

void property_list_free(PropertyList *list) {
        if (!list)
                return;

        g_ptr_array_unref(list->items);
        g_array_unref(list->fds);
        g_free(list);
}

static bool find_index(const PropertyList *list, const char *name, guint *ret_index) {
        for (guint i = 0; i < list->items->len; i++)
                if (g_str_equal(((Property *)list->items->pdata[i])->name, name)) {
                        *ret_index = i;
                        return true;
                }

        return false;
}

void property_list_set(PropertyList *list, const char *name, GVariant *value) {
        Property *property;
        guint index;

        g_variant_ref_sink(value);
        if (find_index(list, name, &index)) {
                property = list->items->pdata[index];
                g_variant_unref(property->value);
        } else {
                property = g_new0(Property, 1);
                property->name = g_strdup(name);
                g_ptr_array_add(list->items, property);
        }

        property->value = value;
}

void property_list_set_bool(PropertyList *list, const char *name, bool value) {
        property_list_set(list, name, g_variant_new_boolean(value));
}

void property_list_set_string(PropertyList *list, const char *name, const char *value) {
        property_list_set(list, name, g_variant_new_string(value));
}

void property_list_set_uint64(PropertyList *list, const char *name, uint64_t value) {
        property_list_set(list, name, g_variant_new_uint64(value));
}

void property_list_set_fd(PropertyList *list, const char *name, int fd) {
        g_array_append_val(list->fds, fd);
        property_list_set(list, name, g_variant_new_handle((gint32)list->fds->len - 1));
}

size_t property_list_length(const PropertyList *list) {
        return list->items->len;
}

const Property *property_list_at(const PropertyList *list, size_t index) {
        g_assert(index < list->items->len);
        return list->items->pdata[index];
}

const Property *property_list_find(const PropertyList *list, const char *name) {
        guint index;

        return find_index(list, name, &index) ? list->items->pdata[index] : NULL;
}

GVariant *property_join(GVariant *before, GVariant *after) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(g_variant_get_type(before));
        GVariant *const parts[] = { before, after };

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                for (size_t j = 0; j < g_variant_n_children(parts[i]); j++) {
                        g_autoptr(GVariant) item = g_variant_get_child_value(parts[i], j);

                        g_variant_builder_add_value(builder, item);
                }
        return g_variant_builder_end(builder);
}

void property_list_extend(PropertyList *list, const char *name, GVariant *value) {
        const Property *before = property_list_find(list, name);
        g_autoptr(GVariant) held G_GNUC_UNUSED = g_variant_ref_sink(value);

        if (before && g_variant_is_of_type(value, G_VARIANT_TYPE_ARRAY) &&
            !g_variant_is_of_type(value, G_VARIANT_TYPE_BYTESTRING))
                value = property_join(before->value, value);
        property_list_set(list, name, value);
}

bool property_list_remove(PropertyList *list, const char *name) {
        guint index;

        if (!find_index(list, name, &index))
                return false;

        g_ptr_array_remove_index(list->items, index);
        return true;
}

/* Numbers without their type, text without quotes, everything else as GVariant prints it. */
static char *value_to_text(GVariant *value) {
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
                return g_variant_dup_string(value, NULL);
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
                return g_strdup(g_variant_get_boolean(value) ? "yes" : "no");
        if (g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64) &&
            g_variant_get_uint64(value) == UINT64_MAX)
                return g_strdup("infinity");

        return g_variant_print(value, FALSE);
}

char *property_list_to_text(const PropertyList *list) {
        g_autoptr(GString) out = g_string_new(NULL);

        for (guint i = 0; i < list->items->len; i++) {
                const Property *property = list->items->pdata[i];
                g_autofree char *value = value_to_text(property->value);

                g_string_append_printf(out, "%s=%s\n", property->name, value);
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}
