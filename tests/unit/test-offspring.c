/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A gate that is a child of ours, in the place of which a script says what it was given. */

#include "launcher/offspring.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/nursery.h"

#define BIT(number) (UINT64_C(1) << ((number)-1))

#define SCRIPT "#!/bin/sh\ncat /proc/self/status >\"$1\"\n"

static const struct {
        int number;
        void (*before)(int);
        bool is_ignored;
        const char *name;
} rows[] = {
        { SIGINT, SIG_IGN, true, "Ctrl-C, where the caller ignores it, cannot end it" },
        { SIGQUIT, SIG_IGN, true, "nor can Ctrl-\\" },
        { SIGTSTP, SIG_IGN, true, "nor can Ctrl-Z stop it" },
        { SIGHUP, SIG_DFL, false, "what is not ignored is not" },
        { SIGPIPE, SIG_IGN, false, "what we ignore for ourselves it does not" },
        { SIGXFSZ, SIG_IGN, false, "SIGXFSZ neither: it tells of a limit" },
};

static char *make_script(void) {
        char *path;
        int fd = g_file_open_tmp("cordon-offspring-XXXXXX", &path, NULL);

        if (fd < 0 || write(fd, SCRIPT, strlen(SCRIPT)) < 0 || fchmod(fd, 0700) < 0)
                BAIL_OUT("no script: %s", strerror(errno));
        (void)close(fd);
        return path;
}

static uint64_t ignored_by(const char *status) {
        const char *found = strstr(status, "SigIgn:");

        return found ? g_ascii_strtoull(found + strlen("SigIgn:"), NULL, 16) : 0;
}

static void test_signals(sd_event *event) {
        g_autofree char *script = make_script(), *status = g_strconcat(script, ".status", NULL);
        g_autofree char *text = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(Nursery) nursery = NULL;
        Offspring offspring = { 0 };
        siginfo_t info;

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                (void)signal(rows[i].number, rows[i].before);
        nursery = nursery_new(event);
        offspring.nursery = nursery;
        if (!offspring_start(&offspring, script, status, "",
                             BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTSTP), STDIN_FILENO, &error))
                BAIL_OUT("%s", error->message);
        (void)waitid(P_PID, (id_t)offspring.pid, &info, WEXITED | WNOWAIT);
        offspring_reap(&offspring);
        ok(offspring.is_dead && offspring.pid != 0, "it is not reaped before it is taken");
        offspring_take(&offspring);
        ok(offspring.pid == 0 && offspring.code == CLD_EXITED && offspring.status == 0,
           "and then its status is known");
        (void)g_file_get_contents(status, &text, NULL, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                cmp_ok(ignored_by(text ?: "") >> (rows[i].number - 1) & 1, "==", rows[i].is_ignored,
                       "%s", rows[i].name);
        (void)unlink(script);
        (void)unlink(status);
}

static void test_missing(sd_event *event) {
        g_autoptr(Nursery) nursery = nursery_new(event);
        g_autoptr(GError) error = NULL;
        Offspring offspring = { .nursery = nursery };

        ok(!offspring_start(&offspring, "/nowhere/gate", "x", "x", 0, STDIN_FILENO, &error) &&
                   offspring.pid == 0,
           "one that cannot be executed is none");
        is(error ? error->message : "", "cannot execute /nowhere/gate: No such file or directory",
           "and the reason is told");
}

int main(void) {
        sd_event *event;

        if (sd_event_new(&event) < 0)
                BAIL_OUT("no event loop");
        test_signals(event);
        test_missing(event);
        sd_event_unref(event);
        done_testing();
}
