/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whole runs of a normal user under a private manager. On a machine that is not booted with systemd the user is a spare
 * one, and root makes what somebody has to give him: a delegated cgroup and a directory. Elsewhere the test is the user,
 * and his own manager gives the cgroup. The hard part is that root looks on from outside: such a manager lives in a user
 * namespace of its own and answers nobody. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "launcher/guard/protocol.h"
#include "leftover.h"
#include "manager.h"

#define USER_ID    64321
#define OTHER_ID   64322
#define UNPREPARED 99
#define CGROUP     "/sys/fs/cgroup"
#define UNIFIED    CGROUP "/unified"
#define TRACKING   CGROUP "/systemd"
#define DEPTH_MAX  12
#define GONE_USEC  (1 * KIT_SEC)
#define LEAVE_USEC (10 * KIT_SEC)

/* Where a user lives. */
typedef struct {
        const char *name;
        bool is_made;      /* by us; else we are the user */
        char *groups[2];   /* ours, in each hierarchy that he has; NULL ends it */
        char *runtime_dir; /* his XDG_RUNTIME_DIR */
        char *everything;  /* all hierarchies of the machine, whatever is mounted over them */
} Ground;

static Ground ground;
static char *victim; /* that everybody can reach */

/* Making it */

/* The programs of a build may be where nobody else gets to. */
static void copy_program(const char *from, const char *name, const char *to) {
        g_autofree char *source = g_build_filename(from, name, NULL);
        g_autofree char *target = g_build_filename(to, name, NULL);
        g_autofree char *bytes = NULL;
        gsize size;

        if (!g_file_get_contents(source, &bytes, &size, NULL) ||
            !g_file_set_contents_full(target, bytes, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0755,
                                      NULL) ||
            chmod(target, 0755) < 0)
                BAIL_OUT("cannot copy %s to %s", source, to);
}

static void copy_programs(const char *to) {
        static const char *const names[] = { "cordon", "cordon-gate", "cordon-guard",
                                             "cordon-keeper" };
        g_autofree char *from = g_path_get_dirname(g_getenv("CORDON") ?: "/usr/bin/cordon");
        g_autofree char *gate = g_build_filename(from, "cordon-gate", NULL);
        g_autofree char *cordon = g_build_filename(to, "cordon", NULL);
        g_autofree char *tests = kit_program("");

        copy_program(tests, "victim", to);
        victim = g_build_filename(to, "victim", NULL);
        if (!g_file_test(gate, G_FILE_TEST_EXISTS))
                return; /* installed */
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                copy_program(from, names[i], to);
        g_setenv("CORDON", cordon, TRUE);
}

/* The path of this process in a hierarchy: "0::/a" for "0:". */
static char *own_path(const char *start, const char *controllers) {
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        (void)g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL);
        lines = g_strsplit(text ?: "", "\n", -1);
        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, ":", 3);

                if (g_strv_length(fields) == 3 && g_str_has_prefix(fields[0], start) &&
                    g_str_equal(fields[1], controllers))
                        return g_strdup(g_str_equal(fields[2], "/") ? "" : fields[2]);
        }
        return NULL;
}

static char *group_path(const char *hierarchy, const char *path) {
        return g_strdup_printf("%s%s/cordon-test-%d", hierarchy, path, (int)getpid());
}

/* What an administrator gives with Delegate=yes: the group, and the files by which one makes groups and enters them. */
static char *make_group(const char *hierarchy, const char *path) {
        static const char *const files[] = { "cgroup.procs", "cgroup.subtree_control",
                                             "cgroup.threads", "tasks" };
        char *group = group_path(hierarchy, path);

        if (mkdir(group, 0755) < 0 || chown(group, USER_ID, USER_ID) < 0)
                BAIL_OUT("cannot make %s: %s", group, strerror(errno));
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *file = g_build_filename(group, files[i], NULL);

                (void)chown(file, USER_ID, USER_ID); /* each version has some of them */
        }
        return group;
}

static void remove_groups(const char *group) {
        g_autoptr(GDir) directory = g_dir_open(group, 0, NULL);

        for (const char *name; directory && (name = g_dir_read_name(directory));) {
                g_autofree char *child = g_build_filename(group, name, NULL);

                if (g_file_test(child, G_FILE_TEST_IS_DIR))
                        remove_groups(child);
        }
        (void)rmdir(group);
}

/* Of two. */
static bool are_groups_gone(const void *groups) {
        bool is_gone = true;

        for (char *const *group = groups; group < (char *const *)groups + 2; group++)
                if (*group) {
                        remove_groups(*group);
                        is_gone = is_gone && access(*group, F_OK) < 0;
                }
        return is_gone;
}

/* Our own directory, and the groups as the machine sees them. */
static char *base, *made_groups[2];

/* Whoever outlives a test that was killed: what it had running in the groups is killed, and all that was made goes. */
static pid_t start_janitor(int *ret_fd) {
        const char *remove[] = { "rm", "-rf", base, NULL };
        int ends[2];
        char nothing;
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe: %s", strerror(errno));
        pid = fork();
        if (pid != 0) {
                (void)close(ends[0]);
                *ret_fd = ends[1];
                return pid;
        }
        (void)setsid();
        for (int fd = 0; fd < 64; fd++)
                if (fd != ends[0])
                        (void)close(fd);
        while (read(ends[0], &nothing, 1) < 0 && errno == EINTR)
                ;
        for (size_t i = 0; i < G_N_ELEMENTS(made_groups); i++) {
                g_autofree char *file = g_build_filename(made_groups[i] ?: "/nowhere",
                                                         "cgroup.kill", NULL);
                int fd = open(file, O_WRONLY | O_CLOEXEC);

                (void)!write(fd, "1", 1);
        }
        (void)kit_wait_until(are_groups_gone, made_groups, LEAVE_USEC);
        (void)execvp(remove[0], (char **)remove);
        _exit(1);
}

/* Becoming the user, in the child that becomes cordon */

static void enter_group(const char *group) {
        g_autofree char *file = g_build_filename(group, "cgroup.procs", NULL);
        int fd = open(file, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, "0", 1) < 0)
                _exit(UNPREPARED);
        (void)close(fd);
}

static void become_user(uid_t uid) {
        if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
                _exit(UNPREPARED);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* forgotten with the change */
}

static void prepare_user(void) {
        (void)setenv("CORDON_PRIVATE_IDLE", kit_is_slow() ? "10s" : "1s", 1);
        if (!ground.is_made)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(ground.groups); i++)
                if (ground.groups[i])
                        enter_group(ground.groups[i]);
        become_user(USER_ID);
        (void)setenv("XDG_RUNTIME_DIR", ground.runtime_dir, 1);
}

static uid_t user_id(void) {
        return ground.is_made ? USER_ID : geteuid();
}

/* Looking */

/* The private manager's own directory; NULL: there is none. */
static char *manager_dir(void) {
        g_autofree char *below = g_build_filename(ground.runtime_dir, "cordon", NULL);
        g_autoptr(GDir) directory = g_dir_open(below, 0, NULL);

        for (const char *name; directory && (name = g_dir_read_name(directory));)
                if (g_str_has_prefix(name, "private-"))
                        return g_build_filename(below, name, NULL);
        return NULL;
}

static void find_groups(GString *found, const char *path, const char *name, int depth) {
        DIR *directory = depth < DEPTH_MAX ? opendir(path) : NULL;
        const struct dirent *entry;

        while (directory && (entry = readdir(directory))) {
                g_autofree char *child = g_build_filename(path, entry->d_name, NULL);

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                if (g_str_has_prefix(entry->d_name, name))
                        g_string_append_printf(found, "cgroup %s\n", child);
                else
                        find_groups(found, child, name, depth + 1);
        }
        if (directory)
                (void)closedir(directory);
}

static void find_processes(GString *found) {
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);

        for (const char *name; ground.is_made && proc && (name = g_dir_read_name(proc));) {
                g_autofree char *path = g_build_filename("/proc", name, NULL);
                struct stat st;

                if (g_ascii_isdigit(name[0]) && stat(path, &st) == 0 && st.st_uid == USER_ID)
                        g_string_append_printf(found, "process %s\n", name);
        }
}

/* Everything of a manager of this name: its groups in any hierarchy, its directory, the user's processes. */
static char *look(const char *name) {
        GString *found = g_string_new(NULL);
        g_autofree char *group = g_strconcat("cordon-", name, NULL);
        g_autofree char *directory = manager_dir();

        find_groups(found, ground.everything, group, 0);
        find_processes(found);
        if (directory && g_str_has_suffix(directory, name))
                g_string_append_printf(found, "directory %s\n", directory);
        return g_string_free(found, FALSE);
}

static bool is_left(const void *name) {
        g_autofree char *found = look(name);

        return found[0] == '\0';
}

/* No groups below it, no controllers for them. */
static void is_as_it_was(const char *group) {
        g_autofree char *path = g_build_filename(group, "cgroup.subtree_control", NULL);
        g_autofree char *controllers = NULL;
        g_autoptr(GString) below = g_string_new(NULL);

        find_groups(below, group, "", 0);
        is(below->str, "", "%s: nothing is below his group", ground.name);
        (void)g_file_get_contents(path, &controllers, NULL, NULL);
        is(controllers ? g_strchomp(controllers) : "", "", "%s: and nothing is enabled in it",
           ground.name);
}

static void nothing_is_left(const char *name) {
        g_autofree char *found = NULL;

        ok(kit_wait_until(is_left, name, kit_patience(LEAVE_USEC)),
           "%s: the manager leaves no cgroup in any hierarchy, no process and no directory",
           ground.name);
        found = look(name);
        if (found[0])
                diag("%s", found);
        for (size_t i = 0; i < G_N_ELEMENTS(ground.groups) && ground.groups[i]; i++)
                is_as_it_was(ground.groups[i]);
}

/* The runs */

static KitRun *start(const char *const *options, const char *const *verbs) {
        g_autoptr(GPtrArray) command = g_ptr_array_new();
        KitOrder order = { .prepare = prepare_user, .options = options, .directory = "/" };

        g_ptr_array_add(command, victim);
        for (; *verbs; verbs++)
                g_ptr_array_add(command, (char *)*verbs);
        g_ptr_array_add(command, NULL);
        order.command = (const char *const *)command->pdata;
        return kit_start(&order);
}

static KitRun *run(const char *const *options, const char *const *verbs) {
        KitRun *started = start(options, verbs);

        kit_finish(started);
        return started;
}

static void ends_as(const KitRun *ended, const char *outcome, int status, const char *name) {
        if (!ok(g_str_equal(record_text(ended, "outcome"), outcome) && ended->status == status,
                "%s: %s: %s, status %d", ground.name, name, outcome, status))
                diag("status %d, %s%s", ended->status, ended->errors->str, ended->record_text->str);
        leftover_check(ended, name);
}

static void test_plain(void) {
        g_autoptr(KitRun)
                ended = run(NULL, WORDS("where", "cat", "/proc/self/cgroup", "exit", "3"));

        ends_as(ended, "exited", 3, "a program that exits with 3");
        cmp_ok(record_number(ended, "exit_code"), "==", 3, "%s: its record has it", ground.name);
        is(record_text(ended, "manager"), "private", "%s: and the manager", ground.name);
        cmp_ok(kit_said_number(ended, "uid"), "==", user_id(), "%s: it is the user's", ground.name);
        ok(g_pattern_match_simple(kit_is_scope()
                                          ? "*\n0::*/cordon-private-*/cordon-test*.scope\n"
                                          : "*\n0::*/cordon-private-*/cordon-test*.service\n",
                                  ended->output->str),
           "%s: and is in a cgroup of his private manager", ground.name);
}

/* What the program closes to everybody is closed to a launcher of the same user. */
static void test_disk(void) {
        g_autofree char *workspace = g_build_filename(ground.runtime_dir, "workspace", NULL);
        g_autofree char *hidden = g_build_filename(workspace, "hidden", NULL);
        g_autofree char *file = g_build_filename(hidden, "file", NULL);
        KitOrder order = { .prepare = prepare_user,
                           .options = WORDS("--disk", "1M", "-C", workspace),
                           .command = WORDS("sh", "-c",
                                            "mkdir -m 0300 hidden && "
                                            "head -c 8M /dev/zero >hidden/file; sleep 300") };

        if (mkdir(workspace, 0755) < 0 ||
            (ground.is_made && chown(workspace, USER_ID, USER_ID) < 0))
                BAIL_OUT("cannot make %s: %s", workspace, strerror(errno));
        {
                g_autoptr(KitRun) ended = kit_run(&order);

                ends_as(ended, "disk", 137, "growth where nobody may look");
                ok(record_has_evidence(ended,
                                       "directories of the workspace that could not be read: 1, *"),
                   "%s: and it is said how that is known", ground.name);
        }
        (void)chmod(hidden, 0700);
        if (unlink(file) < 0 || rmdir(hidden) < 0 || rmdir(workspace) < 0)
                BAIL_OUT("cannot remove %s: %s", workspace, strerror(errno));
}

/* There is such a user, so it is not the name that is wrong. */
static void test_other_user(void) {
        g_autoptr(KitRun) ended = run(WORDS("--uid", "0"), WORDS("say", "ran"));

        ends_as(ended, "refused", 125, "--uid that he may not become");
        is(record_text(ended, "error.code"), "gate", "%s: and why", ground.name);
}

static void test_timeout(void) {
        g_autoptr(KitRun) ended = run(WORDS("--timeout", "300ms"), WORDS("pause"));

        ends_as(ended, "timeout", 124, "a deadline");
}

static bool has_controller(const char *controller) {
        g_autofree char *path = own_path("0", "");
        g_autofree char *group = ground.groups[0] ? g_strdup(ground.groups[0])
                                                  : g_strconcat(CGROUP, path, NULL);
        g_autofree char *file = g_build_filename(group, "cgroup.controllers", NULL);
        g_autofree char *text = NULL;
        g_auto(GStrv) words = NULL;

        (void)g_file_get_contents(file, &text, NULL, NULL);
        words = g_strsplit_set(text ?: "", " \n", -1);
        return g_strv_contains((const char *const *)words, controller);
}

/* A limit that his groups can carry holds; one that they cannot is refused. */
static void test_memory(void) {
        g_autoptr(KitRun) ended = run(WORDS("--memory", "32M"), WORDS("eat", "256", "pause"));

        if (has_controller("memory"))
                ends_as(ended, "memory", 137, "a program that is killed for memory");
        else
                ends_as(ended, "refused", 125, "--memory without a controller");
        skip(!has_controller("memory"), 1,
             "n/a: cgroup version 2 has no memory controller on this machine: no memory kill");
        ok(record_is_true(ended, "limits.memory.enforced"), "%s: its limit was in force",
           ground.name);
        end_skip;
}

static void test_tasks(void) {
        g_autoptr(KitRun) ended = run(WORDS("--tasks", "16"), WORDS("exit", "0"));

        if (has_controller("pids"))
                ends_as(ended, "exited", 0, "--tasks");
        else
                ends_as(ended, "refused", 125, "--tasks without a controller");
        skip(!has_controller("pids"), 1,
             "n/a: cgroup version 2 has no pids controller on this machine: no limit of tasks");
        ok(record_is_true(ended, "limits.tasks.enforced"), "%s: its limit was in force",
           ground.name);
        end_skip;
}

static int connect_as_other(const char *path) {
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
                struct sockaddr_un address = { .sun_family = AF_UNIX };
                int types[] = { SOCK_SEQPACKET, SOCK_STREAM };
                int code = 0;

                become_user(OTHER_ID);
                (void)g_strlcpy(address.sun_path, path, sizeof address.sun_path);
                for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                        int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC, 0);

                        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
                                _exit(0);
                        code = errno;
                }
                _exit(code);
        }
        (void)waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* While a run of his is there; then that one's cordon is killed. */
static void test_others(void) {
        static const char *const sockets[] = { "keeper", "systemd/private",
                                               ("cordon/guard-" G_STRINGIFY(GUARD_PROTOCOL)) };
        g_autoptr(KitRun) living = start(WORDS("--grace", "1h"),
                                         WORDS("ignore", "TERM", "say", "ready", "pause"));
        g_autofree char *directory = NULL;
        struct stat st = { 0 };

        (void)kit_wait_line(living, "ready");
        directory = manager_dir();
        ok(directory && stat(directory, &st) == 0 && st.st_uid == user_id() &&
                   (st.st_mode & 07777) == 0700,
           "%s: the manager's directory is his alone", ground.name);
        skip(!ground.is_made, (int)G_N_ELEMENTS(sockets), "n/a: only root can be another user");
        for (size_t i = 0; i < G_N_ELEMENTS(sockets); i++) {
                g_autofree char *path = g_build_filename(directory, sockets[i], NULL);
                struct stat there = { 0 };

                ok(stat(path, &there) == 0 && S_ISSOCK(there.st_mode) &&
                           connect_as_other(path) == EACCES,
                   "%s: another user cannot talk to %s", ground.name, sockets[i]);
        }
        end_skip;

        kit_signal(living, SIGKILL);
        kit_finish(living);
        ok(leftover_wait(living, GONE_USEC), "%s: SIGKILL to cordon: the run is gone", ground.name);
}

static void test_ground(void) {
        g_autofree char *directory = NULL, *name = NULL;

        test_plain();
        directory = manager_dir();
        if (!directory)
                BAIL_OUT("no private manager for a normal user");
        name = g_path_get_basename(directory);
        test_disk();
        test_other_user();
        test_timeout();
        test_memory();
        test_tasks();
        test_others();
        nothing_is_left(name);
}

/* The grounds */

static char *make_directory(const char *name, uid_t uid) {
        char *path = g_build_filename(base, name, NULL);

        if (mkdir(path, 0755) < 0 || chown(path, uid, uid) < 0)
                BAIL_OUT("cannot make %s: %s", path, strerror(errno));
        return path;
}

static void test_made(const char *name, const char *first, const char *second, const char *path) {
        ground.name = name;
        ground.is_made = true;
        ground.groups[0] = make_group(first, path);
        ground.groups[1] = second ? make_group(second, path) : NULL;
        ground.runtime_dir = make_directory("user", USER_ID);
        g_setenv("XDG_RUNTIME_DIR", ground.runtime_dir, TRUE);
        test_ground();
        g_unsetenv("XDG_RUNTIME_DIR");
        ok(are_groups_gone(ground.groups) && rmdir(ground.runtime_dir) == 0,
           "%s: what the user was given can be taken back", name);
        for (size_t i = 0; i < G_N_ELEMENTS(ground.groups); i++)
                g_clear_pointer(&ground.groups[i], g_free);
        g_clear_pointer(&ground.runtime_dir, g_free);
}

/* In mounts of our own, so that nobody else sees it: version 2 where it is on a machine that has nothing else. */
static void show_unified_alone(void) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount(UNIFIED, CGROUP, NULL, MS_BIND, NULL) < 0)
                BAIL_OUT("no mounts of our own: %s", strerror(errno));
}

static void make_base(const char *unified, bool is_mixed) {
        g_autofree char *programs = NULL;

        base = g_dir_make_tmp("cordon-unprivileged-XXXXXX", NULL);
        if (!base || chmod(base, 0755) < 0)
                BAIL_OUT("no directory: %s", strerror(errno));
        made_groups[0] = group_path(is_mixed ? UNIFIED : CGROUP, unified);
        made_groups[1] = is_mixed ? group_path(TRACKING, unified) : NULL;
        programs = make_directory("programs", 0);
        copy_programs(programs);
}

static void test_as_root(void) {
        g_autofree char *unified = own_path("0", ""), *tracking = own_path("", "name=systemd");
        bool is_mixed = g_file_test(UNIFIED, G_FILE_TEST_IS_DIR);
        int everything = open(CGROUP, O_PATH | O_DIRECTORY | O_CLOEXEC), janitor_fd;
        pid_t janitor;

        make_base(unified, is_mixed);
        janitor = start_janitor(&janitor_fd);
        kit_init();
        manager_forget();
        ground.everything = g_strdup_printf("/proc/self/fd/%d", everything);

        skip(!is_mixed || g_strcmp0(unified, tracking) != 0, 1,
             "n/a: no cgroup of version 1 here, or another one than of version 2");
        test_made("versions 1 and 2", UNIFIED, TRACKING, unified);
        end_skip;
        if (is_mixed)
                show_unified_alone();
        test_made("version 2", CGROUP, NULL, unified);

        g_free(ground.everything);
        (void)close(everything);
        (void)close(janitor_fd);
        (void)waitpid(janitor, NULL, 0);
}

static void test_as_user(void) {
        g_setenv("CORDON_MANAGER", "private", TRUE);
        kit_init();
        victim = g_strdup(kit_victim());
        ground.name = "the user himself";
        ground.runtime_dir = g_strdup(g_getenv("XDG_RUNTIME_DIR"));
        ground.everything = g_strdup(CGROUP);
        test_ground();
}

int main(void) {
        bool is_booted = g_file_test("/run/systemd/system", G_FILE_TEST_IS_DIR);

        if (geteuid() == 0 && is_booted)
                plan(SKIP_ALL, "n/a: here normal users have their cgroups from their managers");
        if (geteuid() == 0)
                test_as_root();
        else
                test_as_user();
        kit_clear();
        g_free(victim);
        done_testing();
}
