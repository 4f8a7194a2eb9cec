/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Out of the control groups, by their files, by mounts, by namespaces. Whether a limit has been widened is read from the
 * slice, who has joined a group from the group. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "canary.h"
#include "outside.h"
#include "stage.h"

static char *mount_point;

static bool has_joined(const KitRun *run, const char *verdict) {
        return outside_has_joined();
}

static bool is_wider(const KitRun *run, const char *verdict) {
        g_autofree char *tasks = outside_slice_value(stage_known("slice"), "pids.max");
        g_autofree char *memory = outside_slice_value(stage_known("slice"), "memory.max");
        g_autofree char *memory_v1 = outside_slice_value(stage_known("slice"),
                                                         "memory.limit_in_bytes");

        return (tasks && !g_str_equal(tasks, "100")) ||
               ((memory ?: memory_v1) && !g_str_equal(memory ?: memory_v1, "268435456"));
}

static bool is_mounted(const KitRun *run, const char *verdict) {
        return outside_is_mounted(mount_point);
}

/* clang-format off */
static const Trial trials[] = {
        { "cgroup-mount",          { "@slice" },          NULL },
        { "cgroup-agent",          { NULL },              NULL },
        { "cgroup-join",           { "@manager-groups" }, has_joined },
        { "cgroup-limits",         { "@slice" },          is_wider },
        { "user-namespace",        { NULL },              NULL },
        { "user-namespace-clone3", { NULL },              NULL },
        { "other-namespaces",      { NULL },              NULL },
        { "join-namespace",        { "@canary" },         NULL },
        { "mount",                 { "@mount-point" },    is_mounted },
        { "remount",               { "@manager-mounts" }, NULL },
        { "unmount",               { "@manager-mounts" }, NULL },
        { "open-mount-tree",       { "/" },               NULL },
        { "chroot",                { "/" },               NULL },
};
/* clang-format on */

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_UNTRUSTED };
        Canary canary;

        stage_begin();
        outside_know_manager();
        canary = canary_start("canary");
        mount_point = g_build_filename(stage_known("directory"), "outside", "mount", NULL);
        (void)mkdir(mount_point, 0755);
        stage_know("mount-point", "%s", mount_point);
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                stage_try(stages[i], "cgroup", trials, G_N_ELEMENTS(trials));
                outside_unmount(mount_point);
        }
        stage_covers("cgroup", trials, G_N_ELEMENTS(trials));
        canary_end(&canary);
        g_free(mount_point);
        stage_end();
        done_testing();
}
