/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Connections: the socket that is really there under a name that an address has to escape, and nobody at all. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tap.h>
#include <unistd.h>

#include "dbus/connect.h"
#include "dbus/error.h"

static int listen_at(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int r;

        g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
        r = bind(fd, (const struct sockaddr *)&address, sizeof(address));
        g_assert(r == 0);
        r = listen(fd, 1);
        g_assert(r == 0);
        return fd;
}

static void test_name(const char *directory, const char *name) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autoptr(sd_bus) bus = NULL;
        g_autoptr(GError) error = NULL;
        int fd = listen_at(path), accepted;

        ok(connect_direct(path, &bus, &error), "a manager at \"%s\" is reached", name);
        accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        cmp_ok(accepted, ">=", 0, "… really");
        close(accepted);
        close(fd);
        g_unlink(path);
}

static void test_nobody(const char *path, const char *words) {
        g_autofree char *message = g_strdup_printf("no manager at %s: %s", path, words);
        g_autoptr(GError) error = NULL;
        sd_bus *bus = NULL;

        ok(!connect_direct(path, &bus, &error), "nobody listens: %s", words);
        ok(g_error_matches(error, DBUS_ERROR, DBUS_ERROR_UNREACHABLE), "… which is unreachable");
        is(error ? error->message : NULL, message, "… and says where");
        ok(!bus, "… and gives no connection");
}

static void test_no_system_bus(void) {
        g_autoptr(GError) error = NULL;
        sd_bus *bus = NULL;

        g_setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
        ok(!connect_system_bus(&bus, &error), "no system bus");
        ok(g_error_matches(error, DBUS_ERROR, DBUS_ERROR_UNREACHABLE), "… is unreachable");
        is(error ? error->message : NULL, "no system bus: No such file or directory",
           "… and says so");
        ok(!bus, "… and gives no connection");
}

int main(void) {
        g_autofree char *directory = g_dir_make_tmp("cordon-XXXXXX", NULL);
        g_autofree char *dead = g_build_filename(directory, "dead", NULL);

        plan(NO_PLAN);
        test_name(directory, "private");
        test_name(directory, "with space");
        test_name(directory, "100%,guid=1;x:y");
        test_name(directory, "größe");
        test_name(directory, "a*b\\c");
        test_nobody("/nonexistent/private", "No such file or directory");
        close(listen_at(dead));
        test_nobody(dead, "Connection refused");
        g_unlink(dead);
        test_no_system_bus();
        g_rmdir(directory);
        done_testing();
}
