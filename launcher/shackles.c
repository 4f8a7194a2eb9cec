/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shackles.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static const struct {
        const char *line, *value;
        const char *wrong;
} wanted[] = {
        { "NoNewPrivs", "1", "it can get new privileges" },
        { "Seccomp", "2", "no system call filter holds (is systemd without libseccomp?)" },
        { "CapInh", "0000000000000000", "it has capabilities to hand on" },
        { "CapPrm", "0000000000000000", "it has capabilities" },
        { "CapEff", "0000000000000000", "it has capabilities" },
        { "CapBnd", "0000000000000000", "it can get capabilities" },
        { "CapAmb", "0000000000000000", "it has capabilities to hand on" },
};

static bool has_line(const char *status, const char *name, const char *value) {
        g_autofree char *line = g_strdup_printf("\n%s:\t%s\n", name, value);

        return strstr(status, line);
}

const char *shackles_check(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
        g_autofree char *status = NULL;

        if (!g_file_get_contents(path, &status, NULL, NULL))
                return "its state cannot be read";
        for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
                if (!has_line(status, wanted[i].line, wanted[i].value))
                        return wanted[i].wrong;
        return NULL;
}
