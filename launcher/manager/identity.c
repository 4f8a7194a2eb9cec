/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The key of a private manager: a hash of everything that a program gets from the manager that starts
 * it and that the gate could not give back. The hard thing is to have all of it and nothing that
 * changes from run to run. */

#include "identity.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/gate/namespace.h"
#include "launcher/kernel/file.h"

/* Of /proc/self/status: whoever is confined must not be served by somebody who is not. */
static const char *const identity_status_lines[] = {
        "Uid:",    "Gid:",    "Groups:",     "CapInh:",  "CapPrm:",
        "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:",
};

/* Without these, nobody can give a program back what the manager's starter had given away. */
#define IDENTITY_CAP_SYS_NICE     23
#define IDENTITY_CAP_SYS_RESOURCE 24

bool identity_is_booted(void) {
        return access("/run/systemd/system/", F_OK) >= 0;
}

static void identity_add(GString *text, const char *what, const char *value) {
        g_string_append_printf(text, "%s=%s\n", what, value);
}

/* The manager is a child. */
static void identity_add_world(GString *text, const GateWorld *known) {
        GateWorld world;

        if (known) {
                world = *known;
        } else {
                namespace_read(&world);
                namespace_read_for_child(&world);
        }
        for (int i = 0; i < _GATE_NS_MAX; i++)
                g_string_append_printf(text, "namespace%d=%" PRIu64 "\n", i, world.namespaces[i]);
        g_string_append_printf(text, "root=%" PRIu64 ":%" PRIu64 "\n", world.root_dev,
                               world.root_ino);
}

static uint64_t identity_capabilities(const char *status) {
        const char *line = caller_find_status(status, "\nCapEff:\t");

        return line ? g_ascii_strtoull(line, NULL, 16) : 0;
}

/* Ours are never raised: they are the caller's. */
static void identity_add_hard_limits(GString *text, const struct rlimit *known) {
        G_STATIC_ASSERT((int)RLIM_NLIMITS == GATE_RLIMITS);

        for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++) {
                struct rlimit limit = known ? known[resource] : (struct rlimit){ 0 };

                if (known || getrlimit(resource, &limit) >= 0)
                        g_string_append_printf(text, "rlimit%d=%ju\n", resource,
                                               (uintmax_t)limit.rlim_max);
        }
}

/* In the order of the file, whole lines. */
static void identity_add_status(GString *text, const char *status) {
        g_auto(GStrv) lines = g_strsplit(status, "\n", -1);

        for (char **line = lines; *line; line++)
                for (size_t i = 0; i < G_N_ELEMENTS(identity_status_lines); i++)
                        if (g_str_has_prefix(*line, identity_status_lines[i]))
                                identity_add(text, "status", *line);
}

static void identity_add_privileges(GString *text, const Caller *caller) {
        g_autofree char *status = caller ? g_strdup(caller->status)
                                         : file_read_record(AT_FDCWD, "/proc/self/status");
        g_autofree char *label = NULL;
        uint64_t capabilities;

        if (!status)
                return;

        identity_add_status(text, status);
        capabilities = identity_capabilities(status);
        if (!(capabilities & (UINT64_C(1) << IDENTITY_CAP_SYS_RESOURCE)))
                identity_add_hard_limits(text, caller ? caller->rlimits : NULL);

        if (!(capabilities & (UINT64_C(1) << IDENTITY_CAP_SYS_NICE)))
                g_string_append_printf(text, "nice=%d\nidle=%d\n", getpriority(PRIO_PROCESS, 0),
                                       sched_getscheduler(0) == SCHED_IDLE);

        label = file_read_record(AT_FDCWD, "/proc/self/attr/current");
        if (label)
                identity_add(text, "label", label);
}

/* Mounts whose later changes the manager's mount namespace does not get to see: where that table has
 * changed, the old manager's programs would see another file system than their caller. */
static void identity_add_unpropagated_mounts(GString *text) {
        g_autofree char *table = file_read_text(AT_FDCWD, "/proc/self/mountinfo");
        g_auto(GStrv) lines = NULL;

        if (!table)
                return;

        lines = g_strsplit(table, "\n", -1);
        for (char **line = lines; *line; line++)
                if (!strstr(*line, " shared:"))
                        identity_add(text, "mount", *line);
}

/* On a machine booted with systemd the manager gets a scope from it, else it is rooted below the
 * caller's own cgroup, and then only callers in that cgroup are under the same limits. */
static void identity_add_cgroups(GString *text) {
        g_autofree char *table = file_read_record(AT_FDCWD, "/proc/self/cgroup");
        g_auto(GStrv) lines = NULL;

        if (!table)
                return;

        lines = g_strsplit(table, "\n", -1);
        for (char **line = lines; *line; line++) {
                if (g_str_has_suffix(*line, "/" IDENTITY_CALLER_GROUP))
                        (*line)[strlen(*line) - strlen("/" IDENTITY_CALLER_GROUP)] = '\0';
                if (g_str_has_suffix(*line, ":/"))
                        (*line)[strlen(*line) - 1] = '\0';
                identity_add(text, "cgroup", *line);
        }
}

char *identity_key(const char *base, const Caller *caller) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *hash = NULL;

        g_string_append_printf(text, "protocol=%d\n", IDENTITY_PROTOCOL);
        identity_add(text, "base", base);
        identity_add_world(text, caller ? &caller->world : NULL);
        identity_add_privileges(text, caller);
        if (!identity_is_booted()) {
                identity_add_unpropagated_mounts(text);
                identity_add_cgroups(text);
        }

        hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
        return g_strndup(hash, 16);
}
