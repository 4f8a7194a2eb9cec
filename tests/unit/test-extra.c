/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* -p: golden pairs, which are what systemd-run sends for the same words (but for bitmaps, which it pads with zeros);
 * refusals with their words; lists that grow; and what follows from a property. */

#include <sys/resource.h>
#include <tap.h>

#include "units/compose.h"
#include "units/error.h"
#include "units/extra-table.h"
#include "units/extra.h"
#include "units/nearest.h"
#include "units/words.h"

/* clang-format off */
static const struct {
        const char *assignment, *properties;
} golden[] = {
        { "Nice=5", "Nice i 5" },
        { "Nice=-20", "Nice i -20" },
        { "OOMScoreAdjust=500", "OOMScoreAdjust i 500" },
        { "UMask=0027", "UMask u 23" },
        { "UMask=77", "UMask u 63" },
        { "CPUAffinity=0,2-3", "CPUAffinity ay [0x0d]" },
        { "CPUAffinity=0 2-3 9", "CPUAffinity ay [0x0d, 0x02]" },
        { "CPUAffinity=numa", "CPUAffinityFromNUMA b true" },
        { "CPUSchedulingPolicy=batch", "CPUSchedulingPolicy i 3" },
        { "CPUSchedulingPriority=5", "CPUSchedulingPriority i 5" },
        { "CPUSchedulingResetOnFork=yes", "CPUSchedulingResetOnFork b true" },
        { "IOSchedulingClass=idle", "IOSchedulingClass i 3" },
        { "IOSchedulingPriority=7", "IOSchedulingPriority i 7" },
        { "TimerSlackNSec=50us", "TimerSlackNSec t 50000" },
        { "TimerSlackNSec=100", "TimerSlackNSec t 100" },
        { "TimerSlackNSec=1.5ms", "TimerSlackNSec t 1500000" },
        { "NUMAPolicy=interleave", "NUMAPolicy i 3" },
        { "NUMAMask=0", "NUMAMask ay [0x01]" },
        { "Personality=x86", "Personality s 'x86'" },
        { "KeyringMode=private", "KeyringMode s 'private'" },
        { "SupplementaryGroups=daemon \"a b\"", "SupplementaryGroups as ['daemon', 'a b']" },
        { "CoredumpFilter=private-anonymous elf-headers", "CoredumpFilter t 17" },
        { "CoredumpFilter=default", "CoredumpFilter t 51" },
        { "LimitDATA=1G", "LimitDATA t 1073741824; LimitDATASoft t 1073741824" },
        { "LimitDATA=1M:infinity", "LimitDATA t 18446744073709551615; LimitDATASoft t 1048576" },
        { "LimitRSS=64M", "LimitRSS t 67108864; LimitRSSSoft t 67108864" },
        { "LimitMEMLOCK=64K", "LimitMEMLOCK t 65536; LimitMEMLOCKSoft t 65536" },
        { "LimitMSGQUEUE=1.5M", "LimitMSGQUEUE t 1572864; LimitMSGQUEUESoft t 1572864" },
        { "LimitNPROC=64", "LimitNPROC t 64; LimitNPROCSoft t 64" },
        { "LimitNPROC=10:20", "LimitNPROC t 20; LimitNPROCSoft t 10" },
        { "LimitLOCKS=5", "LimitLOCKS t 5; LimitLOCKSSoft t 5" },
        { "LimitSIGPENDING=infinity", "LimitSIGPENDING t 18446744073709551615; LimitSIGPENDINGSoft t 18446744073709551615" },
        { "LimitRTPRIO=5", "LimitRTPRIO t 5; LimitRTPRIOSoft t 5" },
        { "LimitRTTIME=500", "LimitRTTIME t 500; LimitRTTIMESoft t 500" },
        { "LimitRTTIME=5s:10s", "LimitRTTIME t 10000000; LimitRTTIMESoft t 5000000" },
        { "LimitNICE=+5", "LimitNICE t 15; LimitNICESoft t 15" },
        { "LimitNICE=-5", "LimitNICE t 25; LimitNICESoft t 25" },
        { "LimitNICE=25", "LimitNICE t 25; LimitNICESoft t 25" },
        { "NoNewPrivileges=yes", "NoNewPrivileges b true" },
        { "NoNewPrivileges=OFF", "NoNewPrivileges b false" },
        { "CapabilityBoundingSet=CAP_CHOWN cap_net_raw", "CapabilityBoundingSet t 8193" },
        { "CapabilityBoundingSet=~CAP_SYS_ADMIN", "CapabilityBoundingSet t 18446744073707454463" },
        { "CapabilityBoundingSet=", "CapabilityBoundingSet t 0" },
        { "AmbientCapabilities=CAP_BPF CAP_CHECKPOINT_RESTORE", "AmbientCapabilities t 1649267441664" },
        { "SecureBits=keep-caps no-setuid-fixup", "SecureBits i 20" },
        { "SystemCallFilter=@system-service", "SystemCallFilter (bas) (true, ['@system-service'])" },
        { "SystemCallFilter=~@mount \"reboot\" kill", "SystemCallFilter (bas) (false, ['@mount', 'reboot', 'kill'])" },
        { "SystemCallFilter=read:EPERM", "SystemCallFilter (bas) (true, ['read:EPERM'])" },
        { "SystemCallFilter=", "SystemCallFilter (bas) (true, [])" },
        { "SystemCallLog=@debug", "SystemCallLog (bas) (true, ['@debug'])" },
        { "SystemCallArchitectures=native x86", "SystemCallArchitectures as ['native', 'x86']" },
        { "SystemCallErrorNumber=EPERM", "SystemCallErrorNumber i 1" },
        { "SystemCallErrorNumber=kill", "SystemCallErrorNumber i 2147483646" },
        { "SystemCallErrorNumber=13", "SystemCallErrorNumber i 13" },
        { "RestrictAddressFamilies=AF_UNIX AF_INET", "RestrictAddressFamilies (bas) (true, ['AF_UNIX', 'AF_INET'])" },
        { "RestrictAddressFamilies=~AF_PACKET", "RestrictAddressFamilies (bas) (false, ['AF_PACKET'])" },
        { "RestrictAddressFamilies=none", "RestrictAddressFamilies (bas) (true, ['none'])" },
        { "RestrictFileSystems=~tmpfs", "RestrictFileSystems (bas) (false, ['tmpfs'])" },
        { "RestrictNetworkInterfaces=lo", "RestrictNetworkInterfaces (bas) (true, ['lo'])" },
        { "RestrictNamespaces=yes", "RestrictNamespaces t 0" },
        { "RestrictNamespaces=no", "RestrictNamespaces t 2114060288" },
        { "RestrictNamespaces=net mnt", "RestrictNamespaces t 1073872896" },
        { "RestrictNamespaces=~user", "RestrictNamespaces t 1845624832" },
        { "RestrictRealtime=1", "RestrictRealtime b true" },
        { "RestrictSUIDSGID=true", "RestrictSUIDSGID b true" },
        { "LockPersonality=on", "LockPersonality b true" },
        { "MemoryDenyWriteExecute=t", "MemoryDenyWriteExecute b true" },
        { "AppArmorProfile=-foo", "AppArmorProfile (bs) (true, 'foo')" },
        { "AppArmorProfile=foo", "AppArmorProfile (bs) (false, 'foo')" },
        { "SmackProcessLabel=bar", "SmackProcessLabel (bs) (false, 'bar')" },
        { "SELinuxContext=a:b:c", "SELinuxContext s 'a:b:c'" },
        { "RemoveIPC=no", "RemoveIPC b false" },
        { "PrivateTmp=yes", "PrivateTmp b true" },
        { "PrivateDevices=yes", "PrivateDevices b true" },
        { "PrivateMounts=y", "PrivateMounts b true" },
        { "PrivateNetwork=yes", "PrivateNetwork b true" },
        { "PrivateIPC=yes", "PrivateIPC b true" },
        { "PrivateUsers=yes", "PrivateUsers b true" },
        { "ProtectSystem=strict", "ProtectSystem s 'strict'" },
        { "ProtectSystem=yes", "ProtectSystem s 'yes'" },
        { "ProtectHome=read-only", "ProtectHome s 'read-only'" },
        { "ProtectHome=tmpfs", "ProtectHome s 'tmpfs'" },
        { "ProtectProc=invisible", "ProtectProc s 'invisible'" },
        { "ProcSubset=pid", "ProcSubset s 'pid'" },
        { "ProtectKernelTunables=yes", "ProtectKernelTunables b true" },
        { "ProtectKernelModules=yes", "ProtectKernelModules b true" },
        { "ProtectKernelLogs=yes", "ProtectKernelLogs b true" },
        { "ProtectControlGroups=yes", "ProtectControlGroups b true" },
        { "ProtectClock=yes", "ProtectClock b true" },
        { "ProtectHostname=yes", "ProtectHostname b true" },
        { "MountAPIVFS=yes", "MountAPIVFS b true" },
        { "MountFlags=slave", "MountFlags t 524288" },
        { "MountFlags=shared", "MountFlags t 1048576" },
        { "MountFlags=private", "MountFlags t 262144" },
        { "ReadWritePaths=/a -/b +/c -+/d", "ReadWritePaths as ['/a', '-/b', '+/c', '-+/d']" },
        { "ReadOnlyPaths=\"/a b\" '/c d' /e\\ f", "ReadOnlyPaths as ['/a b', '/c d', '/e f']" },
        { "InaccessiblePaths=-/x", "InaccessiblePaths as ['-/x']" },
        { "ExecPaths=/usr", "ExecPaths as ['/usr']" },
        { "NoExecPaths=/home", "NoExecPaths as ['/home']" },
        { "BindPaths=/a", "BindPaths a(ssbt) [('/a', '/a', false, 16384)]" },
        { "BindPaths=/a:/b", "BindPaths a(ssbt) [('/a', '/b', false, 16384)]" },
        { "BindPaths=-/a:/b:norbind /c", "BindPaths a(ssbt) [('/a', '/b', true, 0), ('/c', '/c', false, 16384)]" },
        { "BindReadOnlyPaths=/a:/b:rbind \"/c d:e\":/f", "BindReadOnlyPaths a(ssbt) [('/a', '/b', false, 16384), ('/c d:e', '/f', false, 16384)]" },
        { "BindPaths=", "BindPaths a(ssbt) []" },
        { "TemporaryFileSystem=/a", "TemporaryFileSystem a(ss) [('/a', '')]" },
        { "TemporaryFileSystem=/a:ro,size=1M /b", "TemporaryFileSystem a(ss) [('/a', 'ro,size=1M'), ('/b', '')]" },
        { "NetworkNamespacePath=/run/netns/x", "NetworkNamespacePath s '/run/netns/x'" },
        { "IPCNamespacePath=/x", "IPCNamespacePath s '/x'" },
        { "LogNamespace=foo", "LogNamespace s 'foo'" },
        { "LogLevelMax=debug", "LogLevelMax i 7" },
        { "LogLevelMax=warning", "LogLevelMax i 4" },
        { "RuntimeDirectory=foo bar/baz", "RuntimeDirectory as ['foo', 'bar/baz']" },
        { "RuntimeDirectoryMode=0700", "RuntimeDirectoryMode u 448" },
        { "RuntimeDirectoryPreserve=restart", "RuntimeDirectoryPreserve s 'restart'" },
        { "RuntimeDirectoryPreserve=yes", "RuntimeDirectoryPreserve s 'yes'" },
        { "StateDirectory=foo", "StateDirectory as ['foo']" },
        { "StateDirectoryMode=700", "StateDirectoryMode u 448" },
        { "CacheDirectory=foo", "CacheDirectory as ['foo']" },
        { "LogsDirectory=foo", "LogsDirectory as ['foo']" },
        { "ConfigurationDirectory=foo", "ConfigurationDirectory as ['foo']" },
        { "CPUAccounting=yes", "CPUAccounting b true" },
        { "IPAccounting=no", "IPAccounting b false" },
        { "CPUWeight=50", "CPUWeight t 50" },
        { "CPUWeight=idle", "CPUWeight t 0" },
        { "StartupCPUWeight=1", "StartupCPUWeight t 1" },
        { "CPUQuotaPeriodSec=10ms", "CPUQuotaPeriodUSec t 10000" },
        { "StartupAllowedCPUs=1", "StartupAllowedCPUs ay [0x02]" },
        { "AllowedMemoryNodes=0", "AllowedMemoryNodes ay [0x01]" },
        { "MemoryMin=1M", "MemoryMin t 1048576" },
        { "MemoryLow=1.5G", "MemoryLow t 1610612736" },
        { "MemoryZSwapMax=1G 500M", "MemoryZSwapMax t 1598029824" },
        { "IOWeight=100", "IOWeight t 100" },
        { "StartupIOWeight=10000", "StartupIOWeight t 10000" },
        { "IODeviceWeight=/dev/sda 500", "IODeviceWeight a(st) [('/dev/sda', 500)]" },
        { "IOReadBandwidthMax=/dev/sda 5M", "IOReadBandwidthMax a(st) [('/dev/sda', 5000000)]" },
        { "IOWriteBandwidthMax=/ 1.5G", "IOWriteBandwidthMax a(st) [('/', 1500000000)]" },
        { "IOReadIOPSMax=/dev/sda 1K", "IOReadIOPSMax a(st) [('/dev/sda', 1000)]" },
        { "IOWriteIOPSMax=/dev/sda infinity", "IOWriteIOPSMax a(st) [('/dev/sda', 18446744073709551615)]" },
        { "IODeviceLatencyTargetSec=/dev/sda 25ms", "IODeviceLatencyTargetUSec a(st) [('/dev/sda', 25000)]" },
        { "IPAddressAllow=10.0.0.0/8 ::1", "IPAddressAllow a(iayu) [(2, [0x0a, 0x00, 0x00, 0x00], 8), (10, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01], 128)]" },
        { "IPAddressAllow=localhost", "IPAddressAllow a(iayu) [(2, [0x7f, 0x00, 0x00, 0x00], 8), (10, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01], 128)]" },
        { "IPAddressDeny=any", "IPAddressDeny a(iayu) [(2, [0x00, 0x00, 0x00, 0x00], 0), (10, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00], 0)]" },
        { "IPAddressDeny=link-local", "IPAddressDeny a(iayu) [(2, [0xa9, 0xfe, 0x00, 0x00], 16), (10, [0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00], 64)]" },
        { "IPAddressDeny=multicast", "IPAddressDeny a(iayu) [(2, [0xe0, 0x00, 0x00, 0x00], 4), (10, [0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00], 8)]" },
        { "IPAddressAllow=192.168.1.7", "IPAddressAllow a(iayu) [(2, [0xc0, 0xa8, 0x01, 0x07], 32)]" },
        { "IPAddressAllow=fe80::1/64", "IPAddressAllow a(iayu) [(10, [0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01], 64)]" },
        { "IPAddressAllow=", "IPAddressAllow a(iayu) []" },
        { "IPIngressFilterPath=/sys/fs/bpf/x", "IPIngressFilterPath as ['/sys/fs/bpf/x']" },
        { "IPEgressFilterPath=", "IPEgressFilterPath as []" },
        { "DevicePolicy=closed", "DevicePolicy s 'closed'" },
        { "DeviceAllow=/dev/null rw", "DeviceAllow a(ss) [('/dev/null', 'rw')]" },
        { "DeviceAllow=char-pts", "DeviceAllow a(ss) [('char-pts', '')]" },
        { "DeviceAllow=", "DeviceAllow a(ss) []" },
        { "DisableControllers=cpu io", "DisableControllers as ['cpu', 'io']" },
        { "ManagedOOMSwap=kill", "ManagedOOMSwap s 'kill'" },
        { "ManagedOOMMemoryPressure=auto", "ManagedOOMMemoryPressure s 'auto'" },
        { "ManagedOOMMemoryPressureLimit=60%", "ManagedOOMMemoryPressureLimit u 2576980377" },
        { "ManagedOOMPreference=avoid", "ManagedOOMPreference s 'avoid'" },
        { "Documentation=man:foo(1) https://x/", "Documentation as ['man:foo(1)', 'https://x/']" },
        { "After=a.service b.target", "After as ['a.service', 'b.target']" },
        { "Before=a.service", "Before as ['a.service']" },
        { "Wants=a.service", "Wants as ['a.service']" },
        { "Requires=a.service", "Requires as ['a.service']" },
        { "BindsTo=a.service", "BindsTo as ['a.service']" },
        { "PartOf=a.service", "PartOf as ['a.service']" },
        { "Conflicts=a.service", "Conflicts as ['a.service']" },
        { "RequiresMountsFor=/var /home", "RequiresMountsFor as ['/var', '/home']" },
        { "IgnoreOnIsolate=yes", "IgnoreOnIsolate b true" },
        { "MemoryLow=12.34%", "MemoryLowScale u 529998964" },
        { "MemoryMin=infinity", "MemoryMin t 18446744073709551615" },
        { "MemoryLow=1%", "MemoryLowScale u 42949673" },
        { "MemoryLow=100%", "MemoryLowScale u 4294967295" },
        /* newer than 252 */
        { "PrivateTmp=disconnected", "PrivateTmpEx s 'disconnected'" },
        { "PrivateUsers=identity", "PrivateUsersEx s 'identity'" },
        { "ProtectControlGroups=strict", "ProtectControlGroupsEx s 'strict'" },
        { "PrivatePIDs=on", "PrivatePIDs s 'yes'" },
        { "PrivateBPF=no", "PrivateBPF s 'no'" },
        { "BindLogSockets=yes", "BindLogSockets b true" },
        { "MemoryZSwapWriteback=no", "MemoryZSwapWriteback b false" },
        { "CoredumpReceive=yes", "CoredumpReceive b true" },
        { "WantsMountsFor=/var", "WantsMountsFor as ['/var']" },
        /* the rest of the table */
        { "MemoryAccounting=yes", "MemoryAccounting b true" },
        { "TasksAccounting=yes", "TasksAccounting b true" },
        { "IOAccounting=yes", "IOAccounting b true" },
        { "StartupAllowedMemoryNodes=0", "StartupAllowedMemoryNodes ay [0x01]" },
        { "CacheDirectoryMode=0750", "CacheDirectoryMode u 488" },
        { "LogsDirectoryMode=0750", "LogsDirectoryMode u 488" },
        { "ConfigurationDirectoryMode=0750", "ConfigurationDirectoryMode u 488" },
};

#define SPAN "a time span such as 30s or \"5min 20s\", or infinity"

static const struct {
        UnitsError code;
        const char *message, *assignment;
} refused[] = {
        { UNITS_ERROR_BAD_VALUE, "-p: \"Nice\" is not NAME=VALUE", "Nice" },
        { UNITS_ERROR_BAD_VALUE, "-p: \"\" is not NAME=VALUE", "" },
        { UNITS_ERROR_BAD_VALUE, "-p: \"=5\" is not NAME=VALUE", "=5" },
        { UNITS_ERROR_BAD_VALUE, "-p: \"Nice=\\xff\" is not NAME=VALUE", "Nice=\xff" },
        { UNITS_ERROR_BAD_NAME, "-p: \"Foo\" is not a property that cordon knows", "Foo=1" },
        { UNITS_ERROR_BAD_NAME, "-p: \"PrivatTmp\" is not a property that cordon knows, but PrivateTmp is", "PrivatTmp=yes" },
        { UNITS_ERROR_BAD_NAME, "-p: \"nice\" is not a property that cordon knows, but Nice is", "nice=5" },
        { UNITS_ERROR_BAD_NAME, "-p: \" Nice\" is not a property that cordon knows, but Nice is", " Nice=5" },
        { UNITS_ERROR_BAD_NAME, "-p: \"a\\x0ab\" is not a property that cordon knows", "a\nb=5" },
        { UNITS_ERROR_BAD_NAME, "-p: \"RootDirectory\" is not a property that cordon knows", "RootDirectory=/x" },
        { UNITS_ERROR_RESERVED, "-p: \"Slice\" belongs to the sandbox", "Slice=x.slice" },
        { UNITS_ERROR_RESERVED, "-p: \"LimitNOFILE\" belongs to the sandbox; use --nofile", "LimitNOFILE=5" },
        { UNITS_ERROR_RESERVED, "-p: \"MemoryMax\" belongs to the sandbox; use --memory", "MemoryMax=1G" },
        { UNITS_ERROR_RESERVED, "-p: \"CPUQuota\" belongs to the sandbox; use --cpu", "CPUQuota=50%" },
        { UNITS_ERROR_RESERVED, "-p: \"AllowedCPUs\" belongs to the sandbox; use --cpus", "AllowedCPUs=0" },
        { UNITS_ERROR_RESERVED, "-p: \"IgnoreSIGPIPE\" belongs to the sandbox", "IgnoreSIGPIPE=yes" },
        { UNITS_ERROR_BAD_VALUE, "-p: NoNewPrivileges: \"maybe\" is not accepted; accepted: yes, no", "NoNewPrivileges=maybe" },
        { UNITS_ERROR_BAD_VALUE, "-p: NoNewPrivileges: \"\" is not accepted; accepted: yes, no", "NoNewPrivileges=" },
        { UNITS_ERROR_BAD_VALUE, "-p: PrivateTmp: \"x\" is not accepted; accepted: yes, no, disconnected", "PrivateTmp=x" },
        { UNITS_ERROR_BAD_VALUE, "-p: PrivateTmp: \"\" is not accepted; accepted: yes, no, disconnected", "PrivateTmp=" },
        { UNITS_ERROR_BAD_VALUE, "-p: PrivatePIDs: \"2\" is not accepted; accepted: yes, no", "PrivatePIDs=2" },
        { UNITS_ERROR_BAD_VALUE, "-p: PrivatePIDs: \"\" is not accepted; accepted: yes, no", "PrivatePIDs=" },
        { UNITS_ERROR_BAD_VALUE, "-p: ProtectSystem: \"strickt\" is not accepted (did you mean strict?); accepted: yes, no, full, strict", "ProtectSystem=strickt" },
        { UNITS_ERROR_BAD_VALUE, "-p: KeyringMode: \"yes\" is not accepted; accepted: inherit, private, shared", "KeyringMode=yes" },
        { UNITS_ERROR_BAD_VALUE, "-p: NetworkNamespacePath: \"x\" is not accepted; accepted: an absolute path", "NetworkNamespacePath=x" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"20\" is not accepted; accepted: a whole number from -20 to 19", "Nice=20" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"-21\" is not accepted; accepted: a whole number from -20 to 19", "Nice=-21" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"5x\" is not accepted; accepted: a whole number from -20 to 19", "Nice=5x" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"--5\" is not accepted; accepted: a whole number from -20 to 19", "Nice=--5" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"99999999999999999999\" is not accepted; accepted: a whole number from -20 to 19", "Nice=99999999999999999999" },
        { UNITS_ERROR_BAD_VALUE, "-p: Nice: \"4294967295\" is not accepted; accepted: a whole number from -20 to 19", "Nice=4294967295" },
        { UNITS_ERROR_BAD_VALUE, "-p: UMask: \"0888\" is not accepted; accepted: an octal mode such as 0022", "UMask=0888" },
        { UNITS_ERROR_BAD_VALUE, "-p: UMask: \"10000\" is not accepted; accepted: an octal mode such as 0022", "UMask=10000" },
        { UNITS_ERROR_BAD_VALUE, "-p: UMask: \"\" is not accepted; accepted: an octal mode such as 0022", "UMask=" },
        { UNITS_ERROR_BAD_VALUE, "-p: IOSchedulingClass: \"slow\" is not accepted; accepted: none, realtime, best-effort, idle", "IOSchedulingClass=slow" },
        { UNITS_ERROR_BAD_VALUE, "-p: IOSchedulingClass: \"idle=3\" is not accepted (did you mean idle?); accepted: none, realtime, best-effort, idle", "IOSchedulingClass=idle=3" },
        { UNITS_ERROR_BAD_VALUE, "-p: MountFlags: \"\" is not accepted; accepted: shared, slave, private", "MountFlags=" },
        { UNITS_ERROR_BAD_VALUE, "-p: SecureBits: \"keep\" is not accepted; accepted: noroot, noroot-locked, no-setuid-fixup, no-setuid-fixup-locked, keep-caps, keep-caps-locked", "SecureBits=keep" },
        { UNITS_ERROR_BAD_VALUE, "-p: RestrictNamespaces: \"net x\" is not accepted; accepted: yes, no, cgroup, ipc, net, mnt, pid, user, uts, ~ in front for all others", "RestrictNamespaces=net x" },
        { UNITS_ERROR_BAD_VALUE, "-p: CapabilityBoundingSet: \"CAP_X\" is not accepted; accepted: capabilities such as CAP_NET_RAW, ~ in front for all others", "CapabilityBoundingSet=CAP_X" },
        { UNITS_ERROR_BAD_VALUE, "-p: SystemCallErrorNumber: \"EFOO\" is not accepted; accepted: an error name such as EPERM, its number, or kill", "SystemCallErrorNumber=EFOO" },
        { UNITS_ERROR_BAD_VALUE, "-p: SystemCallErrorNumber: \"0\" is not accepted; accepted: an error name such as EPERM, its number, or kill", "SystemCallErrorNumber=0" },
        { UNITS_ERROR_BAD_VALUE, "-p: MemoryLow: \"12Q\" is not accepted; accepted: a number with K, M, G or T (1024-based), percent, or infinity", "MemoryLow=12Q" },
        { UNITS_ERROR_BAD_VALUE, "-p: MemoryLow: \"101%\" is not accepted; accepted: a number with K, M, G or T (1024-based), percent, or infinity", "MemoryLow=101%" },
        { UNITS_ERROR_BAD_VALUE, "-p: MemoryLow: \"16E\" is not accepted; accepted: a number with K, M, G or T (1024-based), percent, or infinity", "MemoryLow=16E" },
        { UNITS_ERROR_BAD_VALUE, "-p: MemoryLow: \"18446744073709551615\" is not accepted; accepted: a number with K, M, G or T (1024-based), percent, or infinity", "MemoryLow=18446744073709551615" },
        { UNITS_ERROR_BAD_VALUE, "-p: MemoryLow: \"-1\" is not accepted; accepted: a number with K, M, G or T (1024-based), percent, or infinity", "MemoryLow=-1" },
        { UNITS_ERROR_BAD_VALUE, "-p: ManagedOOMMemoryPressureLimit: \"60\" is not accepted; accepted: 0% to 100%", "ManagedOOMMemoryPressureLimit=60" },
        { UNITS_ERROR_BAD_VALUE, "-p: CPUQuotaPeriodSec: \"5 parsecs\" is not accepted; accepted: " SPAN, "CPUQuotaPeriodSec=5 parsecs" },
        { UNITS_ERROR_BAD_VALUE, "-p: TimerSlackNSec: \"\" is not accepted; accepted: " SPAN, "TimerSlackNSec=" },
        { UNITS_ERROR_BAD_VALUE, "-p: IOWeight: \"idle\" is not accepted; accepted: 1 to 10000", "IOWeight=idle" },
        { UNITS_ERROR_BAD_VALUE, "-p: CPUWeight: \"0\" is not accepted; accepted: 1 to 10000, or idle", "CPUWeight=0" },
        { UNITS_ERROR_BAD_VALUE, "-p: NUMAMask: \"all\" is not accepted; accepted: numbers and ranges such as 0,2-3", "NUMAMask=all" },
        { UNITS_ERROR_BAD_VALUE, "-p: CPUAffinity: \"3-2\" is not accepted; accepted: CPU numbers and ranges such as 0,2-3, or numa", "CPUAffinity=3-2" },
        { UNITS_ERROR_BAD_VALUE, "-p: LimitDATA: \"2M:1M\" is not accepted; accepted: VALUE or SOFT:HARD; a number with K, M, G or T (1024-based), or infinity", "LimitDATA=2M:1M" },
        { UNITS_ERROR_BAD_VALUE, "-p: LimitNPROC: \"1K\" is not accepted; accepted: VALUE or SOFT:HARD; a whole number, or infinity", "LimitNPROC=1K" },
        { UNITS_ERROR_BAD_VALUE, "-p: LimitNPROC: \"1:2:3\" is not accepted; accepted: VALUE or SOFT:HARD; a whole number, or infinity", "LimitNPROC=1:2:3" },
        { UNITS_ERROR_BAD_VALUE, "-p: LimitRTTIME: \"x\" is not accepted; accepted: VALUE or SOFT:HARD; " SPAN, "LimitRTTIME=x" },
        { UNITS_ERROR_BAD_VALUE, "-p: LimitNICE: \"+20\" is not accepted; accepted: VALUE or SOFT:HARD; 0 to 40, a nice level with its sign, or infinity", "LimitNICE=+20" },
        { UNITS_ERROR_BAD_VALUE, "-p: After: \"\"a\" is not accepted; accepted: words with spaces between", "After=\"a" },
        { UNITS_ERROR_BAD_VALUE, "-p: ReadOnlyPaths: \"/a b\" is not accepted; accepted: absolute paths with spaces between", "ReadOnlyPaths=/a b" },
        { UNITS_ERROR_BAD_VALUE, "-p: StateDirectory: \"a/../b\" is not accepted; accepted: relative paths with spaces between", "StateDirectory=a/../b" },
        { UNITS_ERROR_BAD_VALUE, "-p: StateDirectory: \"a:b\" is not accepted; accepted: relative paths with spaces between", "StateDirectory=a:b" },
        { UNITS_ERROR_BAD_VALUE, "-p: SystemCallFilter: \"~'a\" is not accepted; accepted: words with spaces between, ~ in front for all others", "SystemCallFilter=~'a" },
        { UNITS_ERROR_BAD_VALUE, "-p: BindPaths: \"/a:\" is not accepted; accepted: SOURCE[:DESTINATION[:rbind|norbind]], absolute", "BindPaths=/a:" },
        { UNITS_ERROR_BAD_VALUE, "-p: BindPaths: \"/a:/b:x\" is not accepted; accepted: SOURCE[:DESTINATION[:rbind|norbind]], absolute", "BindPaths=/a:/b:x" },
        { UNITS_ERROR_BAD_VALUE, "-p: BindPaths: \"/a:b\" is not accepted; accepted: SOURCE[:DESTINATION[:rbind|norbind]], absolute", "BindPaths=/a:b" },
        { UNITS_ERROR_BAD_VALUE, "-p: TemporaryFileSystem: \"a\" is not accepted; accepted: PATH[:OPTIONS], absolute", "TemporaryFileSystem=a" },
        { UNITS_ERROR_BAD_VALUE, "-p: DeviceAllow: \"/dev/null x\" is not accepted; accepted: a device such as /dev/null or char-pts, and of \"rwm\" what is allowed", "DeviceAllow=/dev/null x" },
        { UNITS_ERROR_BAD_VALUE, "-p: DeviceAllow: \"null\" is not accepted; accepted: a device such as /dev/null or char-pts, and of \"rwm\" what is allowed", "DeviceAllow=null" },
        { UNITS_ERROR_BAD_VALUE, "-p: IOReadBandwidthMax: \"/dev/sda\" is not accepted; accepted: a device or file, and a number with K, M, G or T (1000-based)", "IOReadBandwidthMax=/dev/sda" },
        { UNITS_ERROR_BAD_VALUE, "-p: IODeviceWeight: \"/dev/sda 0\" is not accepted; accepted: a device or file, and 1 to 10000", "IODeviceWeight=/dev/sda 0" },
        { UNITS_ERROR_BAD_VALUE, "-p: IODeviceLatencyTargetSec: \"sda 1s\" is not accepted; accepted: a device or file, and a time span such as 25ms", "IODeviceLatencyTargetSec=sda 1s" },
        { UNITS_ERROR_BAD_VALUE, "-p: IPAddressAllow: \"10.0.0.0/33\" is not accepted; accepted: addresses such as 10.0.0.0/8, any, localhost, link-local, multicast", "IPAddressAllow=10.0.0.0/33" },
        { UNITS_ERROR_BAD_VALUE, "-p: IPAddressAllow: \"example.org\" is not accepted; accepted: addresses such as 10.0.0.0/8, any, localhost, link-local, multicast", "IPAddressAllow=example.org" },
        { UNITS_ERROR_BAD_VALUE, "-p: IPAddressAllow: \"10.0.0.0/\" is not accepted; accepted: addresses such as 10.0.0.0/8, any, localhost, link-local, multicast", "IPAddressAllow=10.0.0.0/" },
};

static const struct {
        const char *what, *first, *second;
        const char *properties; /* NULL: the second is refused */
} joined[] = {
        { "paths grow", "ReadOnlyPaths=/a", "ReadOnlyPaths=/b", "ReadOnlyPaths as ['/a', '/b']" },
        { "an empty value empties", "ReadOnlyPaths=/a", "ReadOnlyPaths=", "ReadOnlyPaths as []" },
        { "and grows again", "ReadOnlyPaths=", "ReadOnlyPaths=/b", "ReadOnlyPaths as ['/b']" },
        { "binds grow", "BindPaths=/a", "BindPaths=-/b:/c", "BindPaths a(ssbt) [('/a', '/a', false, 16384), ('/b', '/c', true, 16384)]" },
        { "devices grow", "DeviceAllow=/dev/null", "DeviceAllow=/dev/zero r", "DeviceAllow a(ss) [('/dev/null', ''), ('/dev/zero', 'r')]" },
        { "addresses grow", "IPAddressAllow=10.0.0.1", "IPAddressAllow=10.0.0.2", "IPAddressAllow a(iayu) [(2, [0x0a, 0x00, 0x00, 0x01], 32), (2, [0x0a, 0x00, 0x00, 0x02], 32)]" },
        { "filters grow", "SystemCallFilter=~a", "SystemCallFilter=~b c", "SystemCallFilter (bas) (false, ['a', 'b', 'c'])" },
        { "an empty filter empties", "SystemCallFilter=~a", "SystemCallFilter=", "SystemCallFilter (bas) (true, [])" },
        { "a filter can turn when it was empty", "SystemCallFilter=", "SystemCallFilter=~a", "SystemCallFilter (bas) (false, ['a'])" },
        { "a filter cannot turn", "SystemCallFilter=~a", "SystemCallFilter=b", NULL },
        { "bits are replaced", "CPUAffinity=0", "CPUAffinity=1", "CPUAffinity ay [0x02]" },
        { "numbers are replaced", "Nice=5", "Nice=6", "Nice i 6" },
        { "others stand beside", "Nice=5", "UMask=077", "Nice i 5; UMask u 63" },
};

static const struct {
        const char *assignment;
        unsigned own;
} owns[] = {
        { "Nice=5", 0 }, { "NoNewPrivileges=yes", 0 }, { "IPAddressAllow=any", 0 },
        { "PrivateTmp=no", 0 }, { "ProtectSystem=no", 0 }, { "ReadOnlyPaths=", 0 }, { "ProcSubset=all", 0 }, { "ProtectProc=default", 0 },
        { "StateDirectory=x", 0 }, { "MountAPIVFS=yes", 0 },
        { "PrivateTmp=yes", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "PrivateTmp=disconnected", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "ProtectSystem=strict", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "ReadOnlyPaths=/x", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "PrivateUsers=self", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "PrivateNetwork=yes", EXTRA_OWN_NETWORK | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "NetworkNamespacePath=/x", EXTRA_OWN_NETWORK | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "PrivatePIDs=yes", EXTRA_OWN_PID | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "PrivateIPC=yes", EXTRA_OWN_IPC | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "ProtectControlGroups=yes", EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "ProtectControlGroups=strict", EXTRA_OWN_CGROUP | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
        { "ProtectHostname=yes", EXTRA_OWN_UTS | EXTRA_OWN_MOUNT | EXTRA_OWN_USER },
};

static const struct {
        const char *text, *words; /* NULL: malformed */
} lines[] = {
        { "", "" }, { "  \t", "" }, { "a", "[a]" }, { " a  b\tc ", "[a][b][c]" },
        { "'a b' \"c d\"", "[a b][c d]" }, { "a' 'b", "[a b]" }, { "''", "[]" }, { "a\\ b", "[a b]" },
        { "\"a'b\" 'c\"d'", "[a'b][c\"d]" }, { "\"a\\\"b\"", "[a\"b]" }, { "a\\\\b", "[a\\b]" }, { "\\'a", "['a]" },
        { "'a", NULL }, { "a\"", NULL }, { "a\\", NULL }, { "'a\\", NULL },
};

static const struct {
        const char *word, *near;
} words_near[] = {
        { "memory", "memory" }, { "Memory", "memory" }, { "memroy", "memory" }, { "emory", "memory" }, { "memoryy", "memory" },
        { "mmmory", "memory" }, { "memo", NULL }, { "", NULL }, { "xyz", NULL }, { "cpuu", "cpu" }, { "cpus", "cpu" }, { "cup", "cpu" },
};
/* clang-format on */

static char *show(const PropertyList *list) {
        g_autoptr(GString) out = g_string_new(NULL);

        for (size_t i = 0; i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);
                g_autofree char *value = g_variant_print(property->value, FALSE);

                g_string_append_printf(out, "%s%s %s %s", i > 0 ? "; " : "", property->name,
                                       g_variant_get_type_string(property->value), value);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static void test_golden(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(golden); i++) {
                g_autoptr(PropertyList) list = property_list_new();
                g_autoptr(GError) error = NULL;
                bool parsed = extra_parse(golden[i].assignment, list, &error);
                g_autofree char *shown = show(list);

                ok(parsed && !error, "-p %s is accepted", golden[i].assignment);
                is(shown, golden[i].properties, "-p %s is sent", golden[i].assignment);
        }
}

static void test_refused(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autoptr(PropertyList) list = property_list_new();
                g_autoptr(GError) error = NULL;
                const char *assignment = refused[i].assignment;

                ok(!extra_parse(assignment, list, &error), "-p %s is refused", assignment);
                is(error ? error->message : NULL, refused[i].message, "-p %s in words", assignment);
                cmp_ok(error ? error->code : -1, "==", refused[i].code, "-p %s: the code",
                       assignment);
                cmp_ok(property_list_length(list), "==", 0, "-p %s leaves nothing", assignment);
        }
}

/* A row that nobody wrote an example for is a row that nobody tried. */
static void test_table(void) {
        bool has_kind[_EXTRA_KIND_MAX] = { 0 };
        size_t count = 0;

        for (; extra_at(count); count++) {
                const ExtraInfo *info = extra_at(count);
                g_autofree char *prefix = g_strconcat(info->name, "=", NULL);
                bool has_example = false;

                for (size_t i = 0; i < G_N_ELEMENTS(golden); i++)
                        has_example |= g_str_has_prefix(golden[i].assignment, prefix);
                ok(has_example, "%s has an example here", info->name);
                ok(compose_check_extra(info->name, NULL), "%s is nobody else's", info->name);
                ok(extra_find(info->name) == info, "%s is there once", info->name);
                has_kind[info->kind] = true;
        }
        for (int i = 0; i < _EXTRA_KIND_MAX; i++)
                ok(has_kind[i], "kind %d is used", i);
        cmp_ok(count, ">=", 80, "there are many");
}

static void test_joined(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(joined); i++) {
                g_autoptr(PropertyList) list = property_list_new();
                g_autoptr(GError) error = NULL;
                bool first = extra_parse(joined[i].first, list, NULL);
                g_autofree char *before = show(list);
                bool second = extra_parse(joined[i].second, list, &error);
                g_autofree char *after = show(list);

                ok(first && second == (joined[i].properties != NULL), "%s", joined[i].what);
                is(after, joined[i].properties ? joined[i].properties : before, "%s: what is sent",
                   joined[i].what);
                is(error ? error->message : NULL,
                   second ? NULL
                          : "-p: SystemCallFilter: given with and without ~, which cannot be joined",
                   "%s: in words", joined[i].what);
        }
}

static void test_owns(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(owns); i++) {
                g_autoptr(PropertyList) list = property_list_new();

                ok(extra_parse(owns[i].assignment, list, NULL), "-p %s", owns[i].assignment);
                cmp_ok(extra_own_namespaces(list), "==", owns[i].own,
                       "-p %s has namespaces of its own", owns[i].assignment);
        }
        cmp_ok(extra_own_namespaces(NULL), "==", 0, "nothing asked, nothing owned");
}

/* clang-format off */
static const struct {
        const char *assignment;
        bool fits;
} of_scopes[] = {
        { "CPUWeight=50", true }, { "MemoryLow=1%", true }, { "MemoryLow=5M", true }, { "CPUQuotaPeriodSec=50ms", true },
        { "IODeviceLatencyTargetSec=/dev/sda 25ms", true }, { "DeviceAllow=/dev/null rw", true },
        { "RestrictNetworkInterfaces=lo", true }, { "ManagedOOMMemoryPressureLimit=50%", true }, { "After=a.service", true },
        { "Nice=5", false }, { "UMask=0022", false }, { "LimitNPROC=5", false }, { "PrivateTmp=yes", false },
        { "TimerSlackNSec=1ms", false }, { "StateDirectory=x", false }, { "NoNewPrivileges=yes", true },
};
/* clang-format on */

static void test_scopes(void) {
        g_autoptr(PropertyList) all = property_list_new();

        ok(!extra_needs_service(NULL) && !extra_needs_service(all), "nothing fits a scope");
        for (size_t i = 0; i < G_N_ELEMENTS(of_scopes); i++) {
                g_autoptr(PropertyList) list = property_list_new();

                ok(extra_parse(of_scopes[i].assignment, list, NULL), "-p %s",
                   of_scopes[i].assignment);
                cmp_ok(!extra_needs_service(list), "==", of_scopes[i].fits, "-p %s: a scope has %s",
                       of_scopes[i].assignment, of_scopes[i].fits ? "it" : "it not");
        }
        ok(extra_parse("CPUWeight=50", all, NULL) && extra_parse("Nice=5", all, NULL),
           "one that fits, and one that does not");
        is(extra_needs_service(all), "Nice", "which is enough, and named");
}

static void test_rlimits(void) {
        g_autoptr(PropertyList) list = property_list_new();

        cmp_ok(extra_rlimits(NULL), "==", 0, "no list has no rlimits");
        ok(extra_parse("LimitNPROC=5", list, NULL) && extra_parse("LimitDATA=1G", list, NULL) &&
                   extra_parse("Nice=5", list, NULL),
           "two rlimits and another");
        cmp_ok(extra_rlimits(list), "==", 1U << RLIMIT_NPROC | 1U << RLIMIT_DATA, "are told apart");
        ok(extra_has(list, "Nice") && !extra_has(list, "UMask") && !extra_has(NULL, "Nice"),
           "what was said is there");
}

static void test_words(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_auto(GStrv) words = words_split(lines[i].text);
                g_autoptr(GString) shown = g_string_new(NULL);

                for (char **word = words; word && *word; word++)
                        g_string_append_printf(shown, "[%s]", *word);
                is(words ? shown->str : NULL, lines[i].words, "the words of <%s>", lines[i].text);
        }
}

static void test_nearest(void) {
        g_autofree char *long_word = g_strnfill(1000, 'x');

        for (size_t i = 0; i < G_N_ELEMENTS(words_near); i++) {
                Nearest nearest = nearest_to(words_near[i].word);

                nearest_offer(&nearest, "cpu");
                nearest_offer(&nearest, "memory");
                nearest_offer(&nearest, "timeout");
                is(nearest.best, words_near[i].near, "near to \"%s\"", words_near[i].word);
        }

        Nearest nearest = nearest_to(long_word);

        nearest_offer(&nearest, long_word);
        is(nearest.best, NULL, "a word without end is near to nothing");
}

int main(void) {
        plan(NO_PLAN);
        test_golden();
        test_refused();
        test_table();
        test_joined();
        test_owns();
        test_scopes();
        test_rlimits();
        test_words();
        test_nearest();
        done_testing();
}
