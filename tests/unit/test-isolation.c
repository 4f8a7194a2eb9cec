/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Isolation: texts and what is refused of them, the properties that come of each, and what is hidden by what. */

#include <string.h>
#include <tap.h>

#include "units/error.h"
#include "units/extra.h"
#include "units/isolation.h"
#include "units/untrusted.h"

#define GATE "/usr/libexec/cordon-gate"

static bool set_from(const char *const *words, IsolationSet *set, GError **error) {
        for (; *words; words += 2) {
                Isolation isolation = 0;

                if (g_str_equal(words[0], "workspace")) {
                        set->workspace = g_strdup(words[1]);
                        continue;
                }
                while (!g_str_equal(isolation_info(isolation)->key, words[0]))
                        isolation++;
                if (!isolation_set_parse(set, isolation, words[1], error))
                        return false;
        }
        return true;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* clang-format off */
static const struct {
        const char *message;
        const char *const *words;
} refused[] = {
        { "--net: \"allow\" is not accepted; accepted: host, none, allow=LIST", WORDS("net", "allow") },
        { "--net: \"\" is not accepted; accepted: host, none, allow=LIST", WORDS("net", "") },
        { "--net: \"10.0.0.1/8\" is not accepted; accepted: a host name, an address, ADDRESS/BITS with nothing behind the bits, @LIST; commas between", WORDS("net", "allow=a,10.0.0.1/8") },
        { "--fs: \"Strict\" is not accepted (did you mean strict?); accepted: host, strict", WORDS("fs", "Strict") },
        { "--ro: \"\" is not accepted; accepted: a path", WORDS("ro", "") },
        { "--rw: \"/x/..\" is not accepted; accepted: a path below /", WORDS("rw", "/x/..") },
        { "--hide: \"/a\\x0ab\" is not accepted; accepted: a path in UTF-8 without control characters, quotes, backslashes and colons", WORDS("hide", "/a\nb") },
        { "--hide: \"/a\\xff\" is not accepted; accepted: a path in UTF-8 without control characters, quotes, backslashes and colons", WORDS("hide", "/a\xff") },
        { "--scratch: \"/a:b\" is not accepted; accepted: a path in UTF-8 without control characters, quotes, backslashes and colons", WORDS("scratch", "/a:b:1K") },
        { "--ro: \"/a\"b\" is not accepted; accepted: a path in UTF-8 without control characters, quotes and backslashes", WORDS("ro", "/a\"b") },
        { "--rw: \"/a'b\" is not accepted; accepted: a path in UTF-8 without control characters, quotes and backslashes", WORDS("rw", "/a'b") },
        { "--ro: \"/a\\b\" is not accepted; accepted: a path in UTF-8 without control characters, quotes and backslashes", WORDS("ro", "/a\\b") },
        { "--scratch: \"/a:\" is not accepted; accepted: PATH:SIZE, such as /scratch:64M", WORDS("scratch", "/a:") },
        { "--scratch: \"/a:0\" is not accepted; accepted: PATH:SIZE, such as /scratch:64M", WORDS("scratch", "/a:0") },
        { "--scratch: \"/a:b\" is not accepted; accepted: PATH:SIZE, such as /scratch:64M", WORDS("scratch", "/a:b") },
};

#define STRICT_HEAD "TemporaryFileSystem=[('/', 'ro'), ('/dev/shm', 'mode=1777')]\n"

static const struct {
        const char *const *words;
        bool is_unprivileged;
        const char *text;
} composed[] = {
        { WORDS("net", "host", "fs", "host"), true, "" },
        { WORDS("fs", "strict", "fs", "host"), true, "" },
        { WORDS("private-tmp", ""), false, "PrivateTmp=yes\n" },
        { WORDS("private-tmp", ""), true, "PrivateUsers=yes\nPrivateTmp=yes\n" },
        { WORDS("net", "none"), false, "PrivateNetwork=yes\n" },
        { WORDS("net", "none", "net", "host"), false, "" },
        { WORDS("net", "allow=a", "net", "host"), false, "" },
        { WORDS("net", "allow=a", "net", "none"), false, "PrivateNetwork=yes\n" },
        { WORDS("ro", "/a", "ro", "/b/../c"), false,
          "BindReadOnlyPaths=[('/a', '/a', false, 16384), ('/c', '/c', false, 16384)]\n" },
        { WORDS("rw", "/a: b%n"), false, "BindPaths=[('/a: b%n', '/a: b%n', false, 16384)]\n" },
        { WORDS("hide", "/a"), false, "TemporaryFileSystem=[('/a', 'ro')]\n" },
        { WORDS("hide", "/usr"), false, "TemporaryFileSystem=[('/usr', 'ro')]\n"
          "BindReadOnlyPaths=[('" GATE "', '" GATE "', false, 16384)]\n" },
        { WORDS("scratch", "/a", "scratch", "/b c:1K"), false,
          "TemporaryFileSystem=[('/a', 'mode=1777'), ('/b c', 'mode=1777,size=1024')]\n" },
};

static const struct {
        const char *path, *by; /* NULL: it is the caller's */
        const char *const *words;
} hidden[] = {
        { "/tmp/x", NULL, WORDS("net", "none") },
        { "/tmp/x", "private-tmp", WORDS("private-tmp", "") },
        { "/tmp", "private-tmp", WORDS("private-tmp", "") },
        { "/tmpx", NULL, WORDS("private-tmp", "") },
        { "/var/tmp/x/y", "private-tmp", WORDS("private-tmp", "") },
        { "/tmp/x/y", NULL, WORDS("private-tmp", "", "ro", "/tmp/x") },
        { "/tmp/x", "private-tmp", WORDS("private-tmp", "", "ro", "/tmp/x/y") },
        { "/a/b", "hide", WORDS("hide", "/a") },
        { "/a/b", NULL, WORDS("hide", "/a", "rw", "/a/b") },
        { "/a/b/c", "scratch", WORDS("rw", "/a", "scratch", "/a/b") },
        { "/srv/x", "fs", WORDS("fs", "strict") },
        { "/", "fs", WORDS("fs", "strict") },
        { "/usr/bin", NULL, WORDS("fs", "strict") },
        { "/tmp/x", "fs", WORDS("fs", "strict") },
        { "/srv/x/y", NULL, WORDS("fs", "strict", "workspace", "/srv/x") },
        { "/srv/x", "fs", WORDS("fs", "strict", "workspace", "/srv/x/y") },
};
/* clang-format on */

#define STRICT_ALLOW "RestrictAddressFamilies=(true, ['AF_UNIX'])\n"

/* What --untrusted means: in its own words, and of the others. */
static const struct {
        const char *const *words;
        bool is_system, is_another_user;
        const char *has, *has_not;
        unsigned systemd_major;
} untrusted[] = {
        { WORDS("untrusted", ""), false, false, "NoNewPrivileges=yes\n", "DynamicUser" },
        { WORDS("untrusted", ""), false, false, "CapabilityBoundingSet=0\n", "ProtectClock" },
        { WORDS("untrusted", ""), false, false, STRICT_ALLOW, "AF_INET" },
        { WORDS("untrusted", ""), false, false, "TemporaryFileSystem=[('/', 'ro')",
          "ReadWritePaths" },
        { WORDS("untrusted", ""), false, false, "PrivateNetwork=yes\n", "ptrace" },
        { WORDS("untrusted", ""), true, false, "DynamicUser=yes\n", "io_uring" },
        { WORDS("untrusted", ""), true, false, "IPAddressDeny=", "@privileged" },
        { WORDS("untrusted", "", "workspace", "/w"), true, false,
          "BindPaths=[('/w', '/w', false, 16384)]\n", "ReadWritePaths" },
        { WORDS("untrusted", "", "scratch", "/s"), true, false, "('/s', 'mode=1777')",
          "ReadWritePaths" },
        { WORDS("untrusted", ""), false, false, "PrivateIPC=yes\n", "PrivatePIDs", 256 },
        { WORDS("untrusted", ""), false, false, "PrivatePIDs=", "DynamicUser", 257 },
        { WORDS("fs", "strict"), false, false, "BindLogSockets=no\n", "DynamicUser", 257 },
        { WORDS("fs", "strict"), false, false, "MountAPIVFS=yes\n", "BindLogSockets", 256 },
        { WORDS("untrusted", ""), true, true, "ProtectSystem=full\n", "DynamicUser" },
        { WORDS("untrusted", "", "fs", "host"), true, true, "ProtectSystem=strict\n",
          "PrivateDevices=no" },
        { WORDS("untrusted", "", "net", "host"), true, false, "'AF_INET6'", "PrivateNetwork" },
        { WORDS("untrusted", "", "net", "host"), true, false, "'AF_NETLINK'", "IPAddressDeny" },
        { WORDS("untrusted", "", "fs", "host"), false, false,
          "TemporaryFileSystem=[('/run', 'ro'), ('/tmp', 'mode=1777'), ('/var/tmp', 'mode=1777')]\n",
          "MountAPIVFS" },
        { WORDS("untrusted", "", "fs", "host"), true, false, "PrivateTmp=yes\n", "disconnected" },
        { WORDS("untrusted", ""), true, false, "PrivateTmpEx=disconnected\n", "PrivateTmp=yes",
          257 },
        { WORDS("untrusted", ""), true, true, "('/var/tmp', 'mode=1777')", "PrivateTmp=" },
};

static void test_untrusted(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(untrusted); i++) {
                g_autoptr(PropertyList) unit = property_list_new();
                IsolationSet set = { 0 };
                IsolationContext context = { .gate_path = GATE,
                                             .is_system = untrusted[i].is_system,
                                             .is_another_user = untrusted[i].is_another_user,
                                             .systemd_major = untrusted[i].systemd_major };
                g_autofree char *text = NULL;

                ok(set_from(untrusted[i].words, &set, NULL), "--untrusted %zu", i);
                isolation_set_settle(&set);
                isolation_compose(&set, &context, unit);
                text = property_list_to_text(unit);
                ok(strstr(text, untrusted[i].has), "--untrusted %zu has %s", i, untrusted[i].has);
                ok(!strstr(text, untrusted[i].has_not), "--untrusted %zu has no %s", i,
                   untrusted[i].has_not);
                isolation_set_clear(&set);
        }
        for (int i = 0; i < _RESIDUAL_MAX; i++)
                ok(untrusted_residual_info((UntrustedResidual)i)->word &&
                           untrusted_residual_info((UntrustedResidual)i)->meaning,
                   "residual %d has words", i);
        ok(g_environ_getenv((char **)untrusted_environment(), "PATH"), "it finds programs");
}

static void test_table(void) {
        for (int i = 0; i < _ISOLATION_MAX; i++) {
                const IsolationInfo *info = isolation_info((Isolation)i);
                bool is_seen = false;

                ok(info->key && info->by && info->namespace, "row %d is whole", i);
                for (size_t j = 0; j < G_N_ELEMENTS(composed); j++)
                        for (const char *const *word = composed[j].words; *word; word += 2)
                                is_seen = is_seen || g_str_equal(*word, info->key);
                for (size_t j = 0; j < G_N_ELEMENTS(untrusted); j++)
                        is_seen = is_seen || g_str_equal(untrusted[j].words[0], info->key);
                ok(is_seen, "%s has its line here", info->key);
        }
}

static void test_refused(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autoptr(GError) error = NULL;
                IsolationSet set = { 0 };

                ok(!set_from(refused[i].words, &set, &error), "refused: %s", refused[i].message);
                is(error ? error->message : NULL, refused[i].message, "in words");
                ok(g_error_matches(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE), "the code");
                ok(!isolation_any(&set), "and nothing is asked then");
                isolation_set_clear(&set);
        }
}

static void test_composed(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(composed); i++) {
                g_autoptr(PropertyList) unit = property_list_new();
                IsolationSet set = { 0 }, copy = { 0 };
                IsolationContext context = { .gate_path = GATE,
                                             .is_unprivileged = composed[i].is_unprivileged };
                g_autofree char *text = NULL;

                ok(set_from(composed[i].words, &set, NULL), "%s %s", composed[i].words[0],
                   composed[i].words[1]);
                isolation_set_copy(&set, &copy);
                isolation_set_clear(&set);
                isolation_compose(&copy, &context, unit);
                text = property_list_to_text(unit);
                is(text, composed[i].text, "%s %s: its properties", composed[i].words[0],
                   composed[i].words[1]);
                ok(!isolation_own_namespaces(&copy) == !composed[i].text[0],
                   "%s %s: namespaces of its own where something is asked", composed[i].words[0],
                   composed[i].words[1]);
                isolation_set_clear(&copy);
        }
}

static void test_strict(void) {
        static const char *const wanted[] = {
                STRICT_HEAD,
                "PrivateTmp=yes\n",
                "PrivateDevices=yes\n",
                "MountAPIVFS=yes\n",
                "ProtectControlGroups=yes\n",
                "('/usr', '/usr', true, 16384)",
                "('/run/systemd/resolve/resolv.conf'",
                "BindPaths=[('/w', '/w', false, 16384)]\n",
                "'-/proc/sys'",
        };
        IsolationSet set = { 0 };
        IsolationContext context = { .gate_path = "/opt/cordon-gate" };
        g_autoptr(PropertyList) unit = property_list_new();
        g_autoptr(PropertyList) offline = property_list_new();
        g_autofree char *text = NULL;

        ok(set_from(WORDS("fs", "strict", "workspace", "/w"), &set, NULL), "--fs strict");
        isolation_compose(&set, &context, unit);
        text = property_list_to_text(unit);
        for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
                ok(strstr(text, wanted[i]), "--fs strict has %s", wanted[i]);
        ok(strstr(text, "('/opt/cordon-gate', '/opt/cordon-gate', false"), "and the gate");
        g_free(g_steal_pointer(&text));
        set.has_no_network = true;
        isolation_compose(&set, &context, offline);
        text = property_list_to_text(offline);
        ok(!strstr(text, "resolv.conf"), "without a network nobody needs names");
        isolation_set_clear(&set);
}

static void test_hidden(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(hidden); i++) {
                IsolationSet set = { 0 };

                ok(set_from(hidden[i].words, &set, NULL), "%s %s", hidden[i].words[0],
                   hidden[i].words[1]);
                is(isolation_hides(&set, hidden[i].path), hidden[i].by, "%s is hidden by %s",
                   hidden[i].path, hidden[i].by ?: "nothing");
                isolation_set_clear(&set);
        }
}

static void test_extra(void) {
        static const struct {
                const char *extra, *message;
                bool is_untrusted;
        } rows[] = {
                { "PrivateTmp=no",
                  "-p: \"PrivateTmp\" is what --private-tmp sets already: give one of them" },
                { "PrivateTmp=disconnected",
                  "-p: \"PrivateTmp\" is what --private-tmp sets already: give one of them" },
                { "PrivateNetwork=no",
                  "-p: \"PrivateNetwork\" is what --net none sets already: give one of them" },
                { "TemporaryFileSystem=/x", NULL },
                { "PrivateUsers=no", NULL },
                { "NoNewPrivileges=yes", NULL, false },
                { "SystemCallFilter=mount",
                  "-p: \"SystemCallFilter\" is what --untrusted sets already: give one of them",
                  true },
                { "NoNewPrivileges=no",
                  "-p: \"NoNewPrivileges\" is what --untrusted sets already: give one of them",
                  true },
                { "BindPaths=/x", NULL, true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(PropertyList) extra = property_list_new();
                g_autoptr(GError) error = NULL;
                IsolationSet set = { .is_untrusted = rows[i].is_untrusted,
                                     .has_private_tmp = true,
                                     .has_no_network = true };

                ok(extra_parse(rows[i].extra, extra, NULL), "-p %s", rows[i].extra);
                ok(isolation_check_extra(&set, extra, &error) == !rows[i].message,
                   "-p %s is judged", rows[i].extra);
                is(error ? error->message : NULL, rows[i].message, "-p %s: the words",
                   rows[i].extra);
        }
}

/* The filter is on nothing but the unit, and -p has no word in it. */
static void test_allow(void) {
        static const char *const reserved[] = { "IPAddressAllow=any", "IPAddressDeny=10.0.0.0/8",
                                                "RestrictAddressFamilies=AF_PACKET",
                                                "SystemCallFilter=@system-service",
                                                "ProtectControlGroups=no" };
        IsolationSet set = { 0 }, copy = { 0 };
        g_autoptr(PropertyList) unit = property_list_new();
        g_autofree char *text = NULL;

        ok(set_from(WORDS("fs", "strict", "net", "allow=10.0.0.0/8", "workspace", "/w"), &set,
                    NULL),
           "--net allow=");
        isolation_set_copy(&set, &copy);
        isolation_set_clear(&set);
        isolation_compose(&copy, &(IsolationContext){ .gate_path = GATE }, unit);
        text = property_list_to_text(unit);
        ok(strstr(text, "IPAddressDeny=") && !strstr(text, "PrivateNetwork"), "it is a filter");
        ok(!strstr(text, "resolv.conf"), "and nobody is asked for names");
        ok(isolation_is_asked(&copy, ISOLATION_NET), "it is asked for");
        is(isolation_by(&copy, ISOLATION_NET), "IPAddressDeny", "by its own property");
        ok(isolation_own_namespaces(&copy) == (EXTRA_OWN_MOUNT | EXTRA_OWN_USER),
           "in the caller's network");
        for (size_t i = 0; i < G_N_ELEMENTS(reserved); i++) {
                g_autoptr(PropertyList) extra = property_list_new();
                g_autoptr(GError) error = NULL;

                copy.has_strict_fs = false;
                ok(extra_parse(reserved[i], extra, NULL) &&
                           !isolation_check_extra(&copy, extra, &error),
                   "-p %s is refused", reserved[i]);
                ok(error && g_str_has_suffix(error->message,
                                             "is what --net allow sets already: give one of them"),
                   "-p %s: the words", reserved[i]);
        }
        isolation_set_clear(&copy);
}

/* What -p says of users counts, also that there are to be none. */
static void test_users(void) {
        g_autoptr(PropertyList) extra = property_list_new();
        g_autoptr(PropertyList) unit = property_list_new();
        IsolationSet set = { .has_no_network = true };
        IsolationContext context = { .gate_path = GATE, .is_unprivileged = true, .extra = extra };

        ok(extra_parse("PrivateUsers=no", extra, NULL), "-p PrivateUsers=no");
        isolation_compose(&set, &context, unit);
        ok(!property_list_find(unit, "PrivateUsers"), "and the unit is left to it");
}

int main(void) {
        plan(NO_PLAN);
        test_table();
        test_refused();
        test_composed();
        test_strict();
        test_hidden();
        test_extra();
        test_allow();
        test_users();
        test_untrusted();
        done_testing();
}
