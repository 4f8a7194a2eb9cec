/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scope.h"

#include <stdint.h>
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
