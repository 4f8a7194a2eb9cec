/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "namespace.h"

#include <stddef.h>
#include <sys/stat.h>

static const struct {
        const char *own, *child; /* child NULL: the same */
} paths[_GATE_NS_MAX] = {
        [GATE_NS_MNT] = { "/proc/self/ns/mnt", NULL },
        [GATE_NS_NET] = { "/proc/self/ns/net", NULL },
        [GATE_NS_PID] = { "/proc/self/ns/pid", "/proc/self/ns/pid_for_children" },
        [GATE_NS_USER] = { "/proc/self/ns/user", NULL },
        [GATE_NS_IPC] = { "/proc/self/ns/ipc", NULL },
        [GATE_NS_UTS] = { "/proc/self/ns/uts", NULL },
        [GATE_NS_CGROUP] = { "/proc/self/ns/cgroup", NULL },
        [GATE_NS_TIME] = { "/proc/self/ns/time", "/proc/self/ns/time_for_children" },
};

static uint64_t inode_of(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 ? st.st_ino : 0;
}

void namespace_read(uint64_t ret_namespaces[_GATE_NS_MAX]) {
        for (int i = 0; i < _GATE_NS_MAX; i++)
                ret_namespaces[i] = inode_of(paths[i].own);
}

void namespace_read_for_child(uint64_t ret_namespaces[_GATE_NS_MAX]) {
        namespace_read(ret_namespaces);
        for (int i = 0; i < _GATE_NS_MAX; i++) {
                if (!paths[i].child || ret_namespaces[i] == 0)
                        continue;
                ret_namespaces[i] = inode_of(paths[i].child) ?: NAMESPACE_UNBORN;
        }
}
