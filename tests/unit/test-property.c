/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists of properties keep their order, let the last word win and print one line each. */

#include <stdint.h>
#include <tap.h>

#include "units/property.h"

static PropertyList *sample(void) {
        PropertyList *list = property_list_new();

        property_list_set_string(list, "Description", "a b");
        property_list_set_bool(list, "RemainAfterExit", true);
        property_list_set_uint64(list, "MemoryMax", 268435456);
        property_list_set_uint64(list, "TasksMax", UINT64_MAX);
        property_list_set_fd(list, "StandardInputFileDescriptor", 7);
        property_list_set(list, "KillSignal", g_variant_new_int32(9));
        return list;
}

static void test_text(void) {
        g_autoptr(PropertyList) list = sample();
        g_autofree char *text = property_list_to_text(list);

        is(text,
           "Description=a b\nRemainAfterExit=yes\nMemoryMax=268435456\nTasksMax=infinity\n"
           "StandardInputFileDescriptor=0\nKillSignal=9\n",
           "a property a line, in order");
}

static void test_types(void) {
        static const char *const types[] = { "s", "b", "t", "t", "h", "i" };
        g_autoptr(PropertyList) list = sample();

        for (size_t i = 0; i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);

                is(g_variant_get_type_string(property->value), types[i], "%s has its D-Bus type",
                   property->name);
                ok(!g_variant_is_floating(property->value), "%s is owned", property->name);
        }
        cmp_ok(list->fds->len, "==", 1, "a descriptor is in the list");
        cmp_ok(g_array_index(list->fds, int, 0), "==", 7, "it is the one that was given");
}

static void test_replace(void) {
        g_autoptr(PropertyList) list = sample();
        const Property *property;

        property_list_set_string(list, "RemainAfterExit", "maybe");
        cmp_ok(property_list_length(list), "==", 6, "setting again adds nothing");
        property = property_list_at(list, 1);
        is(property->name, "RemainAfterExit", "it stays in its place");
        is(g_variant_get_string(property->value, NULL), "maybe", "and the last word wins");
}

static void test_find_and_remove(void) {
        g_autoptr(PropertyList) list = sample();

        ok(property_list_find(list, "KillSignal"), "what is there is found");
        ok(!property_list_find(list, "KillSigna") && !property_list_find(list, ""),
           "nothing else is");
        ok(property_list_remove(list, "KillSignal"), "what is there is removed");
        ok(!property_list_remove(list, "KillSignal"), "once");
        ok(!property_list_find(list, "KillSignal"), "and not found any more");
        cmp_ok(property_list_length(list), "==", 5, "the others stay");
}

int main(void) {
        plan(NO_PLAN);
        test_text();
        test_types();
        test_replace();
        test_find_and_remove();
        property_list_free(NULL);
        done_testing();
}
