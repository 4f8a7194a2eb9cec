/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The system calls are a list of what is allowed, because the next kernel's are not known yet; what is missing answers
 * EPERM and kills nobody. Programs must still run: just-in-time compilers write what they execute, so memory may be
 * both; and /proc shows more than processes, or nobody could count CPUs. */

#include "untrusted.h"

#include <string.h>

#include "extra.h"

typedef enum {
        ON_ALL,
        ON_PRIVILEGED, /* a manager of root's */
        ON_BOOTED,     /* private ones lack the nodes that it needs */
        ON_SYSTEM,     /* others cannot */
} Where;

typedef enum {
        ALWAYS,
        OFFLINE,
        ONLINE,
        OWN_FILES, /* --fs strict: / is a tmpfs, which another row for / would replace */
        HOST_FILES,
} When;

/* As @system-service, but for: @chown @keyring @resources @setuid, what reads other processes, io_uring (which does by
 * itself what this list forbids), userfaultfd, and what no ordinary program asks for. make(1) begins every command by
 * becoming who it is. */
#define CALLS                                                                                                       \
        "@basic-io @default @file-system @io-event @memlock @network-io @process @signal @sync "                    \
        "@timer arm_fadvise64_64 copy_file_range fadvise64 fadvise64_64 flock get_mempolicy "                       \
        "getcpu getpriority io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit "                    \
        "ioctl ioprio_get ipc landlock_add_rule landlock_create_ruleset landlock_restrict_self "                    \
        "madvise memfd_create mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend "                        \
        "mq_unlink mremap msgctl msgget msgrcv msgsnd olduname pipe pipe2 process_madvise "                         \
        "readahead readdir remap_file_pages sched_get_priority_max sched_get_priority_min "                         \
        "sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval seccomp semctl "                     \
        "semget semop semtimedop sendfile sendfile64 setpgid setresgid setresuid setsid shmat shmctl shmdt shmget " \
        "splice sysinfo tee umask uname vmsplice"

typedef struct {
        const char *assignment; /* as in a unit file */
        Where where;
        When when;
        const char *against;
        unsigned since; /* this systemd; 0: all */
} Row;

/* clang-format off */
static const Row table[] = {
        { "NoNewPrivileges=yes",            ON_ALL,    ALWAYS,  "set-user-ID programs" },
        { "CapabilityBoundingSet=",         ON_ALL,    ALWAYS,  "root's privileges" },
        { "AmbientCapabilities=",           ON_ALL,    ALWAYS,  "likewise" },
        { "PrivateUsers=yes",               ON_ALL,    ALWAYS,  "reading and tracing other processes" },
        { "SystemCallFilter=" CALLS,        ON_ALL,    ALWAYS,  "the size of the kernel" },
        { "SystemCallErrorNumber=EPERM",    ON_ALL,    ALWAYS,  "a death that looks like a crash" },
        { "SystemCallArchitectures=native", ON_ALL,    ALWAYS,  "calls that the filter does not know" },
        { "RestrictNamespaces=yes",         ON_ALL,    ALWAYS,  "privileges in a namespace of its own" },
        { "RestrictAddressFamilies=AF_UNIX", ON_ALL,   OFFLINE, "all that is not a file" },
        { "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", ON_ALL, ONLINE, "packets, virtual machines" },
        { "RestrictSUIDSGID=yes",           ON_ALL,    ALWAYS,  "what it could leave behind in a workspace" },
        { "RestrictRealtime=yes",           ON_ALL,    ALWAYS,  "taking the CPU" },
        { "LockPersonality=yes",            ON_ALL,    ALWAYS,  "the kernel's least tried ways" },
        { "KeyringMode=private",            ON_ALL,    ALWAYS,  "keys of others" },
        { "PrivateIPC=yes",                 ON_ALL,    ALWAYS,  "shared memory of others" },
        { "ProtectHostname=yes",            ON_ALL,    ALWAYS,  "renaming the machine" },
        { "ProtectControlGroups=yes",       ON_ALL,    ALWAYS,  "its own limits, and other groups" },
        { "PrivateDevices=yes",             ON_ALL,    ALWAYS,  "devices" },
        { "PrivatePIDs=yes",                ON_ALL,    ALWAYS,  "seeing other processes, and signals to them", 257 },
        { "ProtectClock=yes",               ON_BOOTED, ALWAYS,  "setting the clock" },
        { "ProtectKernelLogs=yes",          ON_BOOTED, ALWAYS,  "reading the kernel's log" },
        { "ProtectKernelModules=yes",       ON_BOOTED, ALWAYS,  "what could be loaded into the kernel" },
        { "ProtectKernelTunables=yes",      ON_BOOTED, ALWAYS,  "the kernel's variables" },
        { "ProtectSystem=full",             ON_BOOTED, OWN_FILES, "writing what is shown" },
        { "ProtectSystem=strict",           ON_SYSTEM, HOST_FILES, "writing what is not its own" },
        { "ProtectHome=tmpfs",              ON_BOOTED, OWN_FILES, "looking into homes" },
        { "ProtectProc=invisible",          ON_PRIVILEGED, ALWAYS,  "looking at processes of others" },
        { "DevicePolicy=closed",            ON_SYSTEM, ALWAYS,  "device nodes that are found somewhere" },
        { "IPAddressDeny=any",              ON_SYSTEM, OFFLINE, "a network that is joined somehow" },
        { "RemoveIPC=yes",                  ON_SYSTEM, ALWAYS,  "what it leaves behind in memory" },
};
/* clang-format on */

static const UntrustedResidualInfo residuals[_RESIDUAL_MAX] = {
        [RESIDUAL_SIGNALS] = { "signals", "it can send signals to other processes of its user" },
        [RESIDUAL_PROCESSES] = { "processes",
                                 "it sees other processes, and can set the OOM score of those of "
                                 "its user" },
        [RESIDUAL_SOCKETS] = { "sockets", "it can connect to abstract sockets of the network" },
        [RESIDUAL_TMP] = { "tmp", "what it writes to /tmp and /var/tmp fills the machine's disk" },
        [RESIDUAL_FILES] = { "files", "it can write what its user may write" },
};

const UntrustedResidualInfo *untrusted_residual_info(UntrustedResidual residual) {
        g_assert(residual < _RESIDUAL_MAX);
        return &residuals[residual];
}

char *untrusted_residual_words(unsigned set) {
        g_autoptr(GString) words = g_string_new(NULL);

        for (int i = 0; i < _RESIDUAL_MAX; i++)
                if (set & (1U << i))
                        g_string_append_printf(words, "%s%s", words->len > 0 ? ", " : "left open: ",
                                               residuals[i].meaning);
        return words->len > 0 ? g_string_free(g_steal_pointer(&words), FALSE) : NULL;
}

static bool is_when(When when, const UntrustedContext *context) {
        switch (when) {
        case OFFLINE:
                return !context->has_network;
        case ONLINE:
                return context->has_network;
        case OWN_FILES:
                return context->has_own_files;
        case HOST_FILES:
                return !context->has_own_files;
        default:
                return true;
        }
}

static bool is_for(const Row *row, const UntrustedContext *context) {
        bool is_there = row->where == ON_ALL || context->is_system ||
                        (row->where == ON_BOOTED && context->is_booted) ||
                        (row->where == ON_PRIVILEGED && context->is_privileged);

        return is_there && context->systemd_major >= row->since && is_when(row->when, context);
}

void untrusted_compose(const UntrustedContext *context, PropertyList *unit) {
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (is_for(&table[i], context)) {
                        bool is_read = extra_parse(table[i].assignment, unit, NULL);

                        g_assert(is_read);
                }
        if (context->is_system && !context->is_another_user)
                property_list_set_bool(unit, "DynamicUser", true);
}

bool untrusted_owns(const char *name) {
        g_autofree char *plain = g_str_has_suffix(name, "Ex") /* the same, with more words */
                                         ? g_strndup(name, strlen(name) - strlen("Ex"))
                                         : g_strdup(name);

        if (g_str_equal(plain, "SupplementaryGroups")) /* whose files are theirs, too */
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_autoptr(PropertyList) one = property_list_new();

                if (extra_parse(table[i].assignment, one, NULL) && property_list_find(one, plain))
                        return true;
        }
        return false;
}

char *const *untrusted_environment(void) {
        static char *const variables[] = { (char *)"HOME=/tmp", (char *)"LANG=C.UTF-8",
                                           (char *)"PATH=/usr/local/bin:/usr/bin:/bin", NULL };

        return variables;
}
