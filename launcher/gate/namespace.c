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

void namespace_read(GateWorld *ret_world) {
        struct stat st;

        *ret_world = (GateWorld){ 0 };
        for (int i = 0; i < _GATE_NS_MAX; i++)
                ret_world->namespaces[i] = inode_of(paths[i].own);
        if (stat("/", &st) == 0) {
                ret_world->root_dev = st.st_dev;
                ret_world->root_ino = st.st_ino;
        }
}

void namespace_read_for_child(GateWorld *world) {
        for (int i = 0; i < _GATE_NS_MAX; i++) {
                if (!paths[i].child || world->namespaces[i] == 0)
                        continue;
                world->namespaces[i] = inode_of(paths[i].child) ?: NAMESPACE_UNBORN;
        }
}
