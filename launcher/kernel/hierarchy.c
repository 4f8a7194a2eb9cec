/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* They are mounted for as long as the machine runs, and a batch would read the mounts a thousand times. */

#include "hierarchy.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "mount.h"

static const char *const names[_HIERARCHY_MAX] = {
        [HIERARCHY_UNIFIED] = "",        [HIERARCHY_MEMORY] = "memory", [HIERARCHY_CPU] = "cpu",
        [HIERARCHY_CPUACCT] = "cpuacct", [HIERARCHY_PIDS] = "pids",     [HIERARCHY_BLKIO] = "blkio",
        [HIERARCHY_CPUSET] = "cpuset",
};

/* What comes with a controller, in the unified hierarchy; "cpu.stat" is there without any. */
static const struct {
        const char *beginning;
        Hierarchy legacy;
} controlled[] = {
        { "memory.", HIERARCHY_MEMORY }, { "pids.", HIERARCHY_PIDS },
        { "io.", HIERARCHY_BLKIO },      { "cpu.max", HIERARCHY_CPU },
        { "cpuset.", HIERARCHY_CPUSET },
};

static char *roots[_HIERARCHY_MAX];
static bool is_known;

const char *hierarchy_name(Hierarchy hierarchy) {
        return names[hierarchy];
}

Hierarchy hierarchy_named(const char *name, size_t length) {
        for (Hierarchy i = 0; i < _HIERARCHY_MAX; i++)
                if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
                        return i;
        return HIERARCHY_UNIFIED;
}

/* A word of a list with commas. */
static bool list_has(const char *list, const char *word) {
        size_t length = strlen(word);

        for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
                if (strncmp(p, word, length) == 0 && (p[length] == ',' || p[length] == '\0'))
                        return true;
        return false;
}

bool hierarchy_has_controllers(Hierarchy hierarchy, const char *controllers) {
        return hierarchy == HIERARCHY_UNIFIED ? controllers[0] == '\0'
                                              : list_has(controllers, names[hierarchy]);
}

static bool is_mounted_as(Hierarchy hierarchy, const char *type, const char *options) {
        if (hierarchy == HIERARCHY_UNIFIED)
                return strcmp(type, "cgroup2") == 0;
        return strcmp(type, "cgroup") == 0 && list_has(options, names[hierarchy]);
}

/* Where it is and can be seen: that is asked only of those that are wanted. */
static void take_mount(const char *mountpoint, const char *device, const char *type,
                       const char *options) {
        bool is_seen = false;

        for (Hierarchy i = 0; i < _HIERARCHY_MAX; i++) {
                if (roots[i] || !is_mounted_as(i, type, options))
                        continue;
                is_seen = is_seen || mount_is_seen(mountpoint, device);
                if (!is_seen)
                        return;
                roots[i] = g_strdup(mountpoint);
        }
}

/* "… - cgroup2 cgroup2 rw,nsdelegate": the third field is the device, the fifth the mount point, type and options stand
 * behind the dash. */
static void read_mounts(void) {
        g_autofree char *text = file_read_text(AT_FDCWD, "/proc/self/mountinfo");

        if (!text)
                return;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                char device[32], mountpoint[4096], type[64], options[1024];
                const char *behind = strstr(*line, " - cgroup");
                g_autofree char *point = NULL; /* as it is, not as "\\040" */

                if (!behind || sscanf(*line, "%*s %*s %31s %*s %4095s", device, mountpoint) != 2 ||
                    sscanf(behind, " - %63s %*s %1023s", type, options) != 2)
                        continue;
                point = g_strcompress(mountpoint);
                take_mount(point, device, type, options);
        }
}

const char *hierarchy_root(Hierarchy hierarchy) {
        if (!is_known)
                read_mounts();
        is_known = true;
        return roots[hierarchy];
}

void hierarchy_look_again(void) {
        for (int i = 0; i < _HIERARCHY_MAX; i++)
                g_clear_pointer(&roots[i], g_free);
        is_known = false;
}

bool hierarchy_can_have(Hierarchy hierarchy, const char *file) {
        for (size_t i = 0; hierarchy == HIERARCHY_UNIFIED && i < G_N_ELEMENTS(controlled); i++)
                if (g_str_has_prefix(file, controlled[i].beginning))
                        return !hierarchy_root(controlled[i].legacy);
        return true;
}
