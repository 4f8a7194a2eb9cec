/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A caller in namespaces of its own gets them for its program, or a refusal; never those of the manager without a
 * word. In a scope it gets them nearly always: its program is its own child. What the caller has is said by the caller itself, on the same output, before it becomes cordon. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define UNPREPARED 99
/* The last processes of a pid namespace end with its first, which is the caller: a private manager in it is killed, and
 * what it had no time for is swept when another one leaves (CORDON_PRIVATE_IDLE). */
#define SWEEP_USEC (10 * KIT_SEC)

/* In the child that becomes cordon */

static void write_file(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                _exit(UNPREPARED);
        (void)close(fd);
}

static void say_own(const char *path) {
        char target[64] = "", line[96];
        int n;

        if (readlink(path, target, sizeof target - 1) < 0)
                _exit(UNPREPARED);
        n = snprintf(line, sizeof line, "caller %s\n", target);
        if (write(STDOUT_FILENO, line, (size_t)n) != n)
                _exit(UNPREPARED);
}

static void enter(int flag) {
        if (unshare(flag) < 0)
                _exit(UNPREPARED);
}

/* Some namespaces are only for those who are born after them. Whoever waits here ends as the child does. */
static void be_born(void) {
        int status = 0;
        pid_t child = fork();

        if (child == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                return;
        }
        for (int fd = STDOUT_FILENO; fd < 64; fd++)
                (void)close(fd);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void prepare_network(void) {
        enter(CLONE_NEWNET);
        say_own("/proc/self/ns/net");
}

static void prepare_host_name(void) {
        enter(CLONE_NEWUTS);
        say_own("/proc/self/ns/uts");
}

static void prepare_ipc(void) {
        enter(CLONE_NEWIPC);
        say_own("/proc/self/ns/ipc");
}

static void prepare_cgroup(void) {
        enter(CLONE_NEWCGROUP);
        say_own("/proc/self/ns/cgroup");
}

static void prepare_time(void) {
        enter(CLONE_NEWTIME);
        write_file("/proc/self/timens_offsets", "boottime 100000 0\n");
        be_born();
        say_own("/proc/self/ns/time");
}

static void prepare_pid(void) {
        enter(CLONE_NEWPID);
        be_born();
}

static void prepare_pid_and_proc(void) {
        enter(CLONE_NEWPID | CLONE_NEWNS);
        be_born();
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
                _exit(UNPREPARED);
        say_own("/proc/self/ns/pid");
}

static void prepare_pid_unborn(void) {
        enter(CLONE_NEWPID);
}

static void enter_user(unsigned inside) {
        unsigned uid = geteuid(), gid = getegid();
        char line[64];

        enter(CLONE_NEWUSER);
        (void)snprintf(line, sizeof line, "%u %u 1", inside, uid);
        write_file("/proc/self/uid_map", line);
        write_file("/proc/self/setgroups", "deny");
        (void)snprintf(line, sizeof line, "%u %u 1", inside, gid);
        write_file("/proc/self/gid_map", line);
        say_own("/proc/self/ns/user");
}

static void prepare_user_root(void) {
        enter_user(0);
}

static void prepare_user_same(void) {
        enter_user(geteuid());
}

/* The manager may have a mount namespace of its own, so the caller's is known by what is in it. */
static void prepare_mount(void) {
        enter(CLONE_NEWNS);
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", "mounted", "tmpfs", 0, NULL) < 0 || chdir("mounted") < 0 ||
            symlink("caller", "here") < 0)
                _exit(UNPREPARED);
        if (write(STDOUT_FILENO, "caller caller\n", 14) != 14)
                _exit(UNPREPARED);
}

/* What must come of it */

typedef struct {
        const char *name;
        void (*prepare)(void);
        const char *shown; /* the program says where this link leads */
        const char *word;  /* in the refusal */
        const char *
                scope_error; /* for a scope of another's manager; NULL: it has what its caller has */
        const char *scope_message;
        bool has_no_guard;     /* a user's manager has one that takes him for somebody else */
        bool is_for_all;       /* also normal users can have it */
        bool may_lack_cgroups; /* a private manager finds none to live in there, and says so */
} Row;

static const Row rows[] = {
        { "a network", prepare_network, "/proc/self/ns/net", "network" },
        { "a host name", prepare_host_name, "/proc/self/ns/uts", "host name" },
        { "System V IPC", prepare_ipc, "/proc/self/ns/ipc", "IPC" },
        { "mounts", prepare_mount, "here", "mount" },
        { "pids", prepare_pid_and_proc, "/proc/self/ns/pid", "mount", "namespace",
          "--scope: the * manager is in another pid namespace and would take another process for "
          "the program; --private starts one in the caller's" },
        { "time", prepare_time, "/proc/self/ns/time", "time" },
        { "cgroups", prepare_cgroup, "/proc/self/ns/cgroup", "cgroup", "unenforceable",
          "the program is not in a cgroup of * that we can see", .may_lack_cgroups = true },
        { "users, and root there", prepare_user_root, "/proc/self/ns/user", "user",
          .has_no_guard = true, .is_for_all = true },
        { "users, and himself there", prepare_user_same, "/proc/self/ns/user", "user",
          .is_for_all = true },
};

static bool is_private(void) {
        return g_str_equal(kit_manager(), "private");
}

/* The caller has said a line, and the program has said the same, or nothing. */
static void is_same(const KitRun *run, const Row *row) {
        g_autofree char *caller = kit_said(run, "caller");
        g_autofree char *program = kit_said(run, "link");

        is(program ?: "nothing", caller ?: "nothing", "%s: the program has the caller's",
           row->name);
        ok(leftover_wait(run, SWEEP_USEC), "%s: nothing is left", row->name);
}

static void is_refused(const KitRun *run, const Row *row, const char *error, const char *message) {
        g_autofree char *caller = kit_said(run, "caller");
        g_autofree char *said = g_strdup_printf("caller %s\n", caller ?: "nothing");
        g_autofree char *words = g_strdup_printf("cordon: %s\n", message);
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = error,
                             .message = message,
                             .words = words,
                             .said = said };

        expect(run, &refused, row->name);
}

static void test_row(const Row *row) {
        KitOrder order = { .prepare = row->prepare, .command = VICTIM("link", row->shown) };

        skip(!row->is_for_all && geteuid() != 0, 1,
             "n/a: only root unshares %s without a user namespace", row->name);

        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *message = g_strdup_printf(
                "the caller is in another %s namespace than the %s manager; --private starts one "
                "in the caller's",
                row->word, kit_manager());

        if (g_str_equal(kit_manager(), "user") && kit_is_scope() && row->has_no_guard)
                is_refused(run, row, "guard", "no guard could be had, *");
        else if (!is_private() && kit_is_scope() && row->scope_error)
                is_refused(run, row, row->scope_error, row->scope_message);
        else if (!is_private() && !kit_is_scope())
                is_refused(run, row, "namespace", message);
        else if (row->may_lack_cgroups && run->status == 125)
                is_refused(run, row, "manager-unreachable",
                           "* shows only a part of the cgroup tree*");
        else
                is_same(run, row);
        end_skip;
}

static char *runtime_dir; /* of the private manager */

static void prepare_pid_of_user(void) {
        prepare_pid_and_proc();
        g_setenv("CORDON_MANAGER", "user", true);
        g_setenv("XDG_RUNTIME_DIR", runtime_dir, true);
}

/* While another run goes on there is a guard, and who has one run speaks to the manager by it: on a pair of his own making. */
static void test_by_guard(void) {
        static const Expected refused = {
                .outcome = "refused",
                .status = 125,
                .exit_code = ABSENT,
                .error = "namespace",
                .manager = "user",
                .message = "--scope: the user manager is in another pid namespace *",
                .words = "cordon: --scope: the user manager is in another pid namespace *",
                .said = "caller pid:*",
        };
        KitOrder other = { .command = VICTIM("say", "ready", "pause") };
        KitOrder order = { .prepare = prepare_pid_of_user, .command = VICTIM("end") };

        skip(!is_private() || !kit_is_scope() || geteuid() != 0, 8,
             "n/a: root can be in two pid namespaces with a scope of a private manager");

        KitRun *neighbour = kit_start(&other);
        g_autoptr(GPtrArray) dirs = NULL;

        if (!kit_wait_line(neighbour, "ready"))
                BAIL_OUT("a plain run does not start");
        dirs = manager_runtime_dirs();
        cmp_ok(dirs->len, "==", 1, "there is a private manager");
        runtime_dir = g_ptr_array_index(dirs, 0);

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &refused, "pids, by a guard");
        kit_signal(neighbour, SIGTERM);
        kit_finish(neighbour);
        kit_run_free(neighbour);
        end_skip;
}

/* One mount namespace, two roots: only where the manager's is not the caller's anyway, and in a machine that is the
 * test's alone, because the mounts are everybody's. */
static const struct {
        const char *name, *link; /* link NULL: shown as it is */
} root_entries[] = {
        { "usr", NULL },          { "etc", NULL },        { "run", NULL },
        { "proc", NULL },         { "dev", NULL },        { "sys", NULL },
        { "bin", "usr/bin" },     { "sbin", "usr/sbin" }, { "lib", "usr/lib" },
        { "lib64", "usr/lib64" },
};

static bool make_root(const char *root) {
        if (mkdir(root, 0755) < 0 || mount("tmpfs", root, "tmpfs", 0, "mode=0755") < 0)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(root_entries); i++) {
                g_autofree char *source = g_strconcat("/", root_entries[i].name, NULL);
                g_autofree char *target = g_build_filename(root, root_entries[i].name, NULL);
                bool is_made = root_entries[i].link ? symlink(root_entries[i].link, target) == 0
                                                    : mkdir(target, 0755) == 0 &&
                                                              mount(source, target, NULL,
                                                                    MS_BIND | MS_REC, NULL) == 0;

                if (!is_made)
                        return false;
        }
        /* What is unmounted below a shared mount goes wherever that one is, too. */
        return mount(NULL, root, NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void prepare_root(void) {
        if (chroot("root") < 0 || chdir("/proc") < 0)
                _exit(UNPREPARED);
}

static void test_root(void) {
        g_autofree char *root = g_build_filename(kit_directory(), "root", NULL);
        KitOrder order = { .prepare = prepare_root, .command = VICTIM("where") };
        const char *message = "the caller has another root directory than the system manager; "
                              "--private starts one in the caller's";
        g_autofree char *words = g_strdup_printf("cordon: %s\n", message);
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "namespace",
                             .message = message,
                             .words = words };

        skip(!g_str_equal(kit_manager(), "system") || geteuid() != 0 || !g_getenv("CORDON_TEST_VM"),
             4, "n/a: another root is for a machine's own manager");
        if (!make_root(root))
                BAIL_OUT("cannot make another root: %s", strerror(errno));

        g_autoptr(KitRun) run = kit_run(&order);
        Expected inside = { .outcome = "exited", .said = "directory /proc\n*" };

        expect(run, kit_is_scope() ? &inside : &refused, "a root directory");
        (void)umount2(root, MNT_DETACH);
        end_skip;
}

/* Where no manager could be of use. */
static const struct {
        const char *name;
        void (*prepare)(void);
        const char *message;
        bool has_no_threads; /* LeakSanitizer, which wants one in the end, waits for ever */
} useless[] = {
        { "a pid namespace without anybody in it", prepare_pid_unborn,
          "the caller's children would be in another pid namespace than the caller: start cordon "
          "as one of them (unshare --fork)",
          true },
        { "the /proc of another pid namespace", prepare_pid,
          "the caller's /proc is that of another pid namespace: mount one of its own (unshare "
          "--mount-proc)" },
};

static void test_useless(size_t i) {
        KitOrder order = { .prepare = useless[i].prepare, .command = VICTIM("pid") };
        g_autofree char *words = g_strdup_printf("cordon: %s\n", useless[i].message);
        Expected refused = { .outcome = "refused",
                             .status = 125,
                             .exit_code = ABSENT,
                             .error = "namespace",
                             .message = useless[i].message,
                             .words = words };

        skip(geteuid() != 0, 4, "n/a: only root unshares pids without a user namespace");
        skip(useless[i].has_no_threads && kit_is_sanitized(), 4,
             "n/a: LeakSanitizer cannot start its thread there");

        g_autoptr(KitRun) run = kit_run(&order);

        expect(run, &refused, useless[i].name);
        end_skip;
        end_skip;
}

int main(void) {
        g_autofree char *mounted = NULL;

        kit_init();
        mounted = g_build_filename(kit_directory(), "mounted", NULL);
        if (mkdir(mounted, 0755) < 0)
                BAIL_OUT("cannot make %s: %s", mounted, strerror(errno));
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(&rows[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(useless); i++)
                test_useless(i);
        test_by_guard();
        test_root();
        kit_clear();
        done_testing();
}
