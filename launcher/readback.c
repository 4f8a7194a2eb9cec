/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One small reader for each kind of source that a limit's row can name. A value that is smaller than asked is in force:
 * an ancestor is stricter, or the kernel rounded down to pages. */

#include "readback.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "launcher/kernel/cpus.h"
#include "launcher/kernel/error.h"
#include "launcher/kernel/file.h"

static bool machine_has_swap(void) {
        g_autofree char *swaps = file_read_text(AT_FDCWD, "/proc/swaps");

        /* One line of headings, then one for each area. */
        return swaps && strchr(swaps, '\n') && strchr(swaps, '\n')[1] != '\0';
}

static Effective read_cgroup(Limit limit, uint64_t asked, Cgroup *cgroup) {
        Effective result = { .effective = LIMIT_INFINITY };

        result.is_known = cgroup_read_effective(cgroup, limit, &result.effective);
        if ((limit == LIMIT_SWAP || limit == LIMIT_POOL_SWAP) && asked == 0 &&
            !machine_has_swap()) {
                /* Nothing to limit: the promise holds with or without a controller. */
                result.is_known = true;
                result.effective = 0;
        }
        result.is_enforced = result.is_known && result.effective <= asked;
        return result;
}

/* As the gate has it, and the program will: RLIM_INFINITY is what LIMIT_INFINITY is. */
static Effective read_rlimit(const GateRlimit *now, uint64_t asked) {
        G_STATIC_ASSERT(RLIM_INFINITY == LIMIT_INFINITY);

        return (Effective){
                .is_known = true,
                .effective = now->soft,
                .is_enforced = now->soft <= asked && now->hard <= asked,
        };
}

static Effective read_cpus(const LimitSet *limits, Cgroup *cgroup) {
        Effective result = { .effective = LIMIT_INFINITY };
        g_autofree char *text = cgroup_read_cpus(cgroup);
        g_auto(CpuList) now = { 0 };

        result.is_known = text && cpu_list_parse(text, &now);
        result.is_enforced = result.is_known && cpu_list_is_within(&now, &limits->cpus);
        if (result.is_enforced)
                result.effective = cpu_list_count(&now);
        return result;
}

/* Kept by us, from a counter: without the counter it cannot be kept. */
static Effective read_budget(uint64_t asked, Cgroup *cgroup) {
        CpuTimes now;
        Effective result = { .effective = asked };

        cgroup_read_cpu(cgroup, &now);
        result.is_known = result.is_enforced = now.total_usec != FACTS_UNKNOWN;
        return result;
}

static Effective read_limit(const LimitSet *limits, Limit limit, Cgroup *cgroup,
                            const GateHello *hello) {
        const LimitInfo *info = limit_info(limit);
        uint64_t asked = limits->value[limit];

        if (limit == LIMIT_CPUS)
                return read_cpus(limits, cgroup);
        if (limit == LIMIT_CPU_TIME)
                return read_budget(asked, cgroup);
        switch (info->readback) {
        case LIMIT_READBACK_CGROUP:
                return read_cgroup(limit, asked, cgroup);
        case LIMIT_READBACK_RLIMIT:
                return read_rlimit(&hello->rlimits[info->readback_number], asked);
        case LIMIT_READBACK_MANAGER: /* the manager's part is a backstop; the limit is kept by us */
        case LIMIT_READBACK_NONE:
                break;
        }
        return (Effective){ .is_known = true, .is_enforced = true, .effective = asked };
}

/* "memory" of "memory.swap.max" */
static char *controller_of(const LimitInfo *info) {
        const char *name = info->readback_name ? info->readback_name : "cpuset";

        return g_strndup(name, strcspn(name, "."));
}

/* What is there in place of what was set. */
static char *holding_words(Limit limit, const Effective *now, Cgroup *cgroup) {
        char *cpus = limit == LIMIT_CPUS ? cgroup_read_cpus(cgroup) : NULL;

        if (cpus)
                return cpus;
        return now->effective == LIMIT_INFINITY ? g_strdup("no limit")
                                                : limit_format(limit, now->effective);
}

static void complain(Limit limit, const Effective *now, Cgroup *cgroup, GError **error) {
        const LimitInfo *info = limit_info(limit);
        g_autofree char *controller = controller_of(info);
        g_autofree char *holds = holding_words(limit, now, cgroup);

        if (!now->is_known && !info->readback_name_v1 && cgroup_is_version_1(controller))
                g_set_error(
                        error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                        "--%s cannot be enforced here: the cgroup controller \"%s\" is one of version 1, "
                        "where systemd keeps no such limit; version 2 is needed, or --best-effort",
                        info->key, controller);
        else if (now->is_known)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--%s is not in force: %s was set, but %s holds (%s)", info->key,
                            info->property, holds,
                            info->readback_name ? info->readback_name : "the process's own limit");
        else
                g_set_error(
                        error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                        "--%s cannot be enforced here: this manager has no cgroup controller \"%s\"; use --system, "
                        "delegate it (Delegate=%s in a drop-in of user@.service), or give --best-effort",
                        info->key, controller, controller);
}

bool readback_check(const LimitSet *limits, Cgroup *cgroup, const GateHello *hello,
                    Readback *ret_readback, GError **error) {
        bool all = true;

        *ret_readback = (Readback){ .is_read = true };
        for (int i = 0; i < _LIMIT_MAX; i++) {
                Effective *now = &ret_readback->limits[i];

                if (!limit_set_is_limited(limits, (Limit)i))
                        continue;
                *now = read_limit(limits, (Limit)i, cgroup, hello);
                if (now->is_enforced)
                        continue;
                if (all)
                        complain((Limit)i, now, cgroup, error);
                all = false;
        }
        return all;
}

bool readback_has_stand_ins(const LimitSet *limits) {
        return limit_set_is_limited(limits, LIMIT_CPUS) && cpus_can_be_had(&limits->cpus);
}

void readback_add_stand_ins(const LimitSet *limits, pid_t pid, Readback *readback) {
        g_auto(CpuList) now = { 0 };
        Effective *cpus = &readback->limits[LIMIT_CPUS];

        if (!limit_set_is_limited(limits, LIMIT_CPUS) || cpus->is_enforced ||
            !cpus_read(pid, &now) || !cpu_list_is_within(&now, &limits->cpus))
                return;
        *cpus = (Effective){ .is_known = true,
                             .is_stand_in = true,
                             .effective = cpu_list_count(&now) };
}
