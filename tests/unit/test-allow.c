/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* --net allow=: what a list may hold and what is refused of it, what opens, what is tried, and the files of names. */

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <tap.h>

#include "units/allow.h"
#include "units/error.h"

#define ACCEPTED \
        "is not accepted; accepted: a host name, an address, ADDRESS/BITS with nothing behind the bits, @LIST; commas between"

/* clang-format off */
static const struct {
        const char *text, *entries; /* the list as it is understood; NULL: refused */
        const char *refused;        /* the text that is repeated */
} lists[] = {
        { "example.org", "host example.org", NULL },
        { "a,b.c,A-1_x.Y", "host a, host b.c, host a-1_x.y", NULL },
        { "a,A,a", "host a", NULL },
        { "10.0.0.1", "10.0.0.1", NULL },
        { "10.0.0.1/32", "10.0.0.1", NULL },
        { "10.0.0.0/8,::1,2001:db8::/32", "10.0.0.0/8, ::1, 2001:db8::/32", NULL },
        { "0.0.0.0/0,::/0", "0.0.0.0/0, ::/0", NULL },
        { "@registries,@a.b-c_1", "list registries, list a.b-c_1", NULL },
        { "3com", "host 3com", NULL },
        { "1.2.3.4a", "host 1.2.3.4a", NULL },
        { "", NULL, "allow=" },
        { "a,", NULL, "" },
        { ",a", NULL, "" },
        { "a, b", NULL, " b" },
        { "a b", NULL, "a b" },
        { "10.1.2.3/8", NULL, "10.1.2.3/8" },
        { "10.0.0.0/33", NULL, "10.0.0.0/33" },
        { "10.0.0.0/", NULL, "10.0.0.0/" },
        { "10.0.0.0/-1", NULL, "10.0.0.0/-1" },
        { "10.0.0.0/8/8", NULL, "10.0.0.0/8/8" },
        { "10.0.0.0/+8", NULL, "10.0.0.0/+8" },
        { "10.0.0", NULL, "10.0.0" },
        { "127.1", NULL, "127.1" },
        { "2130706433", NULL, "2130706433" },
        { "0x7f000001", NULL, "0x7f000001" },
        { "1.2.0X7f", NULL, "1.2.0X7f" },
        { "256.0.0.1", NULL, "256.0.0.1" },
        { "[::1]", NULL, "[::1]" },
        { "::1/129", NULL, "::1/129" },
        { "fe80::1%lo", NULL, "fe80::1%lo" },
        { "::ffff:10.0.0.1", NULL, "::ffff:10.0.0.1" },
        { "example.org:443", NULL, "example.org:443" },
        { "example.org.", NULL, "example.org." },
        { ".example.org", NULL, ".example.org" },
        { "*.example.org", NULL, "*.example.org" },
        { "-a.example", NULL, "-a.example" },
        { "a-.example", NULL, "a-.example" },
        { "b\xc3\xbc" "cher.example", NULL, "b\xc3\xbc" "cher.example" },
        { "any", "host any", NULL },
        { "@", NULL, "@" },
        { "@/etc/passwd", NULL, "@/etc/passwd" },
        { "@../x", NULL, "@../x" },
        { "a\nb", NULL, "a\\x0ab" },
};

static const struct {
        const char *text, *message; /* NULL: taken */
} files[] = {
        { "", NULL },
        { "# nothing\n\n   \t\n", NULL },
        { "a.example # why\n  10.0.0.0/8\t\r\n@other", NULL },
        { "a.example\nb example\n", "--net: /l, line 2: \"b example\" " ACCEPTED },
        { "a,b\n", "--net: /l, line 1: \"a,b\" " ACCEPTED },
        { "\n\nallow=a", "--net: /l, line 3: \"allow=a\" " ACCEPTED },
};

static const struct {
        const char *allowed, *closed4, *closed6;
} probes[] = {
        { "10.0.0.1", "127.0.0.1", "::1" },
        { "127.0.0.1,::1", "127.255.255.254", "2001:db8::1" },
        { "127.0.0.0/8", "192.0.2.1", "::1" },
        { "0.0.0.0/0", NULL, "::1" },
        { "::/0,0.0.0.0/1", "192.0.2.1", NULL },
        { "::/0,0.0.0.0/1,128.0.0.0/1", NULL, NULL },
};

static const struct {
        const char *url, *host;
} urls[] = {
        { "https://packages.example/simple/", "packages.example" },
        { "https://Packages.Example", "packages.example" },
        { "http://user:p%40ss@mirror.example:8080/x", "mirror.example" },
        { "https://a@b@mirror.example/", "mirror.example" },
        { "sparse+https://index.example/?x#y", "index.example" },
        { "git@git.example:company/index.git", "git.example" },
        { "ssh://git@git.example/index", "git.example" },
        { "https://[2001:db8::1]:443/x", "2001:db8::1" },
        { "https://10.0.0.1/", "10.0.0.1" },
        { "file:///srv/mirror", NULL },
        { "https://", NULL },
        { "https://*.example/", NULL },
        { "https://10.0.0.0/8", "10.0.0.0" },
        { "off", NULL },
        { "", NULL },
};
/* clang-format on */

static char *entries_text(const Allow *allow) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < allow->entries->len; i++) {
                const AllowEntry *entry = allow->entries->pdata[i];
                g_autofree char *network = entry->kind == ALLOW_NETWORK
                                                   ? allow_network_text(&entry->network)
                                                   : NULL;

                g_string_append_printf(text, "%s%s%s", i ? ", " : "",
                                       entry->kind == ALLOW_HOST   ? "host "
                                       : entry->kind == ALLOW_LIST ? "list "
                                                                   : "",
                                       network ?: entry->name);
        }
        return g_string_free(text, FALSE);
}

static void test_lists(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(Allow) allow = allow_parse(lists[i].text, &error);
                g_autoptr(Allow) copy = allow_copy(allow);
                g_autofree char *text = copy ? entries_text(copy) : NULL;
                g_autofree char *wanted = lists[i].refused
                                                  ? g_strdup_printf("--net: \"%s\" " ACCEPTED,
                                                                    lists[i].refused)
                                                  : NULL;

                is(text, lists[i].entries, "allow=%s is understood", lists[i].text);
                is(error ? error->message : NULL, wanted, "allow=%s: the words", lists[i].text);
        }
}

static void test_too_much(void) {
        g_autoptr(GString) many = g_string_new("a0");
        g_autofree char *longest = g_strnfill(16385, 'a');
        g_autoptr(GError) error = NULL, error2 = NULL;

        for (int i = 1; i <= 1000; i++)
                g_string_append_printf(many, ",a%d", i);
        ok(!allow_parse(many->str, &error), "1001 names are refused");
        ok(error && strstr(error->message, "\"a1000\" is one too many"), "and say which");
        ok(!allow_parse(longest, &error2), "16385 characters are refused");
        ok(error2 && strstr(error2->message, "is too long") && strlen(error2->message) < 200,
           "in one short line");
}

static void test_files(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(Allow) allow = allow_parse("@l", NULL);
                bool is_taken = allow_add_file(allow, "/l", files[i].text, &error);

                ok(is_taken == !files[i].message, "file %zu is judged", i);
                is(error ? error->message : NULL, files[i].message, "file %zu: the words", i);
                if (i == 2) {
                        g_autofree char *text = entries_text(allow);

                        is(text, "list l, host a.example, 10.0.0.0/8, list other", "and read");
                }
        }
}

static Allow *opened(const char *text) {
        Allow *allow = allow_parse(text, NULL);

        for (guint i = 0; i < allow->entries->len; i++) {
                const AllowEntry *entry = allow->entries->pdata[i];

                if (entry->kind == ALLOW_NETWORK && !allow_open(allow, &entry->network, NULL))
                        fail("too much");
        }
        return allow;
}

static void test_probes(void) {
        static const int families[] = { AF_INET, AF_INET6 };

        for (size_t i = 0; i < G_N_ELEMENTS(probes); i++) {
                g_autoptr(Allow) allow = opened(probes[i].allowed);

                for (size_t j = 0; j < G_N_ELEMENTS(families); j++) {
                        AllowNetwork closed;
                        g_autofree char *text = allow_find_closed(allow, families[j], &closed)
                                                        ? allow_network_text(&closed)
                                                        : NULL;

                        is(text, j ? probes[i].closed6 : probes[i].closed4,
                           "%s: what is tried of IPv%d", probes[i].allowed, j ? 6 : 4);
                }
        }
}

static void test_networks(void) {
        g_autoptr(Allow) allow = opened("10.0.0.0/8,10.1.2.3,::1,10.0.0.0/8,11.0.0.0/9");
        g_autoptr(Allow) asked = opened("10.255.0.1");
        g_autoptr(Allow) other = opened("11.128.0.0/9");

        cmp_ok(allow->networks->len, "==", 3, "what is contained is not opened again");
        ok(allow_is_open(allow, &g_array_index(asked->networks, AllowNetwork, 0)), "inside");
        ok(!allow_is_open(allow, &g_array_index(other->networks, AllowNetwork, 0)), "outside");
}

static void test_names(void) {
        g_autoptr(Allow) allow = opened("127.0.0.2,::1");
        g_autofree char *hosts = NULL, *resolver = allow_resolver_text();
        g_autofree char *nsswitch = allow_nsswitch_text(
                "passwd: files systemd\n# hosts\n  hosts:\tfiles dns\nnetworks: db\n\nshadow: files");

        allow_pin(allow, "b.example", &g_array_index(allow->networks, AllowNetwork, 1));
        allow_pin(allow, "a.example", &g_array_index(allow->networks, AllowNetwork, 0));
        allow_pin(allow, "b.example", &g_array_index(allow->networks, AllowNetwork, 0));
        hosts = allow_hosts_text(allow);
        is(hosts,
           "# what --net allow= names\n::1 b.example\n127.0.0.2 b.example\n127.0.0.2 a.example\n",
           "the names that are pinned");
        is(nsswitch, "hosts: files\nnetworks: files\npasswd: files systemd\nshadow: files\n",
           "hosts are looked up in files alone, all else as before");
        ok(strstr(resolver, "nameserver 192.0.2.1\n"), "there is no server to ask");
}

static void test_urls(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(urls); i++) {
                g_autofree char *host = allow_host_of_url(urls[i].url);

                is(host, urls[i].host, "the host of \"%s\"", urls[i].url);
        }
}

static void test_properties(void) {
        g_autoptr(Allow) allow = opened("127.0.0.2,2001:db8::/32");
        g_autoptr(PropertyList) unit = property_list_new();
        g_autofree char *text = NULL;
        static const char *const wanted[] = {
                "IPAddressDeny=[(2, [0x00, 0x00, 0x00, 0x00], 0), (10, [",
                "IPAddressAllow=[(2, [0x7f, 0x00, 0x00, 0x02], 32), (10, [0x20, 0x01, 0x0d",
                "RestrictAddressFamilies=(true, ['AF_UNIX', 'AF_INET', 'AF_INET6', 'AF_NETLINK'])\n",
                "SystemCallArchitectures=['native']\n",
                "SystemCallFilter=(false, ['io_uring_setup:ENOSYS'])\n",
                "ProtectControlGroups=yes\n",
                "TemporaryFileSystem=[('/run/nscd', 'ro')]\n",
                "BindReadOnlyPaths=[('/run/x/hosts', '/etc/hosts', false, 0)]\n",
        };

        allow_cover(allow, "/run/x/hosts", "/etc/hosts");
        g_ptr_array_add(allow->hidden, g_strdup("/run/nscd"));
        allow_compose(allow, unit);
        text = property_list_to_text(unit);
        for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
                if (!ok(strstr(text, wanted[i]), "the unit has %s", wanted[i]))
                        diag("%s", text);
        ok(allow_owns("IPAddressAllow") && !allow_owns("PrivateTmp"), "and -p may not say more");
}

/* What else is forbidden stays so, and what alone is allowed too. */
static void test_forbidden(void) {
        static const struct {
                gboolean allows;
                const char *wanted;
        } rows[] = {
                { FALSE, "(false, ['mount', 'io_uring_setup:ENOSYS'])" },
                { TRUE, "(true, ['mount'])" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                static const char *const call = "mount";
                g_autoptr(Allow) allow = opened("127.0.0.2");
                g_autoptr(PropertyList) unit = property_list_new();
                g_autofree char *text = NULL;

                property_list_set(unit, "SystemCallFilter",
                                  g_variant_new("(b@as)", rows[i].allows,
                                                g_variant_new_strv(&call, 1)));
                allow_compose(allow, unit);
                text = g_variant_print(property_list_find(unit, "SystemCallFilter")->value, FALSE);
                is(text, rows[i].wanted, "a filter of calls: %s", rows[i].wanted);
        }
}

/* What a name may not stand for, but by being "localhost". */
static void test_near(void) {
        static const struct {
                const char *address;
                bool is_near;
        } rows[] = {
                { "127.0.0.1", true },
                { "127.255.255.255", true },
                { "128.0.0.1", false },
                { "0.0.0.0", true },
                { "1.0.0.1", false },
                { "169.254.169.254", true },
                { "169.253.0.1", false },
                { "10.0.0.1", false },
                { "192.168.1.1", false },
                { "224.0.0.1", true },
                { "255.255.255.255", true },
                { "223.255.255.255", false },
                { "::", true },
                { "::1", true },
                { "fe80::1", true },
                { "febf::1", true },
                { "fec0::1", false },
                { "ff02::1", true },
                { "::ffff:8.8.8.8", true },
                { "2001:db8::1", false },
                { "fd00::1", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                AllowNetwork address = { .family = strchr(rows[i].address, ':') ? AF_INET6
                                                                                : AF_INET };

                ok(inet_pton(address.family, rows[i].address, address.bytes) == 1, "%s",
                   rows[i].address);
                ok(allow_is_near(&address) == rows[i].is_near, "%s is %s", rows[i].address,
                   rows[i].is_near ? "near" : "somewhere else");
        }
}

int main(void) {
        plan(NO_PLAN);
        test_near();
        test_lists();
        test_too_much();
        test_files();
        test_probes();
        test_networks();
        test_names();
        test_urls();
        test_properties();
        test_forbidden();
        done_testing();
}
