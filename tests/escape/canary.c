/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "canary.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

#define SECRET_SHOWN 16
#define DEATH_USEC   (2 * KIT_SEC)

static void become(const char *program, const char *secret, int output) {
        int file = open(stage_known("secret-file"), O_RDONLY);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setenv("ESCAPE_SECRET", secret, 1);
        (void)chdir(stage_known("outside"));
        (void)dup2(output, STDOUT_FILENO);
        (void)dup2(file, CANARY_FD);
        (void)execl(program, program, "alone", "canary", secret, NULL);
        _exit(127);
}

Canary canary_start(const char *name) {
        g_autofree char *program = kit_program("attempt");
        g_autofree char *address_key = g_strconcat(name, "-address", NULL);
        Canary canary = { 0 };
        char line[64] = "";
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        canary.pid = fork();
        if (canary.pid == 0)
                become(program, stage_known("secret"), ends[1]);
        (void)close(ends[1]);
        if (read(ends[0], line, sizeof line - 1) <= 0)
                BAIL_OUT("the canary does not sing");
        (void)close(ends[0]);
        canary.address = strtoul(line, NULL, 16);
        canary.pidfd = pidfd_open(canary.pid, 0);
        stage_know(name, "%d", (int)canary.pid);
        stage_know(address_key, "%lx", canary.address);
        return canary;
}

void canary_end(Canary *canary) {
        (void)kill(canary->pid, SIGKILL);
        (void)waitpid(canary->pid, NULL, 0);
        (void)close(canary->pidfd);
}

bool canary_is_dead(const Canary *canary) {
        return kit_wait_process(canary->pidfd, kit_is_slow() ? DEATH_USEC : DEATH_USEC / 10);
}

char *canary_status(const Canary *canary, const char *file, const char *field) {
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)canary->pid, file);
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return g_strdup("");
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, field))
                        return g_strstrip(g_strdup(*line + strlen(field)));
        return g_strdup("");
}

char *canary_memory(const Canary *canary) {
        g_autofree char *path = g_strdup_printf("/proc/%d/mem", (int)canary->pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[SECRET_SHOWN + 1] = "";

        if (fd >= 0) {
                (void)!pread(fd, text, SECRET_SHOWN, (off_t)canary->address);
                (void)close(fd);
        }
        return g_strdup(text);
}
