/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Recursion over the types that a message itself names. Empty arrays are why the contents string of a container is
 * carried along: there is no element to ask for its type. */

#include "reread.h"

#include <fcntl.h>
#include <unistd.h>

static void close_fd(void *fd) {
        close(*(int *)fd);
}

GArray *reread_fds_new(void) {
        GArray *fds = g_array_new(FALSE, FALSE, sizeof(int));

        g_array_set_clear_func(fds, close_fd);
        return fds;
}

static GVariant *read_basic(sd_bus_message *message, char type, GArray *fds) {
        union {
                uint8_t y;
                int b, h;
                int16_t n;
                uint16_t q;
                int32_t i;
                uint32_t u;
                int64_t x;
                uint64_t t;
                double d;
                const char *s;
        } value = { 0 };
        int r = sd_bus_message_read_basic(message, type, &value);

        if (r <= 0)
                return NULL;
        switch (type) {
        case SD_BUS_TYPE_BOOLEAN:
                return g_variant_new_boolean(value.b);
        case SD_BUS_TYPE_STRING:
        case SD_BUS_TYPE_OBJECT_PATH:
        case SD_BUS_TYPE_SIGNATURE:
                return g_variant_new((char[]){ type, 0 }, value.s);
        case SD_BUS_TYPE_UNIX_FD:
                value.h = fcntl(value.h, F_DUPFD_CLOEXEC, 3);
                g_array_append_val(fds, value.h);
                return g_variant_new_handle((int)fds->len - 1);
        default: {
                const GVariantType *fixed = (const GVariantType *)(char[]){ type, 0 };
                gsize size = strchr("y", type)    ? 1
                             : strchr("nq", type) ? 2
                             : strchr("iu", type) ? 4
                                                  : 8;
                g_autoptr(GBytes) bytes = g_bytes_new(&value, size);

                return g_variant_new_from_bytes(fixed, bytes, TRUE);
        }
        }
}

static char *type_of(char container, const char *contents) {
        switch (container) {
        case SD_BUS_TYPE_ARRAY:
                return g_strconcat("a", contents, NULL);
        case SD_BUS_TYPE_STRUCT:
                return g_strconcat("(", contents, ")", NULL);
        case SD_BUS_TYPE_DICT_ENTRY:
                return g_strconcat("{", contents, "}", NULL);
        default:
                return g_strdup("v");
        }
}

GVariant *reread_value(sd_bus_message *message, GArray *fds) {
        const char *contents = NULL;
        char type = 0;

        if (sd_bus_message_peek_type(message, &type, &contents) <= 0)
                return NULL;
        if (!contents)
                return read_basic(message, type, fds);

        g_autofree char *whole = type_of(type, contents);
        GVariantBuilder builder;
        GVariant *child = NULL;

        if (sd_bus_message_enter_container(message, type, contents) <= 0)
                return NULL;
        g_variant_builder_init(&builder, G_VARIANT_TYPE(whole));
        while ((child = reread_value(message, fds)))
                g_variant_builder_add_value(&builder, child);
        sd_bus_message_exit_container(message);
        return g_variant_builder_end(&builder);
}
