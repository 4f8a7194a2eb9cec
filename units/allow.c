/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Strict, because a list that opens more than was meant is found out by nobody: a network with bits behind its length, a
 * name that is taken for an address by some (127.1) and an address that no packet has (::ffff:…) are refused. */

#include "allow.h"

#include <arpa/inet.h>
#include <string.h>

#include "error.h"
#include "parse.h"
#include "text.h"

#define TEXT_MAX      16384
#define ENTRIES_MAX   1000
#define NETWORKS_MAX  4000
#define HOST_MAX      253
#define LABEL_MAX     63
#define LIST_NAME_MAX 64
#define TEXT_SHOWN    60

static const char accepted[] = "a host name, an address, ADDRESS/BITS with nothing behind the bits, "
                               "@LIST; commas between";

static bool fail(GError **error, const char *where, const char *text, const char *why) {
        g_autofree char *shown = text_printable(text, TEXT_SHOWN);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE, "--net: %s\"%s\" %s", where, shown,
                    why);
        return false;
}

static bool not_accepted(GError **error, const char *where, const char *text) {
        g_autofree char *why = g_strconcat("is not accepted; accepted: ", accepted, NULL);

        return fail(error, where, text, why);
}

/* Words */

static bool is_label(const char *label) {
        size_t length = strlen(label);

        if (length == 0 || length > LABEL_MAX || label[0] == '-' || label[length - 1] == '-')
                return false;
        for (; *label; label++)
                if (!g_ascii_isalnum(*label) && *label != '-' && *label != '_')
                        return false;
        return true;
}

/* What inet_aton(3) would take for an address is none. */
static bool is_host_name(const char *text) {
        g_auto(GStrv) labels = g_strsplit(text, ".", -1);
        const char *last = "";

        if (strlen(text) > HOST_MAX)
                return false;
        for (char **label = labels; *label; label++) {
                if (!is_label(*label))
                        return false;
                last = *label;
        }
        return last[strspn(last, "0123456789")] != '\0' && g_ascii_strncasecmp(last, "0x", 2) != 0;
}

static bool is_list_name(const char *text) {
        size_t length = strlen(text);

        if (length == 0 || length > LIST_NAME_MAX || !g_ascii_isalnum(text[0]))
                return false;
        return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               length;
}

static unsigned bits_of(int family) {
        return family == AF_INET6 ? 128 : 32;
}

static bool has_bits_behind(const AllowNetwork *network) {
        for (unsigned bit = network->length; bit < bits_of(network->family); bit++)
                if (network->bytes[bit / 8] & (0x80U >> bit % 8))
                        return true;
        return false;
}

static bool is_mapped(const AllowNetwork *network) {
        static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

        return network->family == AF_INET6 && memcmp(network->bytes, prefix, sizeof prefix) == 0;
}

static bool parse_network(const char *text, AllowNetwork *ret_network) {
        g_auto(GStrv) parts = g_strsplit(text, "/", 2);
        AllowNetwork network = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };
        uint64_t length = bits_of(network.family);

        if (!parts[0] || inet_pton(network.family, parts[0], network.bytes) != 1)
                return false;
        if (parts[1] && (parse_count(parts[1], &length) != PARSE_OK ||
                         length > bits_of(network.family) || parts[1][0] == '+'))
                return false;
        network.length = (unsigned)length;
        if (has_bits_behind(&network) || is_mapped(&network))
                return false;
        *ret_network = network;
        return true;
}

static bool parse_entry(const char *word, AllowEntry *ret_entry) {
        *ret_entry = (AllowEntry){ .kind = ALLOW_NETWORK };
        if (word[0] == '@' && is_list_name(word + 1)) {
                ret_entry->kind = ALLOW_LIST;
                ret_entry->name = g_strdup(word + 1);
                return true;
        }
        if (parse_network(word, &ret_entry->network))
                return true;
        if (!is_host_name(word))
                return false;
        ret_entry->kind = ALLOW_HOST;
        ret_entry->name = g_ascii_strdown(word, -1);
        return true;
}

/* The list */

static void entry_free(gpointer data) {
        AllowEntry *entry = data;

        g_free(entry->name);
        g_free(entry);
}

static void pin_free(gpointer data) {
        AllowPin *pin = data;

        g_free(pin->name);
        g_array_unref(pin->addresses);
        g_free(pin);
}

static void cover_free(gpointer data) {
        AllowCover *cover = data;

        g_free(cover->source);
        g_free(cover->place);
        g_free(cover);
}

static Allow *allow_new(const char *text) {
        Allow *allow = g_new0(Allow, 1);

        allow->text = g_strdup(text);
        allow->entries = g_ptr_array_new_with_free_func(entry_free);
        allow->networks = g_array_new(FALSE, FALSE, sizeof(AllowNetwork));
        allow->pins = g_ptr_array_new_with_free_func(pin_free);
        allow->covers = g_ptr_array_new_with_free_func(cover_free);
        allow->hidden = g_ptr_array_new_with_free_func(g_free);
        allow->notes = g_ptr_array_new_with_free_func(g_free);
        return allow;
}

void allow_free(Allow *allow) {
        if (!allow)
                return;
        g_free(allow->text);
        g_ptr_array_unref(allow->entries);
        g_array_unref(allow->networks);
        g_ptr_array_unref(allow->pins);
        g_ptr_array_unref(allow->covers);
        g_ptr_array_unref(allow->hidden);
        g_ptr_array_unref(allow->notes);
        g_free(allow);
}

static bool has_entry(const Allow *allow, const AllowEntry *wanted) {
        for (guint i = 0; i < allow->entries->len; i++) {
                const AllowEntry *entry = allow->entries->pdata[i];

                if (entry->kind == wanted->kind && g_strcmp0(entry->name, wanted->name) == 0 &&
                    memcmp(&entry->network, &wanted->network, sizeof wanted->network) == 0)
                        return true;
        }
        return false;
}

/* Each once: so lists may name each other. */
bool allow_add(Allow *allow, const char *where, const char *word, GError **error) {
        AllowEntry entry;

        if (!parse_entry(word, &entry))
                return not_accepted(error, where, word);
        if (has_entry(allow, &entry)) {
                g_free(entry.name);
                return true;
        }
        if (allow->entries->len >= ENTRIES_MAX) {
                g_free(entry.name);
                return fail(error, where, word,
                            "is one too many; accepted: 1000 of them, "
                            "those in lists included");
        }
        g_ptr_array_add(allow->entries, g_memdup2(&entry, sizeof entry));
        return true;
}

Allow *allow_parse(const char *text, GError **error) {
        g_autoptr(Allow) allow = allow_new(text);
        g_auto(GStrv) words = NULL;

        if (strlen(text) > TEXT_MAX) {
                (void)fail(error, "", text, "is too long; accepted: 16384 characters");
                return NULL;
        }
        words = g_strsplit(text, ",", -1);
        if (!words[0]) {
                (void)not_accepted(error, "", "allow=");
                return NULL;
        }
        for (char **word = words; *word; word++)
                if (!allow_add(allow, "", *word, error))
                        return NULL;
        return g_steal_pointer(&allow);
}

Allow *allow_copy(const Allow *allow) {
        return allow ? allow_parse(allow->text, NULL) : NULL;
}

bool allow_add_file(Allow *allow, const char *path, const char *text, GError **error) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (guint i = 0; lines[i]; i++) {
                g_autofree char *shown = text_printable(path, TEXT_SHOWN);
                g_autofree char *where = g_strdup_printf("%s, line %u: ", shown, i + 1);

                lines[i][strcspn(lines[i], "#")] = '\0';
                g_strstrip(lines[i]);
                if (lines[i][0] != '\0' && !allow_add(allow, where, lines[i], error))
                        return false;
        }
        return true;
}

void allow_add_note(Allow *allow, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_ptr_array_add(allow->notes, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

/* What came of it */

static bool contains(const AllowNetwork *outer, const AllowNetwork *inner) {
        AllowNetwork cut = *inner;

        if (outer->family != inner->family || outer->length > inner->length)
                return false;
        for (unsigned bit = outer->length; bit < bits_of(inner->family); bit++)
                cut.bytes[bit / 8] &= (uint8_t) ~(0x80U >> bit % 8);
        return memcmp(cut.bytes, outer->bytes, sizeof cut.bytes) == 0;
}

bool allow_is_open(const Allow *allow, const AllowNetwork *network) {
        for (guint i = 0; i < allow->networks->len; i++)
                if (contains(&g_array_index(allow->networks, AllowNetwork, i), network))
                        return true;
        return false;
}

bool allow_open(Allow *allow, const AllowNetwork *network, GError **error) {
        if (allow_is_open(allow, network))
                return true;
        if (allow->networks->len >= NETWORKS_MAX)
                return fail(error, "", allow->text, "opens too much; accepted: 4000 addresses");
        g_array_append_val(allow->networks, *network);
        return true;
}

static AllowPin *pin_of(Allow *allow, const char *name) {
        AllowPin *pin;

        for (guint i = 0; i < allow->pins->len; i++)
                if (strcmp(((AllowPin *)allow->pins->pdata[i])->name, name) == 0)
                        return allow->pins->pdata[i];
        pin = g_new0(AllowPin, 1);
        pin->name = g_strdup(name);
        pin->addresses = g_array_new(FALSE, FALSE, sizeof(AllowNetwork));
        g_ptr_array_add(allow->pins, pin);
        return pin;
}

void allow_pin(Allow *allow, const char *name, const AllowNetwork *address) {
        g_array_append_val(pin_of(allow, name)->addresses, *address);
}

void allow_cover(Allow *allow, const char *source, const char *place) {
        AllowCover *cover = g_new0(AllowCover, 1);

        cover->source = g_strdup(source);
        cover->place = g_strdup(place);
        g_ptr_array_add(allow->covers, cover);
}

/* A datagram to the machine itself always finds a way, and goes nowhere; the others are for documentation. */
bool allow_find_closed(const Allow *allow, int family, AllowNetwork *ret_address) {
        static const char *const candidates[] = {
                "127.0.0.1", "127.255.255.254", "127.85.170.1",  "192.0.2.1",   "198.51.100.1",
                "::1",       "203.0.113.1",     "255.255.255.0", "2001:db8::1", "100::1",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(candidates); i++)
                if (parse_network(candidates[i], ret_address) && ret_address->family == family &&
                    !allow_is_open(allow, ret_address))
                        return true;
        return false;
}

char *allow_network_text(const AllowNetwork *network) {
        char text[INET6_ADDRSTRLEN];

        (void)inet_ntop(network->family, network->bytes, text, sizeof text);
        if (network->length == bits_of(network->family))
                return g_strdup(text);
        return g_strdup_printf("%s/%u", text, network->length);
}

/* Files of names */

char *allow_hosts_text(const Allow *allow) {
        GString *text = g_string_new("# what --net allow= names\n");

        for (guint i = 0; i < allow->pins->len; i++) {
                const AllowPin *pin = allow->pins->pdata[i];

                for (guint j = 0; j < pin->addresses->len; j++) {
                        g_autofree char *address = allow_network_text(
                                &g_array_index(pin->addresses, AllowNetwork, j));

                        g_string_append_printf(text, "%s %s\n", address, pin->name);
                }
        }
        return g_string_free(text, FALSE);
}

char *allow_nsswitch_text(const char *original) {
        g_auto(GStrv) lines = g_strsplit(original, "\n", -1);
        GString *text = g_string_new("hosts: files\nnetworks: files\n");

        for (char **line = lines; *line; line++) {
                const char *word = *line + strspn(*line, " \t");

                if (*word && *word != '#' && !g_str_has_prefix(word, "hosts") &&
                    !g_str_has_prefix(word, "networks"))
                        g_string_append_printf(text, "%s\n", word);
        }
        return g_string_free(text, FALSE);
}

/* Without a server the C library asks the machine itself, and that may be open. */
char *allow_resolver_text(void) {
        return g_strdup(
                "# no DNS: --net allow=\nnameserver 192.0.2.1\noptions timeout:1 attempts:1\n");
}

static char *host_if_good(const char *host) {
        AllowNetwork network;

        return is_host_name(host) || parse_network(host, &network) ? g_ascii_strdown(host, -1)
                                                                   : NULL;
}

char *allow_host_of_url(const char *url) {
        const char *begin = strstr(url, "://"), *at, *colon = strchr(url, ':');
        g_autofree char *authority = NULL;

        if (!begin) {
                at = strchr(url, '@');
                authority = at && colon > at ? g_strndup(at + 1, (gsize)(colon - at) - 1) : NULL;
                return authority ? host_if_good(authority) : NULL;
        }
        begin += strlen("://");
        authority = g_strndup(begin, strcspn(begin, "/?#"));
        at = strrchr(authority, '@');
        begin = at ? at + 1 : authority;
        if (begin[0] == '[') {
                g_autofree char *address = g_strndup(begin + 1, strcspn(begin + 1, "]"));

                return host_if_good(address);
        }

        g_autofree char *host = g_strndup(begin, strcspn(begin, ":"));

        return host_if_good(host);
}

/* Properties */

static GVariant *networks_variant(const AllowNetwork *networks, size_t count) {
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(iayu)"));

        for (size_t i = 0; i < count; i++)
                g_variant_builder_add(builder, "(i@ayu)", networks[i].family,
                                      g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE,
                                                                networks[i].bytes,
                                                                bits_of(networks[i].family) / 8, 1),
                                      networks[i].length);
        return g_variant_builder_end(builder);
}

static void add_covers(const Allow *allow, PropertyList *unit) {
        for (guint i = 0; i < allow->hidden->len; i++) {
                GVariant *const one[] = { g_variant_new("(ss)", allow->hidden->pdata[i], "ro") };

                property_list_extend(unit, "TemporaryFileSystem",
                                     g_variant_new_array(G_VARIANT_TYPE("(ss)"), one, 1));
        }
        for (guint i = 0; i < allow->covers->len; i++) {
                const AllowCover *cover = allow->covers->pdata[i];
                GVariant *const one[] = { g_variant_new("(ssbt)", cover->source, cover->place,
                                                        FALSE, UINT64_C(0)) };

                property_list_extend(unit, "BindReadOnlyPaths",
                                     g_variant_new_array(G_VARIANT_TYPE("(ssbt)"), one, 1));
        }
}

/* It makes sockets past every filter of calls. One that is not there is no failure: programs try it, and do without. */
#define FORBIDDEN_CALL "io_uring_setup:ENOSYS"

/* Beside what else is forbidden; a filter that names what is allowed is left to who wrote it. */
static void forbid_call(PropertyList *unit, const char *call) {
        const Property *before = property_list_find(unit, "SystemCallFilter");
        g_autoptr(GVariant) one = g_variant_ref_sink(g_variant_new_strv(&call, 1));
        g_autoptr(GVariant) others = NULL;
        gboolean allows = FALSE;

        if (before)
                g_variant_get(before->value, "(b@as)", &allows, &others);
        if (!allows)
                property_list_set(unit, "SystemCallFilter",
                                  g_variant_new("(b@as)", FALSE,
                                                others ? property_join(others, one) : one));
}

static bool is_in(const AllowNetwork *address, const AllowNetwork *network) {
        unsigned whole = network->length / 8;
        uint8_t mask = (uint8_t)(0xff00 >> network->length % 8);

        return address->family == network->family &&
               memcmp(address->bytes, network->bytes, whole) == 0 &&
               (mask == 0 || ((address->bytes[whole] ^ network->bytes[whole]) & mask) == 0);
}

bool allow_is_near(const AllowNetwork *address) {
        static const AllowNetwork near[] = {
                { AF_INET, { 0 }, 8 },
                { AF_INET, { 127 }, 8 },
                { AF_INET, { 169, 254 }, 16 },
                { AF_INET, { 224 }, 3 }, /* multicast, and what is reserved */
                { AF_INET6, { 0 }, 96 },
                { AF_INET6, { [10] = 0xff, 0xff }, 96 }, /* IPv4, in other words */
                { AF_INET6, { 0xfe, 0x80 }, 10 },
                { AF_INET6, { 0xff }, 8 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(near); i++)
                if (is_in(address, &near[i]))
                        return true;
        return false;
}

static const char *const owned[] = { "IPAddressAllow", "IPAddressDeny", "RestrictAddressFamilies",
                                     "SystemCallArchitectures", "SystemCallFilter" };

bool allow_owns(const char *property) {
        for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
                if (strcmp(owned[i], property) == 0)
                        return true;
        return false;
}

/* The filter is that of the cgroup and sees IP alone: so there is nothing but IP, and no way into another cgroup by a
 * mere write. The families of other ABIs (socketcall) cannot be told apart. */
void allow_compose(const Allow *allow, PropertyList *unit) {
        static const AllowNetwork any[] = { { .family = AF_INET }, { .family = AF_INET6 } };
        static const char *const families[] = { "AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK" };
        static const char *const architectures[] = { "native" };

        property_list_set(unit, "IPAddressDeny", networks_variant(any, G_N_ELEMENTS(any)));
        property_list_set(unit, "IPAddressAllow",
                          networks_variant((const AllowNetwork *)(void *)allow->networks->data,
                                           allow->networks->len));
        property_list_set(unit, "RestrictAddressFamilies",
                          g_variant_new("(b@as)", TRUE,
                                        g_variant_new_strv(families, G_N_ELEMENTS(families))));
        property_list_set(unit, "SystemCallArchitectures", g_variant_new_strv(architectures, 1));
        forbid_call(unit, FORBIDDEN_CALL);
        property_list_set_bool(unit, "ProtectControlGroups", true);
        add_covers(allow, unit);
}
