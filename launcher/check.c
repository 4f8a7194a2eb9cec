/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything here is read from the kernel while the gate waits. */

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "launcher/kernel/error.h"
#include "launcher/kernel/pidfd.h"
#include "launcher/kernel/user-namespace.h"
#include "launcher/net/filter.h"
#include "launcher/rundir.h"
#include "launcher/walls.h"
#include "units/extra.h"
#include "units/text.h"

#define DIRECTORY_SHOWN 80

/* A user that the manager makes up has a read-only / in a place where an empty one would be. */
static bool needs_empty_root(const CheckSource *source) {
        const IsolationSet *set = &source->settings->spec->isolation;

        return set->is_untrusted && set->has_strict_fs &&
               source->settings->door->kind == MANAGER_SYSTEM && !source->settings->spec->user;
}

bool check_open(CheckSource *source, GError **error) {
        const LaunchSettings *settings = source->settings;

        if (!enclosing_make(settings->spec, settings->is_best_effort, &source->enclosing, error))
                return false;
        if (needs_empty_root(source))
                source->empty_root = rundir_make(settings->door->guard_dir, RUNDIR_ROOT,
                                                 settings->spec->id, 0755, error);
        return source->empty_root || !needs_empty_root(source);
}

void check_clear(CheckSource *source) {
        enclosing_clear(&source->enclosing);
        g_clear_pointer(&source->cgroup, cgroup_free);
        rundir_remove(source->empty_root);
        g_clear_pointer(&source->empty_root, g_free);
}

void check_prepare(const CheckSource *source, ComposeContext *context) {
        bool is_best_effort = source->settings->is_best_effort;

        context->gate_path = source->gate_path;
        context->has_stand_ins = is_best_effort &&
                                 readback_has_stand_ins(&source->settings->spec->limits);
        context->is_unprivileged = door_is_unprivileged(source->settings->door);
        context->is_booted = source->settings->door->kind != MANAGER_PRIVATE;
        context->is_system = source->settings->door->kind == MANAGER_SYSTEM;
        context->nice = source->settings->caller->nice;
        context->systemd_major = source->settings->door->systemd_major;
        context->empty_root = source->empty_root;
        context->counts_network = source->settings->is_network_counted;
        context->without_accounting = cgroup_is_version_1("memory");
        context->without_isolation = is_best_effort && context->is_unprivileged &&
                                     isolation_any(&source->settings->spec->isolation) &&
                                     !user_namespace_can_be_had();
}

static const char *const namespace_words[_GATE_NS_MAX] = {
        [GATE_NS_MNT] = "mount",     [GATE_NS_NET] = "network", [GATE_NS_PID] = "pid",
        [GATE_NS_USER] = "user",     [GATE_NS_IPC] = "IPC",     [GATE_NS_UTS] = "host name",
        [GATE_NS_CGROUP] = "cgroup", [GATE_NS_TIME] = "time",
};

static const unsigned namespace_owns[_GATE_NS_MAX] = {
        [GATE_NS_MNT] = EXTRA_OWN_MOUNT,     [GATE_NS_NET] = EXTRA_OWN_NETWORK,
        [GATE_NS_PID] = EXTRA_OWN_PID,       [GATE_NS_USER] = EXTRA_OWN_USER,
        [GATE_NS_IPC] = EXTRA_OWN_IPC,       [GATE_NS_UTS] = EXTRA_OWN_UTS,
        [GATE_NS_CGROUP] = EXTRA_OWN_CGROUP, [GATE_NS_TIME] = 0,
};

/* A unit runs in the manager's namespaces, but for those that it was to have of its own. Where those are not the caller's,
 * the program would see another network or another / without anybody having asked for it. */
static bool check_shared(const CheckSource *source, GateNamespace kind, GError **error) {
        uint64_t inside = gate_channel_world(source->gate)->namespaces[kind];
        uint64_t ours = source->settings->caller->world.namespaces[kind];

        if ((source->settings->door->own_namespaces & (1U << kind)) ||
            ((extra_own_namespaces(source->settings->spec->extra) |
              isolation_own_namespaces(&source->settings->spec->isolation)) &
             namespace_owns[kind]))
                return true;
        if (inside == 0 || ours == 0 || inside == ours)
                return true;
        g_set_error(
                error, LAUNCHER_ERROR, LAUNCHER_ERROR_NAMESPACE,
                "the caller is in another %s namespace than the %s manager; --private starts one in the caller's",
                namespace_words[kind], manager_kind_word(source->settings->door->kind));
        return false;
}

/* One that called chroot(2) sees other files than the manager in the same mount namespace. */
static bool check_root(const CheckSource *source, GError **error) {
        const GateWorld *inside = gate_channel_world(source->gate);
        const GateWorld *ours = &source->settings->caller->world;

        if ((source->settings->door->own_namespaces & (1U << GATE_NS_MNT)) ||
            ((extra_own_namespaces(source->settings->spec->extra) |
              isolation_own_namespaces(&source->settings->spec->isolation)) &
             EXTRA_OWN_MOUNT))
                return true;
        if (inside->root_ino == 0 || ours->root_ino == 0 ||
            (inside->root_dev == ours->root_dev && inside->root_ino == ours->root_ino))
                return true;
        g_set_error(
                error, LAUNCHER_ERROR, LAUNCHER_ERROR_NAMESPACE,
                "the caller has another root directory than the %s manager; --private starts one in the caller's",
                manager_kind_word(source->settings->door->kind));
        return false;
}

/* A user manager of systemd 252 drops what it cannot do, without a word (FACTS). */
static bool check_own(const CheckSource *source, GateNamespace kind, GError **error) {
        uint64_t inside = gate_channel_world(source->gate)->namespaces[kind];

        if (!(extra_asked_namespaces(source->settings->spec->extra) & namespace_owns[kind]) ||
            inside == 0 || inside != source->settings->caller->world.namespaces[kind])
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "-p: a %s namespace of its own was asked for, and this manager gave none; "
                    "with -p PrivateUsers=yes it may, or with --system",
                    namespace_words[kind]);
        return false;
}

bool check_world(const CheckSource *source, GError **error) {
        for (int i = 0; i < _GATE_NS_MAX; i++)
                if (!check_shared(source, (GateNamespace)i, error) ||
                    !check_own(source, (GateNamespace)i, error))
                        return false;
        return check_root(source, error);
}

/* In a user namespace of its own the gate sees no other group than its first: whether it has the caller's is seen from
 * outside. */
static bool has_groups(const Caller *caller, pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
        g_autofree char *status = NULL;
        g_autofree char *group = g_strdup_printf("\nGid:\t%u\t%u\t", (unsigned)caller->gid,
                                                 (unsigned)caller->gid);
        g_autoptr(GString) wanted = g_string_new("\nGroups:\t");

        for (uint32_t i = 0; i < caller->group_count; i++)
                g_string_append_printf(wanted, "%u ", (unsigned)caller->groups[i]);
        g_string_append(wanted, caller->group_count > 0 ? "\n" : " \n");
        return g_file_get_contents(path, &status, NULL, NULL) && strstr(status, group) &&
               strstr(status, wanted->str);
}

void check_look_ahead(CheckSource *source) {
        if (!source->cgroup)
                source->cgroup = cgroup_new();
}

bool check_gate(CheckSource *source, Cgroup **ret_cgroup, Readback *ret_readback, GError **error) {
        g_autoptr(Cgroup) cgroup = NULL;
        g_autoptr(GError) reason = NULL;
        pid_t pid = pidfd_process(gate_channel_pidfd(source->gate));

        check_look_ahead(source);
        cgroup = g_steal_pointer(&source->cgroup);
        if (!cgroup_enter(cgroup, pid, source->slice, error))
                return false;
        if (isolation_any(&source->settings->spec->isolation) &&
            has_groups(source->settings->caller, pid))
                gate_channel_take_back(source->gate, GATE_UNAPPLIED_GROUPS);
        cgroup_watch_memory(cgroup);
        if (source->settings->spec->is_scope)
                cgroup_join_for_memory(cgroup);
        if (!readback_check(&source->settings->spec->limits, cgroup,
                            gate_channel_hello(source->gate), ret_readback, &reason) &&
            !source->settings->is_best_effort) {
                g_propagate_error(error, g_steal_pointer(&reason));
                return false;
        }
        ret_readback->limits[LIMIT_DISK].is_enforced = source->settings->disk != NULL;
        if (reason)
                readback_add_stand_ins(&source->settings->spec->limits, pid, ret_readback);
        g_clear_error(&reason);
        if (!walls_check(&source->settings->spec->isolation,
                         &(WallsContext){
                                 .pid = pid,
                                 .caller = source->settings->caller,
                                 .hello = gate_channel_hello(source->gate),
                                 .gate_path = source->gate_path,
                                 .is_own_user = source->settings->door->kind == MANAGER_SYSTEM &&
                                                !source->settings->spec->user,
                                 .is_caller = door_is_unprivileged(source->settings->door) },
                         ret_readback, &reason) &&
            !source->settings->is_best_effort) {
                g_propagate_error(error, g_steal_pointer(&reason));
                return false;
        }
        g_clear_error(&reason);
        if (!filter_check(&source->settings->spec->isolation, cgroup, pid,
                          gate_channel_hello(source->gate), ret_readback, &reason) &&
            !source->settings->is_best_effort) {
                g_propagate_error(error, g_steal_pointer(&reason));
                return false;
        }

        *ret_cgroup = g_steal_pointer(&cgroup);
        return true;
}

static void explain_directory(const CheckSource *source, GError **error) {
        const char *directory = source->settings->caller->directory;
        g_autofree char *shown = text_printable(directory, DIRECTORY_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_DIRECTORY,
                    "--%s: the working directory \"%s\" is not there inside; --rw shows it, -C "
                    "names another",
                    isolation_hides(&source->settings->spec->isolation, directory), shown);
}

/* Other namespaces explain the rest: a directory that is not there, or another one. */
void check_explain_failure(const CheckSource *source, GError **error) {
        const GateFailure *failure = gate_channel_failure(source->gate);
        static const struct {
                LauncherError code;
                const char *words;
        } stages[] = {
                [GATE_AT_REQUEST] = { LAUNCHER_ERROR_GATE, "the gate could not read its request" },
                [GATE_AT_DIRECTORY] = { LAUNCHER_ERROR_DIRECTORY,
                                        "the program cannot enter the working directory" },
                [GATE_AT_STDIO] = { LAUNCHER_ERROR_GATE,
                                    "the standard streams could not be set up" },
                [GATE_AT_INIT] = { LAUNCHER_ERROR_GATE,
                                   "no process 1 of its own could be made (it is one of --tasks)" },
                [GATE_AT_USER] = { LAUNCHER_ERROR_GATE,
                                   "the program cannot be that user or group" },
                [GATE_AT_ENCLOSURE] = { LAUNCHER_ERROR_GATE, "its isolation could not be made" },
                [GATE_AT_TERMINAL] = { LAUNCHER_ERROR_GATE,
                                       "the terminal could not become the program's own" },
                [GATE_AT_EXEC] = { LAUNCHER_ERROR_GATE, "the program could not be executed" },
        };
        size_t stage = MIN(failure->stage, G_N_ELEMENTS(stages) - 1);
        const char *hint = "";

        if (failure->stage == GATE_AT_ENCLOSURE && source->enclosing.enclosure) {
                walls_explain_step(&source->settings->spec->isolation, source->enclosing.enclosure,
                                   source->enclosing.no_permits, failure, error);
                return;
        }
        if (!check_world(source, error))
                return;
        if (failure->stage == GATE_AT_DIRECTORY &&
            isolation_hides(&source->settings->spec->isolation,
                            source->settings->caller->directory)) {
                explain_directory(source, error);
                return;
        }
        if (failure->stage == GATE_AT_DIRECTORY && failure->error_number == EACCES &&
            source->settings->spec->isolation.is_untrusted)
                hint = "; with --untrusted it is another user, for whom the directory is not open: "
                       "--uid names one for whom it is";
        g_set_error(error, LAUNCHER_ERROR, (int)stages[stage].code, "%s: %s%s", stages[stage].words,
                    g_strerror(failure->error_number), hint);
}

/* Statuses from 200 on are systemd's own, for what it could not do before the gate was executed. */
static const struct {
        int status;
        const char *words;
} early_ends[] = {
        { 200, "it cannot enter its working directory" },
        { 203,
          "it cannot be executed there: a -p that hides files or a file system without exec may hide cordon's own gate" },
        { 215, "it may use none of the CPUs of -p CPUAffinity" },
        { 216, "its group cannot be had from this manager" },
        { 217, "its user cannot be had from this manager" },
        { 233, "its RuntimeDirectory= cannot be made" },
        { 238, "its StateDirectory= cannot be made" },
        { 239, "its CacheDirectory= cannot be made" },
        { 240, "its LogsDirectory= cannot be made" },
        { 241, "its ConfigurationDirectory= cannot be made" },
        { 226, "its namespaces cannot be set up: see the -p that ask for them" },
};

/* Networks and mounts; users, where the unit was to have no other reason to fail at that. */
static bool is_namespace_status(int status, bool is_unprivileged) {
        return status == 225 || status == 226 || (status == 217 && is_unprivileged);
}

void check_explain_end(const CheckSource *source, const UnitState *state, GError **error) {
        const UnitSnapshot *snapshot = &state->snapshot;
        bool is_status = snapshot->exec_main_code == CLD_EXITED;

        if (is_status &&
            is_namespace_status(snapshot->exec_main_status,
                                door_is_unprivileged(source->settings->door)) &&
            isolation_any(&source->settings->spec->isolation)) {
                walls_explain(&source->settings->spec->isolation,
                              door_is_unprivileged(source->settings->door),
                              snapshot->exec_main_status, error);
                return;
        }

        for (size_t i = 0; is_status && i < G_N_ELEMENTS(early_ends); i++)
                if (snapshot->exec_main_status == early_ends[i].status) {
                        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_GATE,
                                    "the unit did not start (status %d): %s", early_ends[i].status,
                                    early_ends[i].words);
                        return;
                }
        if (snapshot->exec_main_code != CLD_EXITED && snapshot->exec_main_status == SIGSYS) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_GATE,
                            "the unit did not start (SIGSYS): -p SystemCallFilter forbids what "
                            "starts the program");
                return;
        }
        g_set_error(
                error, LAUNCHER_ERROR, LAUNCHER_ERROR_GATE,
                "the gate ended before the program could be started (start job %s, unit result %s, %s %d)",
                state->job_result ?: "under way", snapshot->result ?: "unknown",
                is_status ? "status" : "signal", snapshot->exec_main_status);
}
