/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The hard thing here is what is not done: on a direct connection there is no Hello, no Subscribe and no match on a
 * sender, because the other end of the socket is the manager itself. */

#include "connect.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "manager.h"

/* A D-Bus address wants everything but these as %XX. */
static char *escape_address(const char *path) {
        GString *escaped = g_string_new(NULL);

        for (const char *p = path; *p; p++)
                if (g_ascii_isalnum(*p) || strchr("-_/.\\*", *p))
                        g_string_append_c(escaped, *p);
                else
                        g_string_append_printf(escaped, "%%%02x", (unsigned char)*p);
        return g_string_free(escaped, FALSE);
}

static int start_direct(sd_bus *fresh, int r, sd_bus **ret_bus) {
        g_autoptr(sd_bus) bus = fresh;

        if (r < 0)
                return r;
        r = sd_bus_set_connected_signal(bus, true);
        if (r < 0)
                return r;
        r = sd_bus_start(bus);
        if (r < 0)
                return r;

        *ret_bus = g_steal_pointer(&bus);
        return 0;
}

static int open_direct(const char *socket_path, sd_bus **ret_bus) {
        g_autofree char *escaped = escape_address(socket_path);
        g_autofree char *address = g_strconcat("unix:path=", escaped, NULL);
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        return start_direct(bus, r < 0 ? r : sd_bus_set_address(bus, address), ret_bus);
}

bool connect_over(int fd, sd_bus **ret_bus) {
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd);
        if (r < 0)
                (void)close(fd);
        return start_direct(bus, r, ret_bus) >= 0;
}

bool connect_direct(const char *socket_path, sd_bus **ret_bus, GError **error) {
        int r = open_direct(socket_path, ret_bus);

        if (r < 0) {
                g_set_error(error, DBUS_ERROR, DBUS_ERROR_UNREACHABLE, "no manager at %s: %s",
                            socket_path, g_strerror(-r));
                return false;
        }
        return true;
}

static int shake_hands(sd_bus *bus) {
        uint64_t patience_usec = 0;
        int64_t deadline_usec;
        int r = sd_bus_get_method_call_timeout(bus, &patience_usec);

        deadline_usec = g_get_monotonic_time() + (int64_t)patience_usec;
        while (r >= 0 && (r = sd_bus_is_ready(bus)) == 0) {
                int64_t left_usec = deadline_usec - g_get_monotonic_time();

                r = sd_bus_process(bus, NULL);
                if (r == 0)
                        r = left_usec > 0 ? sd_bus_wait(bus, (uint64_t)left_usec) : -ETIMEDOUT;
        }
        return r;
}

bool connect_system_bus(sd_bus **ret_bus, GError **error) {
        g_autoptr(sd_bus) bus = NULL;
        int r = sd_bus_open_system(&bus);

        if (r >= 0)
                r = shake_hands(bus);
        if (r < 0) {
                g_set_error(error, DBUS_ERROR, DBUS_ERROR_UNREACHABLE, "no system bus: %s",
                            g_strerror(-r));
                return false;
        }
        *ret_bus = g_steal_pointer(&bus);
        return true;
}

unsigned connect_manager_version(sd_bus *bus) {
        char *version = NULL;
        int r = sd_bus_get_property_string(bus, MANAGER_DESTINATION, MANAGER_PATH,
                                           MANAGER_INTERFACE, "Version", NULL, &version);
        unsigned number = r < 0 ? 0 : (unsigned)g_ascii_strtoull(version, NULL, 10);

        free(version);
        return number;
}
