/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Walks a typed value and writes it into a message. The types of GVariant are those of D-Bus, so one recursive function
 * replaces a hand-written converter a property; a descriptor is looked up in the list it came with. */

#include "append.h"

#include <errno.h>

static int append_value(sd_bus_message *message, GVariant *value, const GArray *fds);

static int append_children(sd_bus_message *message, GVariant *value, const GArray *fds) {
        for (size_t i = 0; i < g_variant_n_children(value); i++) {
                g_autoptr(GVariant) child = g_variant_get_child_value(value, i);
                int r = append_value(message, child, fds);

                if (r < 0)
                        return r;
        }

        return 0;
}

/* The contents string of a container: its type without the outer marks. */
static char *contents_of(GVariant *value, char container) {
        const char *type = g_variant_get_type_string(value);

        if (container == SD_BUS_TYPE_ARRAY)
                return g_strdup(type + 1);
        return g_strndup(type + 1, strlen(type) - 2);
}

static int append_container(sd_bus_message *message, GVariant *value, char container,
                            const GArray *fds) {
        g_autofree char *contents = contents_of(value, container);
        int r = sd_bus_message_open_container(message, container, contents);

        if (r < 0)
                return r;
        r = append_children(message, value, fds);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(message);
}

static int append_boxed(sd_bus_message *message, GVariant *value, const GArray *fds) {
        g_autoptr(GVariant) inner = g_variant_get_variant(value);
        int r = sd_bus_message_open_container(message, SD_BUS_TYPE_VARIANT,
                                              g_variant_get_type_string(inner));

        if (r < 0)
                return r;
        r = append_value(message, inner, fds);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(message);
}

static int append_fd(sd_bus_message *message, GVariant *value, const GArray *fds) {
        int32_t index = g_variant_get_handle(value);

        if (!fds || index < 0 || (guint)index >= fds->len)
                return -EBADF;
        return sd_bus_message_append_basic(message, SD_BUS_TYPE_UNIX_FD,
                                           &g_array_index(fds, int, index));
}

static int append_number(sd_bus_message *message, GVariant *value, char type) {
        if (type == SD_BUS_TYPE_BOOLEAN) {
                int b = g_variant_get_boolean(value);

                return sd_bus_message_append_basic(message, type, &b);
        }

        /* What is left is stored by GVariant as the bus wants it: fixed size, host order. */
        return sd_bus_message_append_basic(message, type, g_variant_get_data(value));
}

static int append_value(sd_bus_message *message, GVariant *value, const GArray *fds) {
        char type = g_variant_get_type_string(value)[0];

        switch (g_variant_classify(value)) {
        case G_VARIANT_CLASS_STRING:
        case G_VARIANT_CLASS_OBJECT_PATH:
        case G_VARIANT_CLASS_SIGNATURE:
                return sd_bus_message_append_basic(message, type,
                                                   g_variant_get_string(value, NULL));
        case G_VARIANT_CLASS_VARIANT:
                return append_boxed(message, value, fds);
        case G_VARIANT_CLASS_ARRAY:
                return append_container(message, value, SD_BUS_TYPE_ARRAY, fds);
        case G_VARIANT_CLASS_TUPLE:
                return append_container(message, value, SD_BUS_TYPE_STRUCT, fds);
        case G_VARIANT_CLASS_DICT_ENTRY:
                return append_container(message, value, SD_BUS_TYPE_DICT_ENTRY, fds);
        case G_VARIANT_CLASS_HANDLE:
                return append_fd(message, value, fds);
        case G_VARIANT_CLASS_MAYBE:
                return -EINVAL;
        default:
                return append_number(message, value, type);
        }
}

static int append_property(sd_bus_message *message, const Property *property, const GArray *fds) {
        int r = sd_bus_message_open_container(message, SD_BUS_TYPE_STRUCT, "sv");

        if (r < 0)
                return r;
        r = sd_bus_message_append_basic(message, SD_BUS_TYPE_STRING, property->name);
        if (r < 0)
                return r;
        g_autoptr(GVariant) boxed = g_variant_ref_sink(g_variant_new_variant(property->value));
        r = append_boxed(message, boxed, fds);
        if (r < 0)
                return r;
        return sd_bus_message_close_container(message);
}

int append_properties(sd_bus_message *message, const PropertyList *list) {
        int r = sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "(sv)");

        if (r < 0)
                return r;
        for (size_t i = 0; i < property_list_length(list); i++) {
                r = append_property(message, property_list_at(list, i), list->fds);
                if (r < 0)
                        return r;
        }
        return sd_bus_message_close_container(message);
}
