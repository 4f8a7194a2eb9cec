/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A list of properties goes over the wire and comes out the same: one value of every type, the nested ones that systemd
 * wants, and random ones. The way back (reread.c) shares nothing with the way there. */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <tap.h>
#include <unistd.h>

#include "dbus/append.h"
#include "dbus/error.h"
#include "talk.h"
#include "units/property.h"

#define ROUNDS 300
#define VALUES 8

static Talk *send_list(const PropertyList *list, const PropertyList *slice) {
        Talk *talk = talk_new(&faults[FAULT_NONE], 0);

        talk_await(talk, manager_start_transient(talk_caller(talk), "t.service", list,
                                                 slice ? "t.slice" : NULL, slice));
        return talk;
}

/* Every type, by its text. The last column is for humans. */
static const struct {
        const char *text;
        const char *what;
} values[] = {
        { "true", "b" },
        { "false", "b, false" },
        { "byte 0xff", "y" },
        { "int16 -32768", "n" },
        { "uint16 65535", "q" },
        { "int32 -2147483648", "i" },
        { "uint32 4294967295", "u" },
        { "int64 -9223372036854775808", "x" },
        { "uint64 18446744073709551615", "t, infinity" },
        { "0.1", "d" },
        { "-1e308", "d, large" },
        { "''", "s, empty" },
        { "'grüße \\t \\\" \\\\ %s'", "s, more than letters" },
        { "objectpath '/a/b_1'", "o" },
        { "signature 'a(sasb)'", "g" },
        { "<'boxed'>", "v" },
        { "<<uint64 7>>", "v in v" },
        { "@as []", "as, empty" },
        { "['a', '', 'b']", "as" },
        { "b'bytes'", "ay" },
        { "@ay []", "ay, empty" },
        { "@a(sasb) [('/bin/sh', ['sh', '-c', 'exit 3'], false), ('/x', [], true)]",
          "a(sasb), ExecStart" },
        { "@a(sasb) []", "a(sasb), empty" },
        { "@a(iayu) [(2, [0x7f, 0x00, 0x00, 0x01], 32), (10, [], 0)]", "a(iayu), IPAddressDeny" },
        { "(false, ['AF_UNIX', 'AF_INET'])", "(bas), RestrictAddressFamilies" },
        { "@(bas) (true, [])", "(bas), empty" },
        { "{'a': <1>, 'b': <['x']>}", "a{sv}" },
        { "@a{sv} {}", "a{sv}, empty" },
        { "{uint32 1: 'one', 2: 'two'}", "a{us}" },
        { "(byte 1, uint64 2, byte 3, 4.0, byte 5, 'x')", "alignment of every kind" },
        { "[[(byte 1, [true])], []]", "aa(yab)" },
};

static void test_value(const char *text, const char *what) {
        g_autoptr(PropertyList) list = property_list_new();
        g_autoptr(GError) error = NULL;
        GVariant *value = g_variant_parse(NULL, text, NULL, NULL, &error);

        g_assert_no_error(error);
        property_list_set(list, "Before", g_variant_new_byte(1));
        property_list_set(list, "Value", value);
        property_list_set(list, "After", g_variant_new_string("after"));

        g_autoptr(Talk) talk = send_list(list, NULL);
        g_autofree char *want = g_variant_print(property_list_find(list, "Value")->value, TRUE);
        GVariant *came = fake_property_value(talk->fake, "t.service", "Value");
        g_autofree char *got = came ? g_variant_print(came, TRUE) : NULL;
        g_autofree char *after = fake_property(talk->fake, "t.service", "After");

        is(got, want, "%s arrives", what);
        is(after, "'after'", "… and what follows it");
}

static void test_both_lists(void) {
        g_autoptr(PropertyList) unit = property_list_new(), slice = property_list_new(),
                                empty = property_list_new();

        property_list_set_string(unit, "Type", "exec");
        property_list_set_uint64(slice, "MemoryMax", 268435456);

        g_autoptr(Talk) talk = send_list(unit, slice);
        g_autofree char *type = fake_property(talk->fake, "t.service", "Type");
        g_autofree char *memory = fake_property(talk->fake, "t.slice", "MemoryMax");

        is(type, "'exec'", "the unit's list goes to the unit");
        is(memory, "268435456", "the slice's list goes to the slice");
        ok(!fake_property_value(talk->fake, "t.service", "MemoryMax"), "… and not to the unit");

        g_autoptr(Talk) second = send_list(empty, empty);

        ok(!second->error && fake_has_unit(second->fake, "t.slice"), "empty lists are lists");
}

static bool is_same_file(int a, int b) {
        struct stat one, two;

        return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_dev == two.st_dev &&
               one.st_ino == two.st_ino;
}

static void test_fds(void) {
        g_autoptr(PropertyList) list = property_list_new();
        int pipes[2];
        int r = pipe2(pipes, O_CLOEXEC);

        g_assert(r == 0);
        property_list_set_fd(list, "StandardInputFileDescriptor", STDIN_FILENO);
        property_list_set_fd(list, "StandardOutputFileDescriptor", pipes[1]);

        Talk *talk = send_list(list, NULL);

        ok(is_same_file(fake_property_fd(talk->fake, "t.service", "StandardInputFileDescriptor"),
                        STDIN_FILENO),
           "the first descriptor arrives under its name");
        ok(is_same_file(fake_property_fd(talk->fake, "t.service", "StandardOutputFileDescriptor"),
                        pipes[1]),
           "… and the second under its own");
        talk_free(talk);
        close(pipes[1]);
        char byte;
        cmp_ok(read(pipes[0], &byte, 1), "==", 0, "the message keeps no copy of a descriptor");
        close(pipes[0]);
}

static void test_refused(const char *what, GVariant *value, const char *words) {
        g_autoptr(PropertyList) list = property_list_new();

        property_list_set(list, "Value", value);

        g_autoptr(Talk) talk = send_list(list, NULL);
        g_autofree char *log = fake_log_text(talk->fake);

        ok(g_error_matches(talk->error, DBUS_ERROR, DBUS_ERROR_FAILED), "%s is refused", what);
        is(talk->error ? talk->error->message : NULL, words, "… in these words");
        is(log, "", "… before anything is sent");
}

/* Random values */

static GVariant *random_value(GRand *random, int depth);

static GVariant *random_basic(GRand *random) {
        static const char *const strings[] = { "", "a", "two words", "ä€𝄞", "/" };
        static const char *const signatures[] = { "", "a{sv}", "(yyy)", "s" };
        guint64 bits = (guint64)g_rand_int(random) << 32 | g_rand_int(random);

        switch (g_rand_int_range(random, 0, 12)) {
        case 0:
                return g_variant_new_boolean(bits & 1);
        case 1:
                return g_variant_new_byte((guint8)bits);
        case 2:
                return g_variant_new_int16((gint16)bits);
        case 3:
                return g_variant_new_uint16((guint16)bits);
        case 4:
                return g_variant_new_int32((gint32)bits);
        case 5:
                return g_variant_new_uint32((guint32)bits);
        case 6:
                return g_variant_new_int64((gint64)bits);
        case 7:
                return g_variant_new_uint64(bits);
        case 8:
                return g_variant_new_double(g_rand_double(random));
        case 9:
                return g_variant_new_object_path(bits & 1 ? "/" : "/org/x");
        case 10:
                return g_variant_new_signature(signatures[bits % G_N_ELEMENTS(signatures)]);
        default:
                return g_variant_new_string(strings[bits % G_N_ELEMENTS(strings)]);
        }
}

/* All children of an array are of one type: copies of one random child, or none. */
static GVariant *random_array(GRand *random, int depth, bool is_dict) {
        GVariant *child = random_value(random, depth - 1);
        GVariant *element = is_dict ? g_variant_new_dict_entry(random_basic(random), child) : child;
        g_autoptr(GVariant) kept = g_variant_ref_sink(element);
        GVariant *children[4] = { kept, kept, kept, kept };

        return g_variant_new_array(g_variant_get_type(kept), children,
                                   (gsize)g_rand_int_range(random, 0, 4));
}

static GVariant *random_tuple(GRand *random, int depth) {
        GVariant *children[4];
        int n = g_rand_int_range(random, 1, 5);

        for (int i = 0; i < n; i++)
                children[i] = random_value(random, depth - 1);
        return g_variant_new_tuple(children, (gsize)n);
}

static GVariant *random_value(GRand *random, int depth) {
        if (depth == 0)
                return random_basic(random);
        switch (g_rand_int_range(random, 0, 6)) {
        case 0:
                return random_array(random, depth, false);
        case 1:
                return random_array(random, depth, true);
        case 2:
                return random_tuple(random, depth);
        case 3:
                return g_variant_new_variant(random_value(random, depth - 1));
        default:
                return random_basic(random);
        }
}

/* Half of the values are taken apart from one block of bytes, as those are that came out of a file or another variant. */
static void fill(PropertyList *list, GRand *random) {
        for (int i = 0; i < VALUES; i++) {
                g_autofree char *name = g_strdup_printf("P%d", i);
                g_autoptr(GVariant) value = g_variant_ref_sink(random_value(random, 4));
                g_autoptr(GBytes) bytes = g_variant_get_data_as_bytes(value);

                property_list_set(list, name,
                                  i % 2 ? value
                                        : g_variant_new_from_bytes(g_variant_get_type(value), bytes,
                                                                   TRUE));
        }
}

static unsigned count_differences(Talk *talk, const PropertyList *list) {
        unsigned differences = 0;

        for (size_t i = 0; i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);
                GVariant *came = fake_property_value(talk->fake, "t.service", property->name);
                g_autofree char *text = g_variant_print(property->value, TRUE);

                if (came && g_variant_equal(came, property->value))
                        continue;
                diag("%s = %s did not arrive", property->name, text);
                differences++;
        }
        return differences;
}

static void test_random(guint32 seed) {
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        unsigned differences = 0;

        for (int i = 0; i < ROUNDS && differences == 0; i++) {
                g_autoptr(PropertyList) list = property_list_new();

                fill(list, random);
                g_autoptr(Talk) talk = send_list(list, NULL);

                if (talk->error)
                        diag("round %d: %s", i, talk->error->message);
                differences += count_differences(talk, list);
        }
        cmp_ok(differences, "==", 0, "random values arrive (seed %u)", seed);
}

int main(void) {
        plan(NO_PLAN);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                test_value(values[i].text, values[i].what);
        test_both_lists();
        test_fds();
        test_refused("a descriptor that the list does not have", g_variant_new_handle(0),
                     "starting the unit: Bad file descriptor");
        test_refused("… nor with a negative number", g_variant_new_handle(-1),
                     "starting the unit: Bad file descriptor");
        test_refused("a maybe, which D-Bus does not know,",
                     g_variant_new_maybe(NULL, g_variant_new_boolean(true)),
                     "starting the unit: Invalid argument");
        test_refused("an empty tuple, which D-Bus does not know,", g_variant_new_tuple(NULL, 0),
                     "starting the unit: Invalid argument");
        test_random(1);
        test_random(g_random_int());
        done_testing();
}
