/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Executed and not only forked: whatever is ours alone (connections, threads, memory) stays behind by itself. */

#include "offspring.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "nursery.h"

/* The caller's signals are applied by the gate: from here it gets a clean slate, but for what he ignores. It is in his
 * process group, where Ctrl-C would end it, and Ctrl-Z stop it, before it has come so far. */
static int set_signals(posix_spawnattr_t *attributes, uint64_t ignored) {
        sigset_t none, ordinary;

        (void)sigemptyset(&none);
        (void)sigfillset(&ordinary);
        for (int i = 1; i < NSIG; i++)
                if (ignored & (UINT64_C(1) << (i - 1)))
                        (void)sigdelset(&ordinary, i);
        (void)posix_spawnattr_setsigmask(attributes, &none);
        (void)posix_spawnattr_setsigdefault(attributes, &ordinary);
        return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t *ret_pid, const char *path, char *const argv[], uint64_t ignored,
                 int channel) {
        char *const no_environment[] = { NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        int number;

        (void)posix_spawn_file_actions_init(&actions);
        (void)posix_spawnattr_init(&attributes);
        number = posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
        if (number == 0)
                number = set_signals(&attributes, ignored);
        if (number == 0)
                number = posix_spawn(ret_pid, path, &actions, &attributes, argv, no_environment);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
        return number;
}

bool offspring_start(Offspring *offspring, const char *gate_path, const char *id, const char *owner,
                     uint64_t ignored, int channel, GError **error) {
        char *const argv[] = { (char *)"cordon-gate", (char *)id, (char *)owner, NULL };
        int number;

        number = spawn(&offspring->pid, gate_path, argv, ignored, channel);
        if (number == 0) {
                nursery_add(offspring->nursery, offspring);
                return true;
        }
        offspring->pid = 0;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot execute %s: %s",
                    gate_path, g_strerror(number));
        return false;
}

void offspring_reap(Offspring *offspring) {
        siginfo_t info = { 0 };
        int keep = offspring->is_taken ? 0 : WNOWAIT;

        if (offspring->pid == 0 ||
            waitid(P_PID, (id_t)offspring->pid, &info, WEXITED | WNOHANG | keep) < 0 ||
            info.si_pid == 0)
                return;
        offspring->is_dead = true;
        offspring->code = info.si_code;
        offspring->status = info.si_status;
        if (!offspring->is_taken)
                return;
        nursery_remove(offspring->nursery, offspring);
        offspring->pid = 0;
}

void offspring_take(Offspring *offspring) {
        offspring->is_taken = true;
        nursery_take(offspring->nursery, offspring);
        offspring_reap(offspring);
}

void offspring_end(Offspring *offspring) {
        if (offspring->pid != 0)
                (void)kill(offspring->pid, SIGKILL);
        offspring_take(offspring);
        nursery_remove(offspring->nursery, offspring); /* who is still dying is reaped later */
}
