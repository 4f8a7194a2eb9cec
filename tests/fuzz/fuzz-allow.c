/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first line is the text of --net allow=, the rest a list file: understood, or refused in one line. What is understood
 * means the same when it is said again, entry by entry. */

#include <sys/socket.h>

#include "fuzz.h"
#include "units/allow.h"

static void check_error(bool is_taken, const GError *error) {
        g_assert(is_taken == !error);
        if (is_taken)
                return;
        g_assert(!strchr(error->message, '\n') && strlen(error->message) < 1024);
        g_assert(g_utf8_validate(error->message, -1, NULL));
}

static char *word_of(const AllowEntry *entry) {
        if (entry->kind == ALLOW_NETWORK)
                return allow_network_text(&entry->network);
        return g_strconcat(entry->kind == ALLOW_LIST ? "@" : "", entry->name, NULL);
}

static void check_entries(Allow *allow) {
        guint count = allow->entries->len;

        for (guint i = 0; i < count; i++) {
                const AllowEntry *entry = allow->entries->pdata[i];
                g_autofree char *word = word_of(entry);

                g_assert(allow_add(allow, "", word, NULL)); /* it is there already */
                g_assert(allow->entries->len == count);
                if (entry->kind == ALLOW_NETWORK && allow_open(allow, &entry->network, NULL))
                        g_assert(allow_is_open(allow, &entry->network));
        }
}

static void check_closed(const Allow *allow, int family) {
        AllowNetwork closed;

        if (allow_find_closed(allow, family, &closed))
                g_assert(closed.family == family && !allow_is_open(allow, &closed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        char *rest = strchr(text, '\n');
        g_autoptr(GError) error = NULL, error2 = NULL;
        g_autoptr(Allow) allow = NULL;
        bool is_taken;
        g_autofree char *host = allow_host_of_url(text), *nsswitch = allow_nsswitch_text(text);

        g_assert(g_str_has_prefix(nsswitch, "hosts: files\n"));
        if (rest)
                *rest++ = '\0';
        allow = allow_parse(text, &error);
        check_error(allow, error);
        if (!allow)
                return 0;
        is_taken = allow_add_file(allow, "/list", rest ?: "", &error2);
        check_error(is_taken, error2);
        check_entries(allow);
        check_closed(allow, AF_INET);
        check_closed(allow, AF_INET6);
        if (host)
                g_assert(allow_add(allow, "", host, NULL) || allow->entries->len >= 1000);
        return 0;
}
