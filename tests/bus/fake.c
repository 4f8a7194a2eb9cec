/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The connection and the methods. Every message that goes out or comes in is counted in one place each, because the
 * connection can be made to end after any of them. */

#include "fake.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "fake-private.h"

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

static void free_connection(void *bus) {
        sd_bus_unref(bus);
}

Fake *fake_new(sd_event *event, const Program *program, const Fault *fault) {
        Fake *fake = g_new0(Fake, 1);

        fake->event = event;
        fake->program = program;
        fake->fault = fault;
        fake->acts = g_queue_new();
        fake->units = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                            (GDestroyNotify)fake_unit_free);
        fake->pools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        fake->order = g_ptr_array_new();
        fake->closed = g_ptr_array_new_with_free_func(free_connection);
        fake->log = g_string_new(NULL);
        fake->now_usec = 1000000;
        fake->drop_at = UINT_MAX;
        return fake;
}

void fake_free(Fake *fake) {
        if (!fake)
                return;
        fake_drop(fake, true);
        fake_life_forget(fake);
        g_queue_free(fake->acts);
        sd_event_source_disable_unref(fake->life);
        g_ptr_array_unref(fake->closed);
        g_hash_table_unref(fake->pools);
        g_ptr_array_unref(fake->order);
        g_hash_table_unref(fake->units);
        g_string_free(fake->log, TRUE);
        g_free(fake);
}

/* The connection */

void fake_drop(Fake *fake, bool is_forever) {
        fake->is_gone |= is_forever;
        if (!fake->server)
                return;

        /* Closed now, freed later: this may be one of its own callbacks. */
        sd_bus_flush(fake->server);
        sd_bus_close(fake->server);
        g_ptr_array_add(fake->closed, g_steal_pointer(&fake->server));
        g_string_append(fake->log, "< end of connection\n");
}

void fake_count(Fake *fake, const char *direction, const char *member, const char *detail) {
        g_string_append_printf(fake->log, "%s %s %s\n", direction, member, detail);
        if (++fake->n_messages == fake->drop_at)
                fake_drop(fake, true);
}

void fake_send(Fake *fake, sd_bus_message *message, const char *member, const char *detail) {
        if (!fake->server)
                return;

        int r = sd_bus_send(fake->server, message, NULL);

        g_assert(r >= 0);
        fake_count(fake, "<", member, detail);
}

void fake_drop_after(Fake *fake, unsigned n_messages) {
        fake->drop_at = n_messages;
        if (n_messages == 0)
                fake_drop(fake, true);
}

void fake_settle(Fake *fake) {
        fake_life_all_now(fake);
}

unsigned fake_count_messages(const Fake *fake) {
        return fake->n_messages;
}

char *fake_log_text(const Fake *fake) {
        return g_strdup(fake->log->str);
}

const FakeTold *fake_told(const Fake *fake) {
        return &fake->told;
}

static int open_server(Fake *fake, int fd) {
        sd_id128_t id = { .bytes = { 1 } };
        int r = sd_bus_new(&fake->server);

        if (r >= 0)
                r = sd_bus_set_fd(fake->server, fd, fd);
        if (r >= 0)
                r = sd_bus_set_server(fake->server, 1, id);
        if (r >= 0)
                r = sd_bus_negotiate_fds(fake->server, 1);
        if (r >= 0)
                r = sd_bus_set_sender(fake->server, "org.freedesktop.systemd1");
        if (r >= 0)
                r = sd_bus_add_filter(fake->server, NULL, fake_on_message, fake);
        if (r >= 0)
                r = sd_bus_start(fake->server);
        return r < 0 ? r : sd_bus_attach_event(fake->server, fake->event, SD_EVENT_PRIORITY_NORMAL);
}

static int open_client(Fake *fake, int fd, uint64_t deadline_usec, sd_bus **ret_bus) {
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd);
        if (r >= 0)
                r = sd_bus_negotiate_fds(bus, 1);
        if (r >= 0 && deadline_usec > 0)
                r = sd_bus_set_method_call_timeout(bus, deadline_usec);
        if (r >= 0)
                r = sd_bus_set_connected_signal(bus, 1);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_attach_event(bus, fake->event, SD_EVENT_PRIORITY_NORMAL);
        *ret_bus = bus;
        return r;
}

sd_bus *fake_connect(Fake *fake, uint64_t deadline_usec) {
        sd_bus *client = NULL;
        int fds[2];
        int r;

        if (fake->is_gone)
                return NULL;
        fake_drop(fake, false);
        r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds);
        g_assert(r >= 0);
        r = open_server(fake, fds[0]);
        g_assert(r >= 0);
        r = open_client(fake, fds[1], deadline_usec, &client);
        g_assert(r >= 0);
        fake_life_resume(fake);
        return client;
}

/* Units */

FakeUnit *fake_find(const Fake *fake, const char *name) {
        return g_hash_table_lookup(fake->units, name);
}

FakeUnit *fake_add(Fake *fake, const char *name) {
        FakeUnit *unit = fake_unit_new(name);

        g_hash_table_insert(fake->units, unit->name, unit);
        g_ptr_array_add(fake->order, unit);
        return unit;
}

void fake_remove(Fake *fake, FakeUnit *unit) {
        fake_signal(fake, "UnitRemoved", "so", unit->name, unit->path);
        g_ptr_array_remove(fake->order, unit);
        g_hash_table_remove(fake->units, unit->name);
}

bool fake_has_unit(const Fake *fake, const char *unit) {
        return fake_find(fake, unit) != NULL;
}

GVariant *fake_property_value(const Fake *fake, const char *unit, const char *property) {
        FakeUnit *found = fake_find(fake, unit);

        return found ? g_hash_table_lookup(found->asked, property) : NULL;
}

char *fake_property(const Fake *fake, const char *unit, const char *property) {
        GVariant *value = fake_property_value(fake, unit, property);

        return value ? g_variant_print(value, FALSE) : NULL;
}

int fake_property_fd(const Fake *fake, const char *unit, const char *property) {
        GVariant *value = fake_property_value(fake, unit, property);

        if (!value || !g_variant_is_of_type(value, G_VARIANT_TYPE_HANDLE))
                return -1;
        return g_array_index(fake_find(fake, unit)->fds, int, g_variant_get_handle(value));
}

void fake_count_network(Fake *fake, const char *unit, uint64_t in_bytes, uint64_t out_bytes) {
        FakeUnit *found = fake_find(fake, unit);

        found->net_in_bytes = in_bytes;
        found->net_out_bytes = out_bytes;
}

/* Signals */

static void note_told(Fake *fake, const FakeUnit *unit, const char *interface) {
        if (strcmp(interface, UNIT_INTERFACE) == 0 && !fake_unit_is_slice(unit))
                fake->told.active = unit->active;
        if (strcmp(interface, SERVICE_INTERFACE) != 0)
                return;
        fake->told.exec_main_code = unit->exec_main_code;
        fake->told.exec_main_status = unit->exec_main_status;
}

static sd_bus_message *new_signal(Fake *fake, const char *path, const char *interface,
                                  const char *member) {
        sd_bus_message *message = NULL;
        int r = sd_bus_message_new_signal(fake->server, &message, path, interface, member);

        g_assert(r >= 0);
        return message;
}

static void send_foreign(Fake *fake, const char *member) {
        static const char *const names[] = { "cordon-xx.service", "cordon.service", "x.service",
                                             "cordon-x.scope" };
        const char *name = names[fake->n_messages % G_N_ELEMENTS(names)];
        g_autoptr(sd_bus_message)
                message = new_signal(fake, FAKE_MANAGER_PATH, FAKE_MANAGER_INTERFACE, member);
        int r;

        if (strcmp(member, "JobRemoved") == 0)
                r = sd_bus_message_append(message, "uoss", 99, "/org/freedesktop/systemd1/job/99",
                                          name, "dependency");
        else
                r = sd_bus_message_append(message, "so", name,
                                          "/org/freedesktop/systemd1/unit/other");
        g_assert(r >= 0);
        fake_send(fake, message, member, name);
}

static void send_odd(Fake *fake, const char *member) {
        g_autoptr(sd_bus_message)
                message = new_signal(fake, FAKE_MANAGER_PATH, FAKE_MANAGER_INTERFACE, member);
        int r = sd_bus_message_append(message, "d", 1.5);

        g_assert(r >= 0);
        fake_send(fake, message, member, "(odd)");
}

/* The name of the unit, and the result of a job: what a reader of the log wants. */
static char *detail_of(const char *types, va_list arguments) {
        g_autoptr(GString) detail = g_string_new(NULL);
        va_list copy;

        va_copy(copy, arguments);
        for (const char *type = types; *type; type++)
                if (*type == 'u' || *type == 'b')
                        (void)va_arg(copy, uint32_t);
                else if (*type == 's')
                        g_string_append_printf(detail, "%s%s", detail->len ? " " : "",
                                               va_arg(copy, const char *));
                else
                        (void)va_arg(copy, const char *);
        va_end(copy);
        return g_strdup(detail->str);
}

void fake_signal(Fake *fake, const char *member, const char *types, ...) {
        va_list arguments;

        if (fake->server && fake->fault->has_foreign)
                send_foreign(fake, "JobRemoved");
        if (fake->server && fake->fault->has_foreign)
                send_foreign(fake, "UnitRemoved");
        if (fake->server && fake->fault->has_odd_types)
                send_odd(fake, member);
        for (int i = 0; i < 1 + fake->fault->is_twice && fake->server; i++) {
                g_autoptr(sd_bus_message) message = new_signal(fake, FAKE_MANAGER_PATH,
                                                               FAKE_MANAGER_INTERFACE, member);

                va_start(arguments, types);
                g_autofree char *detail = detail_of(types, arguments);
                int r = sd_bus_message_appendv(message, types, arguments);
                va_end(arguments);
                g_assert(r >= 0);
                if (strcmp(member, "JobRemoved") == 0 && !fake->told.job_result &&
                    strstr(detail, ".service "))
                        fake->told.job_result = g_intern_string(strrchr(detail, ' ') + 1);
                fake_send(fake, message, member, detail);
        }
}

static void send_properties(Fake *fake, const FakeUnit *unit, const char *interface,
                            bool has_odd_types) {
        g_autoptr(sd_bus_message)
                message = new_signal(fake, unit->path, PROPERTIES_INTERFACE, "PropertiesChanged");
        int r = sd_bus_message_append(message, "s", interface);

        if (r >= 0)
                r = fake_unit_append(unit, message, interface, true, has_odd_types);
        if (r >= 0)
                r = sd_bus_message_append(message, "as", 1, "Conditions");
        g_assert(r >= 0);
        if (!has_odd_types)
                note_told(fake, unit, interface);
        fake_send(fake, message, "PropertiesChanged", unit->name);
}

/* Not even a{sv}. */
static void send_malformed(Fake *fake, const FakeUnit *unit, const char *interface) {
        g_autoptr(sd_bus_message)
                message = new_signal(fake, unit->path, PROPERTIES_INTERFACE, "PropertiesChanged");
        int r = sd_bus_message_append(message, "sa{ss}as", interface, 1, "ExecMainCode", "2", 0);

        g_assert(r >= 0);
        fake_send(fake, message, "PropertiesChanged", "(odd)");
}

static void send_foreign_properties(Fake *fake) {
        g_autoptr(sd_bus_message)
                message = new_signal(fake, "/org/freedesktop/systemd1/unit/cordon_2dxx_2eservice",
                                     PROPERTIES_INTERFACE, "PropertiesChanged");
        int r = sd_bus_message_append(message, "sa{sv}as", SERVICE_INTERFACE, 2, "ExecMainCode",
                                      "i", 1, "ExecMainStatus", "i", 77, 0);

        g_assert(r >= 0);
        fake_send(fake, message, "PropertiesChanged", "cordon-xx.service");
}

void fake_tell(Fake *fake, FakeUnit *unit, const char *interface) {
        if (fake->server && fake->fault->has_foreign)
                send_foreign_properties(fake);
        if (fake->server && fake->fault->has_odd_types) {
                send_properties(fake, unit, interface, true);
                send_malformed(fake, unit, interface);
        }
        for (int i = 0; i < 1 + fake->fault->is_twice && fake->server; i++)
                send_properties(fake, unit, interface, false);
}
