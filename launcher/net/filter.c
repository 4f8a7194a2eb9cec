/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The gate's datagram is the proof. What is attached is looked at besides, as far as we may: for what comes in, and for a
 * family in which no datagram finds a way. */

#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/manager/fd.h"

typedef enum {
        ATTACHED_UNKNOWN, /* we may not ask */
        ATTACHED_NO,
        ATTACHED_YES,
} Attached;

bool filter_can_be_had(const IsolationSet *set, const Door *door, GError **error) {
        if (!set->allow || !door_is_unprivileged(door))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "--net allow cannot be enforced here: a %s manager without privileges has no "
                    "filter for addresses (BPF); use --system, or --net none",
                    manager_kind_word(door->kind));
        return false;
}

static Attached is_attached_as(int cgroup_fd, enum bpf_attach_type type) {
        union bpf_attr attr = { .query = { .target_fd = (uint32_t)cgroup_fd,
                                           .attach_type = type } };

        if (syscall(SYS_bpf, BPF_PROG_QUERY, &attr, sizeof attr) < 0)
                return ATTACHED_UNKNOWN;
        return attr.query.prog_cnt > 0 ? ATTACHED_YES : ATTACHED_NO;
}

static Attached is_attached(const Cgroup *cgroup, pid_t pid) {
        static const enum bpf_attach_type types[] = { BPF_CGROUP_INET_INGRESS,
                                                      BPF_CGROUP_INET_EGRESS };
        g_autofree char *path = cgroup_path_of(pid);
        AUTO_CLOSE int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        Attached least = ATTACHED_YES;

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                Attached one = fd >= 0 ? is_attached_as(fd, types[i]) : ATTACHED_UNKNOWN;

                if (one == ATTACHED_NO || (one == ATTACHED_UNKNOWN && least == ATTACHED_YES))
                        least = one;
        }
        return least;
}

/* Each of these answers with what is wrong, or with NULL. */

static const char *check_probes(const GateHello *hello, Attached attached) {
        bool is_shown = attached == ATTACHED_YES;

        for (int i = 0; i < GATE_PROBES; i++) {
                if (hello->probes[i] == GATE_PROBE_PASSED)
                        return "an address that is not listed can be reached: this manager or "
                               "kernel has no such filter (BPF)";
                if (hello->probes[i] != GATE_PROBE_NO_WAY)
                        is_shown = true;
        }
        if (attached == ATTACHED_NO)
                return "no filter is attached to the program's cgroup";
        return is_shown ? NULL : "nothing shows that there is a filter";
}

static const char *check_covers(const Allow *allow, pid_t pid) {
        for (guint i = 0; i < allow->covers->len; i++) {
                const AllowCover *cover = allow->covers->pdata[i];
                g_autofree char *inside = g_strdup_printf("/proc/%d/root%s", (int)pid,
                                                          cover->place);
                struct stat ours, its;

                if (stat(cover->source, &ours) < 0 || stat(inside, &its) < 0 ||
                    ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)
                        return "the files of host names inside are others than cordon's";
        }
        return NULL;
}

static const char *find_wrong(const Allow *allow, const Cgroup *cgroup, pid_t pid,
                              const GateHello *hello) {
        const char *wrong = check_probes(hello, is_attached(cgroup, pid));

        if (!wrong && hello->has_packets)
                return "sockets of other families can be had: this manager has no "
                       "RestrictAddressFamilies (seccomp)";
        return wrong ?: check_covers(allow, pid);
}

bool filter_check(const IsolationSet *set, const Cgroup *cgroup, pid_t pid, const GateHello *hello,
                  Readback *readback, GError **error) {
        const char *wrong;

        if (!set->allow)
                return true;
        wrong = find_wrong(set->allow, cgroup, pid, hello);
        readback->isolation[ISOLATION_NET] = !wrong;
        if (wrong)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--net allow is not in force: %s was set, but %s",
                            isolation_by(set, ISOLATION_NET), wrong);
        return !wrong;
}
