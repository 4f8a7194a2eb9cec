/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The one step whose failure is foreseen is the first: user namespaces may be forbidden. There are two ways to have one in
 * which nothing can be done, and no way back from there: AppArmor's, and being root without the capability to set those
 * of files. So where that may be, a child tries first. */

#include "builder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "landlock.h"
#include "mounts.h"

#define APPARMOR_KNOB "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

#define WORD_BITS  32
#define WORD_COUNT 2 /* of the third version of capset(2) */

static bool write_text(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
        int error_number = errno;

        if (fd >= 0)
                (void)close(fd);
        errno = error_number;
        return is_written;
}

static bool is_restricted(void) {
        int fd = open(APPARMOR_KNOB, O_RDONLY | O_CLOEXEC);
        char value = '0';
        bool is_one = fd >= 0 && read(fd, &value, 1) == 1 && value == '1';

        if (fd >= 0)
                (void)close(fd);
        return is_one;
}

/* Where setgroups(2) is still allowed, nobody without privileges may map a group. */
static bool take_identity(const Step *step) {
        char users[64], groups[64];
        uint32_t uid = (uint32_t)step->amount, gid = (uint32_t)(step->amount >> 32);

        (void)snprintf(users, sizeof users, "%u %u 1\n", uid, uid);
        (void)snprintf(groups, sizeof groups, "%u %u 1\n", gid, gid);
        return write_text("/proc/self/setgroups", "deny") &&
               write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

static int flags_of(const Step *step) {
        static const struct {
                uint32_t own;
                int flag;
        } namespaces[] = {
                { STEP_OWN_USERS, CLONE_NEWUSER },
                { STEP_OWN_MOUNTS, CLONE_NEWNS },
                { STEP_OWN_NETWORK, CLONE_NEWNET },
        };
        int flags = 0;

        for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
                if (step->flags & namespaces[i].own)
                        flags |= namespaces[i].flag;
        return flags;
}

/* In the child. The step behind it is the map of its user. */
static bool try(const Step *step) {
        return unshare(flags_of(step) | CLONE_NEWNS) == 0 && take_identity(step + 1) &&
               mounts_slave();
}

/* A caller that ignores the ends of his children would not let us see this one's. */
static bool is_possible(const Step *step) {
        struct sigaction ordinary = { .sa_handler = SIG_DFL }, caller;
        int status = 0;
        pid_t child;

        (void)sigaction(SIGCHLD, &ordinary, &caller);
        child = fork();
        if (child == 0)
                _exit(try(step) ? 0 : errno);
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        (void)sigaction(SIGCHLD, &caller, NULL);
        if (child > 0)
                errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
        return child > 0 && errno == 0;
}

static bool take_unshare(const Step *step) {
        bool is_doubtful = (step->flags & STEP_OWN_USERS) && (geteuid() == 0 || is_restricted());

        return (!is_doubtful || is_possible(step)) && unshare(flags_of(step)) == 0;
}

static bool take_loopback(void) {
        struct ifreq request = { .ifr_name = "lo" };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        bool is_up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0;

        request.ifr_flags |= IFF_UP;
        is_up = is_up && ioctl(fd, SIOCSIFFLAGS, &request) == 0;

        int error_number = errno;

        if (fd >= 0)
                (void)close(fd);
        errno = error_number;
        return is_up;
}

/* The bounding set first: it takes a capability to drop them from there. */
static bool take_drop(const Step *step) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[WORD_COUNT];

        for (int i = 0; i < WORD_COUNT * WORD_BITS && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
                if ((step->amount & UINT64_C(1) << i) && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 &&
                    prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
                        return false;
        if (syscall(SYS_capget, &header, data) < 0)
                return false;
        for (int i = 0; i < WORD_COUNT; i++) {
                uint32_t kept = ~(uint32_t)(step->amount >> (i * WORD_BITS));

                data[i].effective &= kept;
                data[i].permitted &= kept;
                data[i].inheritable &= kept; /* and so of the ambient ones */
        }
        return syscall(SYS_capset, &header, data) == 0;
}

static bool take_no_new_privileges(void) {
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static const char *text_of(const Building *building, uint32_t offset) {
        return offset == STEP_NO_TEXT ? NULL : building->texts + offset;
}

static bool take(const Building *building, const Step *step, Mounts *mounts) {
        const char *source = text_of(building, step->source);
        const char *target = text_of(building, step->target);

        switch ((StepKind)step->kind) {
        case STEP_UNSHARE:
                return take_unshare(step);
        case STEP_IDENTITY:
                return take_identity(step);
        case STEP_SLAVE:
                return mounts_slave();
        case STEP_TMPFS:
                return mounts_tmpfs(mounts, target, text_of(building, step->options), step->flags);
        case STEP_BIND:
                return mounts_bind(mounts, source, target, step->flags);
        case STEP_READ_ONLY:
                return mounts_read_only(mounts, target, step->flags);
        case STEP_SEAL:
                return mounts_seal(mounts, target, step->flags);
        case STEP_LINK:
                return mounts_link(mounts, source, target);
        case STEP_TERMINALS:
                return mounts_terminals(mounts, source, target, step->flags);
        case STEP_ROOT:
                return mounts_root(mounts);
        case STEP_LOOPBACK:
                return take_loopback();
        case STEP_NO_NEW_PRIVILEGES:
                return take_no_new_privileges();
        case STEP_DROP:
                return take_drop(step);
        default:
                errno = EPROTO;
                return false;
        }
}

static bool take_all(const Building *building, uint32_t *ret_enclosure, GateFailure *failure) {
        Mounts mounts = { .root = -1 };
        bool is_taken = true;

        for (uint32_t i = 0; is_taken && i < building->step_count; i++) {
                is_taken = take(building, &building->steps[i], &mounts);
                if (!is_taken) {
                        failure->step = i;
                        failure->error_number = errno;
                } else if (building->steps[i].kind == STEP_UNSHARE) {
                        *ret_enclosure = GATE_ENCLOSURE_NAMESPACES;
                }
        }
        if (mounts.root >= 0)
                (void)close(mounts.root);
        return is_taken;
}

/* Namespaces, or in them any mount at all: AppArmor and seccomp do the one or the other in containers. */
static bool is_forbidden(const Building *building, const GateFailure *failure) {
        static const int errors[] = { EPERM, EACCES, ENOSPC, EUSERS, ENOSYS, EINVAL };
        uint32_t kind = building->steps[failure->step].kind;

        for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
                if (failure->error_number == errors[i])
                        return kind == STEP_UNSHARE || kind == STEP_SLAVE;
        return false;
}

/* All of them only in a namespace of users, even if it was of no other use: elsewhere it takes what it drops. */
static bool drop_all(const Building *building, bool is_unshared) {
        for (uint32_t i = 0; i < building->step_count; i++) {
                const Step *step = &building->steps[i];

                if (step->kind == STEP_UNSHARE && (step->flags & STEP_OWN_USERS) && !is_unshared)
                        return true;
                if (step->kind == STEP_DROP && !take_drop(step))
                        return false;
        }
        return true;
}

/* A permit that fails is told by its own number, Landlock itself beside what failed before. */
static bool take_permits(const Building *building, uint32_t *ret_enclosure, GateFailure *failure) {
        bool is_unshared = *ret_enclosure == GATE_ENCLOSURE_NAMESPACES;
        uint32_t failed = 0;

        *ret_enclosure = GATE_ENCLOSURE_NONE;
        if (!take_no_new_privileges() || !drop_all(building, is_unshared))
                return false;
        if (building->permit_count == 0)
                return true;
        if (landlock_close(building->steps + building->step_count, building->permit_count,
                           building->texts, &failed)) {
                *ret_enclosure = GATE_ENCLOSURE_LANDLOCK;
                return true;
        }
        failure->landlock_error = errno;
        if (failed < building->permit_count) {
                failure->step = building->step_count + failed;
                failure->error_number = errno;
        }
        return false;
}

bool builder_run(const Building *building, uint32_t *ret_enclosure, GateFailure *failure) {
        mode_t mask = umask(0022);
        bool is_built;

        *ret_enclosure = GATE_ENCLOSURE_NONE;
        is_built = take_all(building, ret_enclosure, failure) ||
                   (building->has_permits && is_forbidden(building, failure) &&
                    take_permits(building, ret_enclosure, failure));
        (void)umask(mask);
        return is_built;
}
