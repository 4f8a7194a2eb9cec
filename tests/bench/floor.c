/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bench-floor SOCKET COUNT DEPTH slice|counted|bare [LIMIT=VALUE…]: what no launcher can do without. COUNT units, DEPTH of
 * them at a time, are made over one direct connection, with the properties that ours have (units/compose), each in a slice
 * of its own, which counts the network where a record is wanted of it ("counted"), or ("bare") none. The program is /bin/true itself: no gate, no guard, nothing read back, nothing told. Its end
 * is seen in the manager's signals, then what was made is stopped, and the manager's answer waited for.
 * It says how many microseconds that took. With a COUNT of 0 one is made for each line that is read, and the line
 * is said again when that is done: what a launcher that is kept open is measured against. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dbus/connect.h"
#include "dbus/manager.h"
#include "launcher/kernel/cgroup.h"
#include "units/compose.h"
#include "units/name.h"

#define PROGRAM "/bin/true"

typedef struct {
        sd_bus *bus;
        Spec *spec;
        char *owner;
        bool is_bare, is_counted;
        GHashTable *flights; /* by the unit's object path */
        unsigned begun, over;
} Floor;

typedef struct {
        Floor *floor;
        char *slice, *unit, *path;
        bool was_active;
        ManagerCall *start, *stop;
} Flight;

G_NORETURN static void give_up(const char *what, const char *why) {
        fprintf(stderr, "bench-floor: %s: %s\n", what, why);
        exit(EXIT_FAILURE);
}

static void flight_free(gpointer data) {
        Flight *flight = data;

        manager_call_free(flight->start);
        manager_call_free(flight->stop);
        g_free(flight->slice);
        g_free(flight->unit);
        g_free(flight->path);
        g_free(flight);
}

static void on_start(sd_bus_message *reply, const GError *error, void *userdata) {
        if (error)
                give_up("StartTransientUnit", error->message);
}

static void be_over(Flight *flight) {
        flight->floor->over++;
        g_hash_table_remove(flight->floor->flights, flight->path);
}

static void on_stop(sd_bus_message *reply, const GError *error, void *userdata) {
        Flight *flight = userdata;

        if (error)
                give_up("StopUnit", error->message);
        be_over(flight);
}

static ManagerCaller caller(Flight *flight, ManagerReply handler) {
        return (ManagerCaller){ .bus = flight->floor->bus, .handler = handler, .userdata = flight };
}

/* Without a slice that names it the unit goes by itself. */
static void land(Flight *flight) {
        if (!flight->slice)
                be_over(flight);
        else if (!flight->stop)
                flight->stop = manager_stop_unit(caller(flight, on_stop), flight->slice);
}

/* Without a slice of its own the unit carries the limits; what it is described as stays the unit's, and it does not keep itself. */
static void move_to_unit(const PropertyList *slice, PropertyList *unit) {
        for (size_t i = 0; i < property_list_length(slice); i++) {
                const Property *property = property_list_at(slice, i);

                if (strcmp(property->name, "Description") != 0 &&
                    strcmp(property->name, "Before") != 0)
                        property_list_set(unit, property->name, property->value);
        }
        property_list_set_string(unit, "Slice", NAME_ROOT_SLICE);
}

static PropertyList *compose_program(const Floor *floor, PropertyList **ret_slice) {
        ComposeContext context = { .gate_path = PROGRAM,
                                   .owner = floor->owner,
                                   .counts_network = floor->is_counted,
                                   .without_accounting = cgroup_is_version_1("memory"),
                                   .gate_fd = -1 };
        PropertyList *unit = NULL;

        compose(floor->spec, &context, ret_slice, &unit);
        property_list_remove(unit, "StandardInputFileDescriptor");
        g_array_set_size(unit->fds, 0);
        if (floor->is_bare)
                move_to_unit(*ret_slice, unit);
        return unit;
}

static void begin(Floor *floor) {
        Flight *flight = g_new0(Flight, 1);
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        g_free(floor->spec->id);
        floor->spec->id = g_strdup_printf("floor%d_%u", (int)getpid(), floor->begun++);
        flight->floor = floor;
        flight->slice = floor->is_bare ? NULL : name_slice(NULL, floor->spec->id);
        flight->unit = name_service(floor->spec->id);
        flight->path = manager_unit_path(flight->unit);
        g_hash_table_insert(floor->flights, flight->path, flight);
        unit = compose_program(floor, &slice);
        flight->start = manager_start_transient(caller(flight, on_start), flight->unit, unit,
                                                flight->slice, slice);
}

/* A new unit is "dead" as well. */
static bool has_ended(Flight *flight, const char *sub_state) {
        if (strcmp(sub_state, "failed") == 0)
                give_up(PROGRAM, "it failed");
        flight->was_active |= strcmp(sub_state, "running") == 0;
        return flight->was_active && strcmp(sub_state, "dead") == 0;
}

static int read_state(sd_bus_message *message, const char **ret_state) {
        const char *interface = NULL, *name = NULL;
        int r = sd_bus_message_read(message, "s", &interface);

        if (r < 0 || strcmp(interface, "org.freedesktop.systemd1.Unit") != 0)
                return r;
        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                r = sd_bus_message_read(message, "s", &name);
                if (r >= 0 && strcmp(name, "SubState") == 0)
                        return sd_bus_message_read(message, "v", "s", ret_state);
                if (r >= 0)
                        r = sd_bus_message_skip(message, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }
        return r;
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Floor *floor = userdata;
        const char *path = sd_bus_message_get_path(message), *state = NULL;
        Flight *flight = path ? g_hash_table_lookup(floor->flights, path) : NULL;

        if (flight &&
            sd_bus_message_is_signal(message, "org.freedesktop.DBus.Properties",
                                     "PropertiesChanged") > 0 &&
            read_state(message, &state) >= 0 && state && has_ended(flight, state))
                land(flight);
        return 0;
}

static void go_on(Floor *floor) {
        int r = sd_bus_process(floor->bus, NULL);

        if (r == 0)
                r = sd_bus_wait(floor->bus, UINT64_MAX);
        if (r < 0)
                give_up("the manager", g_strerror(-r));
}

static void fly(Floor *floor, unsigned count, unsigned depth) {
        while (floor->over < count) {
                while (floor->begun < count && floor->begun - floor->over < depth)
                        begin(floor);
                go_on(floor);
        }
}

static void measure(Floor *floor, unsigned count, unsigned depth) {
        gint64 began_usec = g_get_monotonic_time();

        fly(floor, count, depth);
        printf("%" G_GINT64_FORMAT "\n", g_get_monotonic_time() - began_usec);
}

static void serve(Floor *floor) {
        char line[16];

        while (fgets(line, sizeof line, stdin)) {
                fly(floor, floor->over + 1, 1);
                (void)fputs(line, stdout);
                (void)fflush(stdout);
        }
}

/* "PID:STARTTIME", as ours say it: a guard takes who is not there for a launcher that vanished. */
static char *read_owner(void) {
        g_autofree char *stat = NULL;
        g_auto(GStrv) fields = NULL;

        if (!g_file_get_contents("/proc/self/stat", &stat, NULL, NULL))
                give_up("/proc", "not to be read");
        fields = g_strsplit(strrchr(stat, ')') + 2, " ", -1);
        return g_strdup_printf("%d:%s", (int)getpid(), fields[19]);
}

static Spec *read_spec(char **limits) {
        static char *const command[] = { (char *)PROGRAM, NULL };
        Spec *spec = spec_new();

        spec->command = g_strdupv((char **)command);
        for (; *limits; limits++) {
                g_auto(GStrv) words = g_strsplit(*limits, "=", 2);
                g_autoptr(GError) error = NULL;
                Limit limit;

                if (!words[1] || !limit_from_key(words[0], &limit))
                        give_up(*limits, "no limit");
                if (!limit_set_parse(&spec->limits, limit, words[1], &error))
                        give_up(*limits, error->message);
        }
        limit_set_apply_defaults(&spec->limits);
        return spec;
}

int main(int argc, char *argv[]) {
        Floor floor = { 0 };
        g_autoptr(GError) error = NULL;
        unsigned count, depth;

        if (argc < 5)
                give_up("usage", "SOCKET COUNT DEPTH slice|counted|bare [LIMIT=VALUE…]");
        count = (unsigned)strtoul(argv[2], NULL, 10);
        depth = (unsigned)strtoul(argv[3], NULL, 10);
        floor.is_bare = strcmp(argv[4], "bare") == 0;
        floor.is_counted = strcmp(argv[4], "counted") == 0;
        floor.spec = read_spec(argv + 5);
        floor.owner = read_owner();
        floor.flights = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, flight_free);
        if (!connect_direct(argv[1], &floor.bus, &error))
                give_up(argv[1], error->message);
        if (sd_bus_add_filter(floor.bus, NULL, on_message, &floor) < 0)
                give_up(argv[1], "no filter");
        while (sd_bus_is_ready(floor.bus) == 0)
                go_on(&floor);

        if (count > 0)
                measure(&floor, count, MAX(depth, 1));
        else
                serve(&floor);
        g_hash_table_unref(floor.flights);
        sd_bus_flush_close_unref(floor.bus);
        spec_free(floor.spec);
        g_free(floor.owner);
        return EXIT_SUCCESS;
}
