/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A list may name lists: what is found is put behind what is there, each thing once, until the end is reached. */

#include "settle.h"

#include "launcher/kernel/error.h"
#include "launcher/trusted.h"
#include "registries.h"
#include "resolve.h"

#define SYSTEM_LISTS "/etc/cordon/net.d"

/* The caller's own list counts before the machine's. */
static bool read_list(Allow *allow, const char *name, GError **error) {
        g_autofree char *own = g_build_filename(g_get_user_config_dir(), "cordon", "net.d", name,
                                                NULL);
        g_autofree char *machines = g_build_filename(SYSTEM_LISTS, name, NULL);
        const char *const paths[] = { own, machines };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_autofree char *text = NULL;

                if (!g_path_is_absolute(paths[i])) /* the working directory is nobody's home */
                        continue;

                if (!trusted_read(paths[i], &text, error)) {
                        g_prefix_error(error, "--net: ");
                        return false;
                }
                if (text)
                        return allow_add_file(allow, paths[i], text, error);
        }
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--net: \"@%s\": there is no such list, neither %s nor %s", name, own,
                    machines);
        return false;
}

static bool expand(Allow *allow, const AllowEntry *entry, GError **error) {
        switch (entry->kind) {
        case ALLOW_NETWORK:
                return allow_open(allow, &entry->network, error);
        case ALLOW_LIST:
                return g_str_equal(entry->name, ALLOW_REGISTRIES)
                               ? registries_add(allow, error)
                               : read_list(allow, entry->name, error);
        default:
                return true;
        }
}

bool net_settle(IsolationSet *set, GError **error) {
        Allow *allow = set->allow;

        for (guint i = 0; allow && i < allow->entries->len; i++)
                if (!expand(allow, allow->entries->pdata[i], error))
                        return false;
        return !allow || resolve_hosts(allow, error);
}
