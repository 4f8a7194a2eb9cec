/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Left out with a thought: what cordon owns (units/compose); what hides the gate that starts inside the unit
 * (RootDirectory=, RootImage=); what speaks to the program by environment variables, which come from the caller
 * (credentials); what is about streams and terminals, which come from the caller; conditions and failure actions. */

#include "extra-table.h"

#include <glib.h>
#include <sys/resource.h>

#include "extra.h"

#define MOUNT   EXTRA_OWN_MOUNT
#define NETWORK EXTRA_OWN_NETWORK
#define LEVELS  "emerg=0 alert=1 crit=2 err=3 warning=4 notice=5 info=6 debug=7"

/* clang-format off */
static const ExtraInfo table[] = {
        /* The process */
        { "Nice",                       EXTRA_INTEGER,        .min = -20, .max = 19 },
        { "OOMScoreAdjust",             EXTRA_INTEGER,        .min = -1000, .max = 1000 },
        { "UMask",                      EXTRA_MODE },
        { "CPUAffinity",                EXTRA_AFFINITY },
        { "CPUSchedulingPolicy",        EXTRA_NUMBER_WORD,    "other=0 fifo=1 rr=2 batch=3 idle=5 ext=7" },
        { "CPUSchedulingPriority",      EXTRA_INTEGER,        .min = 0, .max = 99 },
        { "CPUSchedulingResetOnFork",   EXTRA_BOOL },
        { "IOSchedulingClass",          EXTRA_NUMBER_WORD,    "none=0 realtime=1 best-effort=2 idle=3" },
        { "IOSchedulingPriority",       EXTRA_INTEGER,        .min = 0, .max = 7 },
        { "TimerSlackNSec",             EXTRA_NSEC },
        { "NUMAPolicy",                 EXTRA_NUMBER_WORD,    "default=0 preferred=1 bind=2 interleave=3 local=4" },
        { "NUMAMask",                   EXTRA_NUMBERS },
        { "Personality",                EXTRA_TEXT },
        { "KeyringMode",                EXTRA_WORD,           "inherit private shared" },
        { "SupplementaryGroups",        EXTRA_WORDS },
        { "CoredumpFilter",             EXTRA_FLAG_WORDS_T,   "private-anonymous=1 shared-anonymous=2 private-file-backed=4 shared-file-backed=8 elf-headers=16 private-huge=32 shared-huge=64 private-dax=128 shared-dax=256 default=51" },
        { "LimitDATA",                  EXTRA_RLIMIT_SIZE, .resource = RLIMIT_DATA },
        { "LimitRSS",                   EXTRA_RLIMIT_SIZE, .resource = RLIMIT_RSS },
        { "LimitMEMLOCK",               EXTRA_RLIMIT_SIZE, .resource = RLIMIT_MEMLOCK },
        { "LimitMSGQUEUE",              EXTRA_RLIMIT_SIZE, .resource = RLIMIT_MSGQUEUE },
        { "LimitNPROC",                 EXTRA_RLIMIT_COUNT, .resource = RLIMIT_NPROC },
        { "LimitLOCKS",                 EXTRA_RLIMIT_COUNT, .resource = RLIMIT_LOCKS },
        { "LimitSIGPENDING",            EXTRA_RLIMIT_COUNT, .resource = RLIMIT_SIGPENDING },
        { "LimitRTPRIO",                EXTRA_RLIMIT_COUNT, .resource = RLIMIT_RTPRIO },
        { "LimitRTTIME",                EXTRA_RLIMIT_USEC, .resource = RLIMIT_RTTIME },
        { "LimitNICE",                  EXTRA_RLIMIT_NICE, .resource = RLIMIT_NICE },

        /* What it may do */
        { "NoNewPrivileges",            EXTRA_BOOL, .is_own = true },
        { "CapabilityBoundingSet",      EXTRA_CAPABILITIES },
        { "AmbientCapabilities",        EXTRA_CAPABILITIES },
        { "SecureBits",                 EXTRA_FLAG_WORDS,     "noroot=1 noroot-locked=2 no-setuid-fixup=4 no-setuid-fixup-locked=8 keep-caps=16 keep-caps-locked=32" },
        { "SystemCallFilter",           EXTRA_FILTER },
        { "SystemCallLog",              EXTRA_FILTER },
        { "SystemCallArchitectures",    EXTRA_WORDS },
        { "SystemCallErrorNumber",      EXTRA_ERRNO },
        { "RestrictAddressFamilies",    EXTRA_FILTER },
        { "RestrictFileSystems",        EXTRA_FILTER, .needs_bpf = true },
        { "RestrictNetworkInterfaces",  EXTRA_FILTER, .needs_bpf = true, .in_scope = true },
        { "RestrictNamespaces",         EXTRA_NAMESPACES,     "cgroup=33554432 ipc=134217728 net=1073741824 mnt=131072 pid=536870912 user=268435456 uts=67108864" },
        { "RestrictRealtime",           EXTRA_BOOL },
        { "RestrictSUIDSGID",           EXTRA_BOOL },
        { "LockPersonality",            EXTRA_BOOL },
        { "MemoryDenyWriteExecute",     EXTRA_BOOL },
        { "AppArmorProfile",            EXTRA_LABEL },
        { "SmackProcessLabel",          EXTRA_LABEL },
        { "SELinuxContext",             EXTRA_TEXT },
        { "RemoveIPC",                  EXTRA_BOOL },

        /* What it sees */
        { "PrivateTmp",                 EXTRA_BOOL_OR_WORD,   "disconnected", .own = MOUNT },
        { "PrivateDevices",             EXTRA_BOOL,           .own = MOUNT },
        { "PrivateMounts",              EXTRA_BOOL,           .own = MOUNT },
        { "PrivateNetwork",             EXTRA_BOOL,           .own = NETWORK },
        { "PrivateIPC",                 EXTRA_BOOL,           .own = EXTRA_OWN_IPC },
        { "PrivatePIDs",                EXTRA_WORD_OR_BOOL,   "", .own = EXTRA_OWN_PID },
        { "PrivateBPF",                 EXTRA_WORD_OR_BOOL,   "", .own = MOUNT },
        { "PrivateUsers",               EXTRA_BOOL_OR_WORD,   "self identity full managed", .own = EXTRA_OWN_USER },
        { "ProtectSystem",              EXTRA_WORD_OR_BOOL,   "full strict", .own = MOUNT },
        { "ProtectHome",                EXTRA_WORD_OR_BOOL,   "read-only tmpfs", .own = MOUNT },
        { "ProtectProc",                EXTRA_WORD,           "default noaccess invisible ptraceable", .own = MOUNT },
        { "ProcSubset",                 EXTRA_WORD,           "all pid", .own = MOUNT },
        { "ProtectKernelTunables",      EXTRA_BOOL,           .own = MOUNT },
        { "ProtectKernelModules",       EXTRA_BOOL,           .own = MOUNT },
        { "ProtectKernelLogs",          EXTRA_BOOL,           .own = MOUNT },
        { "ProtectControlGroups",       EXTRA_BOOL_OR_WORD,   "private strict", .own = MOUNT },
        { "ProtectClock",               EXTRA_BOOL },
        { "ProtectHostname",            EXTRA_BOOL,           .own = EXTRA_OWN_UTS },
        { "MountAPIVFS",                EXTRA_BOOL },
        { "MountFlags",                 EXTRA_NUMBER_WORD_T,  "shared=1048576 slave=524288 private=262144", .own = MOUNT },
        { "BindLogSockets",             EXTRA_BOOL,           .own = MOUNT },
        { "ReadWritePaths",             EXTRA_PATHS,          .own = MOUNT },
        { "ReadOnlyPaths",              EXTRA_PATHS,          .own = MOUNT },
        { "InaccessiblePaths",          EXTRA_PATHS,          .own = MOUNT },
        { "ExecPaths",                  EXTRA_PATHS,          .own = MOUNT },
        { "NoExecPaths",                EXTRA_PATHS,          .own = MOUNT },
        { "BindPaths",                  EXTRA_BINDS,          .own = MOUNT },
        { "BindReadOnlyPaths",          EXTRA_BINDS,          .own = MOUNT },
        { "TemporaryFileSystem",        EXTRA_TMPFS,          .own = MOUNT },
        { "NetworkNamespacePath",       EXTRA_PATH,           .own = NETWORK },
        { "IPCNamespacePath",           EXTRA_PATH,           .own = EXTRA_OWN_IPC },
        { "LogNamespace",               EXTRA_TEXT,           .own = MOUNT },
        { "LogLevelMax",                EXTRA_NUMBER_WORD,    LEVELS },
        { "RuntimeDirectory",           EXTRA_NAMES },
        { "RuntimeDirectoryMode",       EXTRA_MODE },
        { "RuntimeDirectoryPreserve",   EXTRA_WORD_OR_BOOL,   "restart" },
        { "StateDirectory",             EXTRA_NAMES },
        { "StateDirectoryMode",         EXTRA_MODE },
        { "CacheDirectory",             EXTRA_NAMES },
        { "CacheDirectoryMode",         EXTRA_MODE },
        { "LogsDirectory",              EXTRA_NAMES },
        { "LogsDirectoryMode",          EXTRA_MODE },
        { "ConfigurationDirectory",     EXTRA_NAMES },
        { "ConfigurationDirectoryMode", EXTRA_MODE },

        /* Resources: of the unit, inside the slice around it, whose limits have options */
        { "CPUAccounting",              EXTRA_BOOL, .in_scope = true },
        { "MemoryAccounting",           EXTRA_BOOL, .in_scope = true },
        { "TasksAccounting",            EXTRA_BOOL, .in_scope = true },
        { "IOAccounting",               EXTRA_BOOL, .in_scope = true },
        { "IPAccounting",               EXTRA_BOOL, .in_scope = true },
        { "CPUWeight",                  EXTRA_WEIGHT_OR_IDLE, .in_scope = true },
        { "StartupCPUWeight",           EXTRA_WEIGHT_OR_IDLE, .in_scope = true },
        { "CPUQuotaPeriodSec",          EXTRA_USEC, .in_scope = true },
        { "StartupAllowedCPUs",         EXTRA_NUMBERS, .in_scope = true },
        { "AllowedMemoryNodes",         EXTRA_NUMBERS, .in_scope = true },
        { "StartupAllowedMemoryNodes",  EXTRA_NUMBERS, .in_scope = true },
        { "MemoryMin",                  EXTRA_MEMORY, .in_scope = true },
        { "MemoryLow",                  EXTRA_MEMORY, .in_scope = true },
        { "MemoryZSwapMax",             EXTRA_MEMORY, .in_scope = true },
        { "MemoryZSwapWriteback",       EXTRA_BOOL, .in_scope = true },
        { "IOWeight",                   EXTRA_WEIGHT, .in_scope = true },
        { "StartupIOWeight",            EXTRA_WEIGHT, .in_scope = true },
        { "IODeviceWeight",             EXTRA_DEVICE_WEIGHT, .in_scope = true },
        { "IOReadBandwidthMax",         EXTRA_DEVICE_BYTES, .in_scope = true },
        { "IOWriteBandwidthMax",        EXTRA_DEVICE_BYTES, .in_scope = true },
        { "IOReadIOPSMax",              EXTRA_DEVICE_BYTES, .in_scope = true },
        { "IOWriteIOPSMax",             EXTRA_DEVICE_BYTES, .in_scope = true },
        { "IODeviceLatencyTargetSec",   EXTRA_DEVICE_USEC, .in_scope = true },
        { "IPAddressAllow",             EXTRA_ADDRESSES, .needs_bpf = true, .in_scope = true },
        { "IPAddressDeny",              EXTRA_ADDRESSES, .needs_bpf = true, .in_scope = true },
        { "IPIngressFilterPath",        EXTRA_PATHS, .needs_bpf = true, .in_scope = true },
        { "IPEgressFilterPath",         EXTRA_PATHS, .needs_bpf = true, .in_scope = true },
        { "DevicePolicy",               EXTRA_WORD,           "auto closed strict", .needs_bpf = true, .in_scope = true },
        { "DeviceAllow",                EXTRA_DEVICES, .needs_bpf = true, .in_scope = true },
        { "DisableControllers",         EXTRA_WORDS, .in_scope = true },
        { "ManagedOOMSwap",             EXTRA_WORD,           "auto kill", .in_scope = true },
        { "ManagedOOMMemoryPressure",   EXTRA_WORD,           "auto kill", .in_scope = true },
        { "ManagedOOMMemoryPressureLimit", EXTRA_PERCENT, .in_scope = true },
        { "ManagedOOMPreference",       EXTRA_WORD,           "none avoid omit", .in_scope = true },
        { "CoredumpReceive",            EXTRA_BOOL, .in_scope = true },

        /* Its place among other units */
        { "Documentation",              EXTRA_WORDS, .in_scope = true },
        { "After",                      EXTRA_WORDS, .in_scope = true },
        { "Before",                     EXTRA_WORDS, .in_scope = true },
        { "Wants",                      EXTRA_WORDS, .in_scope = true },
        { "Requires",                   EXTRA_WORDS, .in_scope = true },
        { "BindsTo",                    EXTRA_WORDS, .in_scope = true },
        { "PartOf",                     EXTRA_WORDS, .in_scope = true },
        { "Conflicts",                  EXTRA_WORDS, .in_scope = true },
        { "RequiresMountsFor",          EXTRA_PATHS, .in_scope = true },
        { "WantsMountsFor",             EXTRA_PATHS, .in_scope = true },
        { "IgnoreOnIsolate",            EXTRA_BOOL, .in_scope = true },
};
/* clang-format on */

const ExtraInfo *extra_at(size_t index) {
        return index < G_N_ELEMENTS(table) ? &table[index] : NULL;
}

const ExtraInfo *extra_find(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (g_str_equal(table[i].name, name))
                        return &table[i];
        return NULL;
}
