/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scope.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As <linux/landlock.h> of 6.12 has them; headers may be older. */
#define SCOPE_ABSTRACT_UNIX_SOCKET UINT64_C(1)
#define SCOPE_SIGNAL               UINT64_C(2)

typedef struct {
        uint64_t handled_access_fs;
        uint64_t handled_access_net;
        uint64_t scoped;
} RulesetAttributes;

bool scope_close(void) {
        RulesetAttributes attributes = { .scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL };
        int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U);
        bool is_closed = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0U) == 0;

        if (ruleset >= 0)
                (void)close(ruleset);
        return is_closed;
}

bool scope_is_filtered(void) {
        return syscall(SYS_fchown, -1, -1, -1) < 0 &&
               errno == EPERM; /* else there is no such file */
}

/* Calls of other architectures do not get as far as this. The process is an int, whatever the upper half says. */
bool scope_limits(void) {
        static struct sock_filter steps[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 3),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        static const struct sock_fprog program = { .len = sizeof steps / sizeof steps[0],
                                                   .filter = steps };

        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
