/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A user logs out, without lingering, while a run of his goes on under his manager: the manager ends, the run with it,
 * and his launcher, who sits elsewhere (cron, a daemon's child), must make an honest end of it, soon. Only in a virtual
 * machine: there is nobody there who would be logged out. */

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define USER_NAME "tester"
#define USER_ID   1000
#define LINGER    "/var/lib/systemd/linger/" USER_NAME
#define MANAGER   "user@1000.service"
#define STOPPED   "unit stopped at the manager before the main process ended"
#define END_USEC  (20 * KIT_SEC) /* the machine's login manager waits ten seconds itself */

static const char *cannot_log_out(void) {
        const struct passwd *user = getpwnam(USER_NAME);

        if (!g_getenv("CORDON_TEST_VM"))
                return "n/a: users are logged out only in a virtual machine";
        if (geteuid() != 0 || !g_str_equal(kit_manager(), "system"))
                return "n/a: only root logs others out; this is for the pass under the system manager";
        if (!user || user->pw_uid != USER_ID || access(LINGER, F_OK) < 0)
                return "there is no lingering user " USER_NAME;
        return NULL;
}

static bool run_tool(const char *const *command) {
        KitOrder order = { .program = "/usr/bin/env", .command = command };
        g_autoptr(KitRun) run = kit_run(&order);

        if (run->status != 0)
                diag("%s %s: %s", command[0], command[1], run->errors->str);
        return run->status == 0;
}

static bool is_manager_gone(const void *unused) {
        return manager_main_pid(MANAGER) == 0 && !g_file_test("/run/user/1000", G_FILE_TEST_IS_DIR);
}

/* Returns when it answers. */
static bool start_manager(void) {
        return run_tool(WORDS("loginctl", "enable-linger", USER_NAME)) &&
               run_tool(WORDS("systemctl", "start", MANAGER));
}

/* However we end, the tests that come later need the user again. */
static pid_t start_restorer(int *ret_fd) {
        int ends[2];
        char nothing;
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
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
        while (read(ends[0], &nothing, 1) != 0)
                ;
        (void)execl("/usr/bin/loginctl", "loginctl", "enable-linger", USER_NAME, NULL);
        _exit(1);
}

static void become_user(void) {
        if (initgroups(USER_NAME, USER_ID) < 0 || setgid(USER_ID) < 0 || setuid(USER_ID) < 0)
                _exit(125);
}

static KitRun *start(const char *const *options, const char *const *command) {
        static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
        static unsigned runs;
        g_autofree char *id = g_strdup_printf("test-%d-logout%u", (int)getpid(), ++runs);
        g_autofree char *mark = g_strconcat(KIT_MARK "=", id, NULL);
        KitOrder order = { .id = id,
                           .options = options,
                           .command = command,
                           .directory = "/",
                           .environment = WORDS(path, mark),
                           .prepare = become_user };
        KitRun *run = kit_start(&order);

        if (!kit_wait_line(run, "ready"))
                diag("a run of %s does not start", USER_NAME);
        return run;
}

/* clang-format off */
static const struct {
        const char *name;
        const char *const *deed;
        const char *const *options;
        const char *const *verbs; /* of the program */
        Expected expected;
} rows[] = {
        { "a logout", WORDS("loginctl", "disable-linger", USER_NAME), WORDS("--user", "--memory=64M"),
          WORDS("say", "ready", "pause"),
          { .outcome = "signaled", .status = 143, .exit_code = ABSENT, .signal = SIGTERM,
            .message = "stopped at the manager: killed (SIGTERM)",
            .words = "cordon: stopped at the manager: killed (SIGTERM) after *s\n" } },
        { "a logout that the program handles", WORDS("loginctl", "disable-linger", USER_NAME), WORDS("--user"),
          WORDS("quit-on", "TERM", "say", "ready", "pause"),
          { .outcome = "exited", .message = "stopped at the manager: exited with 0",
            .words = "cordon: stopped at the manager: exited with 0 after *s\n" } },
        { "a logout that the program ignores", WORDS("loginctl", "disable-linger", USER_NAME), WORDS("--user", "--grace=1s"),
          WORDS("ignore", "TERM", "child", "leave", "pause", "then", "say", "ready", "pause"),
          { .outcome = "signaled", .status = 137, .exit_code = ABSENT, .signal = SIGKILL,
            .message = "stopped at the manager: killed (SIGKILL)",
            .words = "cordon: stopped at the manager: killed (SIGKILL) after *s\n" } },
        { "a manager that is killed", WORDS("systemctl", "kill", "--signal=KILL", MANAGER), WORDS("--user"),
          WORDS("ignore", "TERM", "child", "leave", "pause", "then", "say", "ready", "pause"),
          { .outcome = "lost", .status = 125, .exit_code = ABSENT, .error = "lost",
            .message = "the *did not *", .words = "cordon: the *did not *\n" } },
};
/* clang-format on */

static void test_row(size_t i) {
        g_auto(GStrv) command = kit_victim_argv(rows[i].verbs);
        Expected expected = rows[i].expected;
        g_autoptr(KitRun) run = NULL;
        uint64_t told;

        ok(start_manager(), "%s: his manager runs", rows[i].name);
        run = start(rows[i].options, (const char *const *)command);
        told = kit_now();
        ok(run_tool(rows[i].deed), "%s: it is done", rows[i].name);
        kit_finish(run);
        note("after %" G_GUINT64_FORMAT " ms", (run->ended_usec - told) / KIT_MSEC);
        expected.manager = "user";
        expected.said = "ready\n";
        expected.is_unmeasured = true;
        expect(run, &expected, rows[i].name);
        ok(record_has_evidence(run, STOPPED) == (expected.error == NULL),
           "%s: the evidence tells whether the manager had a word to say", rows[i].name);
        if (expected.error)
                (void)run_tool(WORDS("loginctl", "disable-linger", USER_NAME));
        ok(kit_wait_until(is_manager_gone, NULL, kit_patience(END_USEC)), "%s: his manager is gone",
           rows[i].name);
}

int main(void) {
        const char *why_not;

        kit_init();
        why_not = cannot_log_out();
        skip(why_not != NULL, 1, "%s", why_not);

        int fd = -1;
        pid_t restorer = start_restorer(&fd);

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(i);
        ok(start_manager() && access(LINGER, F_OK) == 0, "the user is as before");
        (void)close(fd);
        (void)waitpid(restorer, NULL, 0);
        end_skip;
        kit_clear();
        done_testing();
}
