/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Using a private manager as a launcher does. */

#include "use.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/manager/private.h"
#include "traces.h"

#include <tap.h>

char *cordon_path(void) {
        const char *named = g_getenv("CORDON");

        return named ? g_strdup(named) : g_find_program_in_path("cordon");
}

/* Beside it in a build tree; where it is installed, below libexec. */
char *keeper_path(int argc, char *argv[]) {
        g_autofree char *cordon = cordon_path(), *directory = NULL, *beside = NULL;

        if (argc > 1)
                return g_canonicalize_filename(argv[1], NULL);
        directory = cordon ? g_path_get_dirname(cordon) : g_strdup(".");
        beside = g_build_filename(directory, "cordon-keeper", NULL);
        if (g_file_test(beside, G_FILE_TEST_EXISTS))
                return g_steal_pointer(&beside);
        return g_build_filename(directory, "..", "libexec", "cordon", "cordon-keeper", NULL);
}

/* Not a mount over /run/cordon: a directory that is removed takes the mounts on it along, in all namespaces. */
bool use_apart(void) {
        g_autofree char *source = NULL;
        bool is_apart;
        int old;

        if (unshare(CLONE_NEWUTS | CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return false;

        old = open("/run/systemd", O_PATH | O_DIRECTORY | O_CLOEXEC);
        source = g_strdup_printf("/proc/self/fd/%d", old);
        is_apart = mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") >= 0 &&
                   (old < 0 || (mkdir("/run/systemd", 0755) >= 0 &&
                                mount(source, "/run/systemd", NULL, MS_BIND | MS_REC, NULL) >= 0));
        if (old >= 0)
                (void)close(old);
        return is_apart;
}

Use use_begin(const char *keeper, uint64_t idle_usec) {
        PrivateSettings settings = { .keeper_path = keeper, .idle_usec = idle_usec };
        Use use = { .hold_fd = -1 };

        if (!private_manager_ensure(&settings, &use.dir, &use.hold_fd, &use.error))
                diag("%s", use.error->message);
        return use;
}

void use_end(Use *use) {
        if (use->hold_fd >= 0)
                (void)close(use->hold_fd);
        use->hold_fd = -1;
        g_clear_pointer(&use->dir, g_free);
        g_clear_error(&use->error);
}

/* Tells the keeper to leave and waits until it has. */
void use_leave(Use *use) {
        pid_t keeper = use->dir ? keeper_of(use->dir) : 0;
        int process = process_open(keeper);

        if (keeper > 0)
                (void)kill(keeper, SIGTERM);
        ok(process_ends(process), "a keeper that is told to leave ends");
        use_end(use);
}

static char *first_tree(const char *dir) {
        g_autofree char *path = g_build_filename(dir, "ground", NULL);
        g_autofree char *text = NULL;
        const char *tree;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return NULL;
        tree = strstr(text, "\ntree ");
        return tree ? g_strndup(tree + 6, strcspn(tree + 6, "\n")) : NULL;
}

/* A process like one of a service: in a group below the manager's, and nobody's child. */
int process_left_behind(const char *dir) {
        if (geteuid() != 0) {
                pass("(a normal user may not move processes from his session to his manager)");
                return -1;
        }

        g_autofree char *tree = first_tree(dir);
        g_autofree char *group = g_build_filename(tree, "left", NULL);
        g_autofree char *procs = g_build_filename(group, "cgroup.procs", NULL);
        pid_t child = fork();
        int process;
        FILE *file;

        if (child == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void)signal(SIGTERM, SIG_IGN);
                for (;;)
                        (void)pause();
        }
        process = process_open(child);
        (void)mkdir(group, 0755);
        file = fopen(procs, "we");
        ok(file && fprintf(file, "%d", (int)child) > 0 && fclose(file) == 0,
           "a process is put into the manager's groups");
        return process;
}
