/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel says no in different places: when the namespace is made (its sysctls), or, under AppArmor, only when
 * something is done in it; so the trial mounts something. */

#include "user-namespace.h"

#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
        const char *path, *name;
        int forbids; /* the value that does */
        const char *remedy;
} knobs[] = {
        { "/proc/sys/user/max_user_namespaces", "user.max_user_namespaces", 0,
          "set it to a number of namespaces" },
        { "/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", 0,
          "set it to 1" },
        { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
          "kernel.apparmor_restrict_unprivileged_userns", 1,
          "set it to 0, or give systemd a profile with \"userns,\"" },
};

/* In the child */
static bool try(void) {
        return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0 &&
               mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
               mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0;
}

bool user_namespace_can_be_had(void) {
        int status = 0;
        pid_t child = fork();

        if (child == 0)
                _exit(try() ? 0 : 1);
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *user_namespace_remedy(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(knobs); i++) {
                g_autofree char *text = NULL;

                if (g_file_get_contents(knobs[i].path, &text, NULL, NULL) &&
                    g_ascii_strtoll(text, NULL, 10) == knobs[i].forbids)
                        return g_strdup_printf(
                                "user namespaces are forbidden by the sysctl %s=%d: %s",
                                knobs[i].name, knobs[i].forbids, knobs[i].remedy);
        }
        return NULL;
}
