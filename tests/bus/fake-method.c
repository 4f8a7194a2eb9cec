/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The methods of the manager, each answered as systemd 252 answers it, its habits included: stopping a slice that does
 * not exist makes one, and reading a unit that does not exist tells of its coming and going. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "fake-private.h"
#include "reread.h"

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define NO_SUCH_UNIT         "org.freedesktop.systemd1.NoSuchUnit"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

/* Answers */

static void send_reply(Fake *fake, sd_bus_message *call, sd_bus_message *reply,
                       const char *detail) {
        const char *member = sd_bus_message_get_member(call);

        if (g_strcmp0(fake->fault->silent_method, member) == 0)
                return;
        if (fake->server && strcmp(member, "StartTransientUnit") == 0)
                fake->told.is_start_answered = true;
        fake_send(fake, reply, member, detail);
}

static void answer(Fake *fake, sd_bus_message *call, const char *types, ...) {
        g_autoptr(sd_bus_message) reply = NULL;
        va_list arguments;
        int r = sd_bus_message_new_method_return(call, &reply);

        va_start(arguments, types);
        if (r >= 0 && types)
                r = sd_bus_message_appendv(reply, types, arguments);
        va_end(arguments);
        g_assert(r >= 0);
        send_reply(fake, call, reply, "answered");
}

static void answer_error(Fake *fake, sd_bus_message *call, const char *name, const char *words) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r = sd_bus_message_new_method_errorf(call, &reply, name, "%s", words);

        g_assert(r >= 0);
        send_reply(fake, call, reply, name);
}

static void answer_no_unit(Fake *fake, sd_bus_message *call, const char *unit) {
        g_autofree char *words = g_strdup_printf("Unit %s not loaded.", unit);

        answer_error(fake, call, NO_SUCH_UNIT, words);
}

static void answer_job(Fake *fake, sd_bus_message *call, const FakeUnit *unit) {
        char path[64];

        fake_unit_job_path(unit, path);
        answer(fake, call, "o", path);
}

/* StartTransientUnit */

static int read_properties(sd_bus_message *call, FakeUnit *unit) {
        int r = sd_bus_message_enter_container(call, 'a', "(sv)");

        while (r >= 0 && (r = sd_bus_message_enter_container(call, 'r', "sv")) > 0) {
                const char *name = NULL;

                r = sd_bus_message_read(call, "s", &name);
                if (r < 0)
                        return r;
                g_autoptr(GVariant) boxed = g_variant_ref_sink(reread_value(call, unit->fds));
                g_hash_table_insert(unit->asked, g_strdup(name), g_variant_get_variant(boxed));
                r = sd_bus_message_exit_container(call);
        }
        return r < 0 ? r : sd_bus_message_exit_container(call);
}

static FakeUnit *read_unit(Fake *fake, sd_bus_message *call, const char *name) {
        FakeUnit *unit = fake_add(fake, name);

        unit->fds = reread_fds_new();
        int r = read_properties(call, unit);

        g_assert(r >= 0);
        return unit;
}

static void read_slice(Fake *fake, sd_bus_message *call, FakeUnit *unit) {
        const char *name = NULL;
        int r = sd_bus_message_enter_container(call, 'a', "(sa(sv))");

        if (r >= 0)
                r = sd_bus_message_enter_container(call, 'r', "sa(sv)");
        if (r > 0) {
                r = sd_bus_message_read(call, "s", &name);
                g_assert(r >= 0);
                unit->slice = g_strdup(name);
                read_unit(fake, call, name);
        }
        g_assert(r >= 0);
}

static void answer_exists(Fake *fake, sd_bus_message *call, const char *name) {
        g_autofree char *words = g_strdup_printf(
                "Unit %s was already loaded or has a fragment file.", name);

        answer_error(fake, call, "org.freedesktop.systemd1.UnitExists", words);
}

/* Those of pools are there by themselves, and go so: all that counts is that they can be started once. */
static void start_pool(Fake *fake, sd_bus_message *call, const char *name) {
        FakeUnit *asked = fake_unit_new(name);
        int r;

        asked->fds = reread_fds_new();
        r = read_properties(call, asked);
        g_assert(r >= 0);

        GVariant *description = g_hash_table_lookup(asked->asked, "Description");

        g_assert(description);
        g_hash_table_insert(fake->pools, g_strdup(name), g_variant_dup_string(description, NULL));
        fake_unit_free(asked);
        answer(fake, call, "o", "/org/freedesktop/systemd1/job/2");
}

static void do_start(Fake *fake, sd_bus_message *call) {
        const char *name = NULL, *mode = NULL;
        int r = sd_bus_message_read(call, "ss", &name, &mode);

        g_assert(r >= 0);
        if (fake_find(fake, name) || g_hash_table_contains(fake->pools, name)) {
                answer_exists(fake, call, name);
                return;
        }
        if (g_str_has_prefix(name, "cordon-pool") && g_str_has_suffix(name, ".slice")) {
                start_pool(fake, call, name);
                return;
        }

        FakeUnit *unit = read_unit(fake, call, name);

        read_slice(fake, call, unit);
        fake_signal(fake, "UnitNew", "so", unit->name, unit->path);
        fake_life_start(fake, unit);
        if (fake->fault->is_early)
                fake_life_all_now(fake);
        answer(fake, call, "o", "/org/freedesktop/systemd1/job/1");
}

/* Ending */

static void do_stop(Fake *fake, sd_bus_message *call) {
        const char *name = NULL;
        int r = sd_bus_message_read(call, "ss", &name, NULL);
        FakeUnit *unit = NULL;

        g_assert(r >= 0);
        unit = fake_find(fake, name);
        if (!unit && !g_str_has_suffix(name, ".slice")) {
                answer_no_unit(fake, call, name);
                return;
        }
        if (!unit) {
                unit = fake_add(fake, name);
                fake_signal(fake, "UnitNew", "so", unit->name, unit->path);
        }
        fake_life_stop(fake, unit);
        answer_job(fake, call, unit);
}

static void do_kill(Fake *fake, sd_bus_message *call) {
        const char *name = NULL, *who = NULL;
        int32_t signal = 0;
        int r = sd_bus_message_read(call, "ssi", &name, &who, &signal);
        FakeUnit *unit = NULL;

        g_assert(r >= 0);
        unit = fake_find(fake, name);
        if (!unit) {
                answer_no_unit(fake, call, name);
                return;
        }
        fake_life_signal(fake, unit, signal);
        answer(fake, call, NULL);
}

static void do_reset(Fake *fake, sd_bus_message *call) {
        const char *name = NULL;
        int r = sd_bus_message_read(call, "s", &name);
        FakeUnit *unit = NULL;

        g_assert(r >= 0);
        unit = fake_find(fake, name);
        if (!unit) {
                answer_no_unit(fake, call, name);
                return;
        }
        fake_life_reset(fake, unit);
        answer(fake, call, NULL);
}

static void do_nothing(Fake *fake, sd_bus_message *call) {
        answer(fake, call, NULL);
}

/* Looking */

static int append_listed(sd_bus_message *reply, const FakeUnit *unit) {
        char job_path[64];

        fake_unit_job_path(unit, job_path);
        return sd_bus_message_append(reply, "(ssssssouso)", unit->name, "a description", unit->load,
                                     unit->active, unit->sub, "", unit->path, unit->job,
                                     unit->job ? "start" : "", job_path);
}

static bool is_matched(const char *name, char **patterns) {
        for (char **pattern = patterns; pattern && *pattern; pattern++)
                if (g_pattern_match_simple(*pattern, name))
                        return true;
        return !patterns || !*patterns;
}

static void do_list(Fake *fake, sd_bus_message *call) {
        g_autoptr(sd_bus_message) reply = NULL;
        char **states = NULL,
             **patterns = NULL; /* made by sd-bus with malloc(), as g_strfreev() wants it */
        int r = sd_bus_message_read_strv(call, &states);

        if (r >= 0)
                r = sd_bus_message_read_strv(call, &patterns);
        if (r >= 0)
                r = sd_bus_message_new_method_return(call, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
        for (guint i = 0; r >= 0 && i < fake->order->len; i++) {
                const FakeUnit *unit = g_ptr_array_index(fake->order, i);

                if (is_matched(unit->name, patterns))
                        r = append_listed(reply, unit);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        g_assert(r >= 0);
        send_reply(fake, call, reply, "answered");
        g_strfreev(states);
        g_strfreev(patterns);
}

static FakeUnit *find_path(Fake *fake, const char *path) {
        for (guint i = 0; i < fake->order->len; i++) {
                FakeUnit *unit = g_ptr_array_index(fake->order, i);

                if (strcmp(unit->path, path) == 0)
                        return unit;
        }
        return NULL;
}

static void answer_properties(Fake *fake, sd_bus_message *call, const FakeUnit *unit,
                              const char *interface) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r = sd_bus_message_new_method_return(call, &reply);

        if (r >= 0)
                r = fake_unit_append(unit, reply, interface, false, false);
        g_assert(r >= 0);
        send_reply(fake, call, reply, unit->load);
}

/* A unit that is not there has the defaults of all units, and it comes and goes to tell them. */
static FakeUnit *new_stranger(const char *path) {
        FakeUnit *unit = NULL;
        char *name = NULL;
        int r = sd_bus_path_decode(path, FAKE_MANAGER_PATH "/unit", &name);

        g_assert(r > 0);
        unit = fake_unit_new(name);
        unit->load = "not-found";
        free(name);
        return unit;
}

static void pass_by(Fake *fake, FakeUnit *stranger) {
        fake_signal(fake, "UnitNew", "so", stranger->name, stranger->path);
        fake_signal(fake, "UnitRemoved", "so", stranger->name, stranger->path);
        fake_unit_free(stranger);
}

static void answer_not_found(Fake *fake, sd_bus_message *call, const char *path,
                             const char *interface) {
        FakeUnit *unit = new_stranger(path);

        answer_properties(fake, call, unit, interface);
        pass_by(fake, unit);
}

static void do_get_all(Fake *fake, sd_bus_message *call) {
        const char *path = sd_bus_message_get_path(call), *interface = NULL;
        int r = sd_bus_message_read(call, "s", &interface);
        const FakeUnit *unit = find_path(fake, path);

        g_assert(r >= 0);
        if (unit)
                answer_properties(fake, call, unit, interface);
        else
                answer_not_found(fake, call, path, interface);
}

static bool is_version(sd_bus_message *call, const char *interface, const char *name) {
        return strcmp(sd_bus_message_get_path(call), FAKE_MANAGER_PATH) == 0 &&
               strcmp(interface, FAKE_MANAGER_INTERFACE) == 0 && strcmp(name, "Version") == 0;
}

static void answer_description(Fake *fake, sd_bus_message *call) {
        char *name = NULL; /* sd-bus allocates it */
        int r = sd_bus_path_decode(sd_bus_message_get_path(call), FAKE_MANAGER_PATH "/unit", &name);

        g_assert(r > 0);
        answer(fake, call, "v", "s",
               (const char *)g_hash_table_lookup(fake->pools, name) ?: "Slice /made/up");
        free(name);
}

static void answer_property(Fake *fake, sd_bus_message *call, const FakeUnit *unit,
                            const char *interface, const char *name) {
        g_autoptr(sd_bus_message) reply = NULL;
        int r = sd_bus_message_new_method_return(call, &reply);

        g_assert(r >= 0);
        if (fake_unit_append_one(unit, reply, interface, name) < 0)
                answer_error(fake, call, "org.freedesktop.DBus.Error.UnknownProperty",
                             "Unknown property or interface.");
        else
                send_reply(fake, call, reply, name);
}

static void do_get(Fake *fake, sd_bus_message *call) {
        const char *path = sd_bus_message_get_path(call), *interface = NULL, *name = NULL;
        int r = sd_bus_message_read(call, "ss", &interface, &name);
        FakeUnit *unit = find_path(fake, path), *stranger = NULL;

        g_assert(r >= 0);
        if (is_version(call, interface, name)) {
                answer(fake, call, "v", "s", FAKE_VERSION);
                return;
        }
        if (strcmp(name, "Description") == 0) {
                answer_description(fake, call);
                return;
        }
        if (!unit)
                stranger = new_stranger(path);
        answer_property(fake, call, unit ?: stranger, interface, name);
        if (stranger)
                pass_by(fake, stranger);
}

/* Dispatch */

static const struct {
        const char *interface;
        const char *member;
        void (*perform)(Fake *fake, sd_bus_message *call);
} methods[] = {
        { FAKE_MANAGER_INTERFACE, "StartTransientUnit", do_start },
        { FAKE_MANAGER_INTERFACE, "StopUnit", do_stop },
        { FAKE_MANAGER_INTERFACE, "KillUnit", do_kill },
        { FAKE_MANAGER_INTERFACE, "ResetFailedUnit", do_reset },
        { FAKE_MANAGER_INTERFACE, "ListUnitsByPatterns", do_list },
        { FAKE_MANAGER_INTERFACE, "Subscribe", do_nothing },
        { PROPERTIES_INTERFACE, "GetAll", do_get_all },
        { PROPERTIES_INTERFACE, "Get", do_get },
};

/* A kill that finds nobody to answer for has killed all the same: what is not there any more does not run. */
static void refuse(Fake *fake, sd_bus_message *call) {
        const char *name = NULL;
        int32_t signal = 0;

        if (sd_bus_message_is_method_call(call, FAKE_MANAGER_INTERFACE, "KillUnit") > 0 &&
            sd_bus_message_read(call, "ssi", &name, NULL, &signal) >= 0 && fake_find(fake, name))
                fake_life_signal(fake, fake_find(fake, name), signal);
        fake->n_refused++;
        answer_error(fake, call, fake->fault->error_name, fake->fault->error_words);
}

static const char *first_string(sd_bus_message *call) {
        const char *text = NULL;
        char type = 0;

        if (sd_bus_message_peek_type(call, &type, NULL) > 0 && type == 's' &&
            sd_bus_message_read(call, "s", &text) >= 0)
                sd_bus_message_rewind(call, true);
        return text ?: "";
}

int fake_on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Fake *fake = userdata;
        const char *member = sd_bus_message_get_member(message);

        for (size_t i = 0; i < G_N_ELEMENTS(methods); i++) {
                if (sd_bus_message_is_method_call(message, methods[i].interface,
                                                  methods[i].member) <= 0)
                        continue;
                fake_count(fake, ">", member, first_string(message));
                if (!fake->server)
                        return 1;
                if (g_strcmp0(fake->fault->refused_method, member) == 0 &&
                    (fake->fault->refusals == 0 || fake->n_refused < fake->fault->refusals))
                        refuse(fake, message);
                else
                        methods[i].perform(fake, message);
                return 1;
        }
        return 0;
}
