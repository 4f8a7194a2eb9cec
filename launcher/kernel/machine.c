/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user-namespace.h"

#define LANDLOCK_ABI_OF_KERNEL 1U /* LANDLOCK_CREATE_RULESET_VERSION */
#define KIB                    UINT64_C(1024)

static Answer answer(bool is_so) {
        return is_so ? ANSWER_YES : ANSWER_NO;
}

static char *read_word(const char *path) {
        char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? g_strchomp(text) : NULL;
}

static int read_landlock_abi(void) {
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_ABI_OF_KERNEL);

        if (abi >= 0)
                return (int)abi;
        return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
}

/* A line of headings, then "Filename Type Size Used Priority" in KiB for each area. */
static uint64_t read_swap(void) {
        g_autofree char *text = NULL;
        uint64_t total = 0;

        if (!g_file_get_contents("/proc/swaps", &text, NULL, NULL))
                return UINT64_MAX;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines + (*lines ? 1 : 0); *line; line++) {
                uint64_t size;

                if (sscanf(*line, "%*s %*s %" SCNu64, &size) == 1)
                        total += size * KIB;
        }
        return total;
}

static Answer has_file_system(const char *name) {
        g_autofree char *text = NULL;
        g_autofree char *line = g_strdup_printf("\t%s\n", name);

        if (!g_file_get_contents("/proc/filesystems", &text, NULL, NULL))
                return ANSWER_UNKNOWN;
        return answer(strstr(text, line));
}

/* The file may be there and not be readable: psi=0. */
static Answer has_pressure(void) {
        g_autofree char *text = read_word("/proc/pressure/memory");

        return answer(text);
}

static void read_rules(Machine *machine) {
        g_autofree char *apparmor = read_word(
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
        g_autofree char *selinux = read_word("/sys/fs/selinux/enforce");

        if (apparmor)
                machine->apparmor_restricts = answer(strcmp(apparmor, "0") != 0);
        if (!selinux)
                return;
        machine->selinux = g_strdup(strcmp(selinux, "1") == 0 ? "enforcing" : "permissive");
        machine->selinux_knows = answer(access("/sys/fs/selinux/class/user_namespace", F_OK) == 0);
}

static Answer read_lingering(void) {
        g_autofree char *path = g_build_filename("/var/lib/systemd/linger", g_get_user_name(),
                                                 NULL);

        return answer(access(path, F_OK) == 0);
}

void machine_read(Machine *ret_machine) {
        Machine machine = MACHINE_INIT;
        struct utsname names;

        if (uname(&names) == 0)
                machine.kernel = g_strdup(names.release);
        machine.is_booted = answer(access("/run/systemd/system/", F_OK) == 0);
        cgroup_read_controllers(NULL, &machine.controllers);
        machine.landlock_abi = read_landlock_abi();
        machine.has_user_namespaces = answer(user_namespace_can_be_had());
        if (machine.has_user_namespaces == ANSWER_NO)
                machine.user_namespace_remedy = user_namespace_remedy();
        read_rules(&machine);
        machine.swap_bytes = read_swap();
        machine.has_psi = has_pressure();
        machine.has_tmpfs = has_file_system("tmpfs");
        if (machine.is_booted == ANSWER_YES)
                machine.is_lingering = read_lingering();
        *ret_machine = machine;
}

void machine_clear(Machine *machine) {
        g_free(machine->kernel);
        g_free(machine->user_namespace_remedy);
        g_free(machine->selinux);
        cgroup_controllers_clear(&machine->controllers);
        *machine = (Machine)MACHINE_INIT;
}

const char *machine_cgroup_word(const Machine *machine) {
        bool has_unified = machine->controllers.unified, has_legacy = machine->controllers.legacy;

        if (has_unified && has_legacy)
                return "mixed";
        return has_unified ? "v2" : has_legacy ? "v1" : NULL;
}
