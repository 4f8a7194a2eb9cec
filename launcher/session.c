/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "session.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/net/start.h"
#include "units/extra.h"
#include "units/nearest.h"

#define NOBODY "nobody"

bool session_choose_manager(ManagerKind *manager, GError **error) {
        const char *word = g_getenv("CORDON_MANAGER");

        if (*manager != MANAGER_AUTO || !word || word[0] == '\0')
                return true;
        if (manager_kind_from_word(word, manager))
                return true;

        static const char *const words[] = { "system", "user", "private", NULL };
        g_autofree char *meant = nearest_of(word, words);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                    "CORDON_MANAGER: \"%s\" is not a manager%s; accepted: system, user, private",
                    word, meant);
        return false;
}

bool session_choose_terminal(Options *options, GError **error) {
        bool is_attended = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !options->input &&
                           !options->is_capture && !options->is_detach && !options->is_scope;
        const char *wrong = NULL;

        if (options->pty == PTY_AUTO)
                options->pty = is_attended ? PTY_YES : PTY_NO;
        if (options->pty == PTY_YES && options->is_detach)
                wrong = "not with --detach, which leaves nobody at the terminal";
        else if (options->pty == PTY_YES && options->is_scope)
                wrong = "not with --scope, whose program keeps the caller's terminal";
        if (!wrong || options->is_help)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE, "--pty: %s", wrong);
        return false;
}

void session_lift_own_limits(void) {
        static const int resources[] = { RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_DATA, RLIMIT_AS };
        struct rlimit limit;

        (void)signal(SIGXFSZ, SIG_IGN);
        (void)signal(SIGCHLD, SIG_DFL); /* who ignores it never learns how helpers of ours ended */
        for (size_t i = 0; i < G_N_ELEMENTS(resources); i++)
                if (getrlimit((__rlimit_resource_t)resources[i], &limit) == 0 &&
                    limit.rlim_cur != limit.rlim_max) {
                        limit.rlim_cur = limit.rlim_max;
                        (void)setrlimit((__rlimit_resource_t)resources[i], &limit);
                }
}

bool session_enter_pool(const Options *options, int caller_fd, PoolFullHandler full,
                        PoolSlot **ret_slot, GError **error) {
        PoolSettings settings = {
                .name = options->pool,
                .max = options->max_parallel,
                .is_refused = options->is_refused_on_full,
                .full = options->is_verbose ? full : NULL,
        };

        if (options->max_parallel == 0)
                return true;
        *ret_slot = pool_enter(&settings, caller_fd, error);
        return *ret_slot != NULL;
}

void session_choose_user(const Door *door, Spec *spec) {
        bool is_system = door->kind == MANAGER_SYSTEM;

        if (spec->user || spec->is_scope)
                return;
        if (spec->isolation.is_untrusted && !door_is_unprivileged(door) && !is_system)
                spec->user = g_strdup(NOBODY);
        if (!is_system || geteuid() == 0 || spec->isolation.is_untrusted)
                return;
        spec->user = g_strdup_printf("%u", (unsigned)geteuid());
        if (!spec->group)
                spec->group = g_strdup_printf("%u", (unsigned)getegid());
}

static bool check_extra(const Door *door, const Spec *spec, GError **error) {
        const char *dropped = extra_needs_bpf(spec->extra);

        if (!dropped || !door_is_unprivileged(door))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "-p: %s cannot be enforced here: a %s manager without privileges drops it (no "
                    "BPF); use --system, or give --best-effort",
                    dropped, manager_kind_word(door->kind));
        return false;
}

/* A scope has a child of the caller's in it. */
static bool check_scope(const LaunchSettings *settings, const Spec *spec, GError **error) {
        if (!spec->is_scope || door_counts_as_we_do(settings->door, settings->caller))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_NAMESPACE,
                    "--scope: the %s manager is in another pid namespace and would take another "
                    "process for the program; --private starts one in the caller's",
                    manager_kind_word(settings->door->kind));
        return false;
}

bool session_settle(const LaunchSettings *settings, Spec *spec, char **ret_pins, GError **error) {
        if (!check_scope(settings, spec, error))
                return false;
        session_choose_user(settings->door, spec);
        return (settings->is_best_effort || check_extra(settings->door, spec, error)) &&
               net_start(settings, ret_pins, error);
}
