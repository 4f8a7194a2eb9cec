/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asking somebody else to run something. What comes of it is a file outside, or a connection to who stands in for a
 * container engine. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "leftover.h"
#include "manager.h"
#include "outside.h"
#include "stage.h"

static char *file_name, *runtime_place;
static int engine = -1;

/* It takes a moment until somebody has done what he was asked for. */
static bool has_made(const char *key, const char *verdict) {
        const char *path = stage_known(key);

        return g_str_has_prefix(verdict, "escaped") ? stage_file_appears(path)
                                                    : g_file_test(path, G_FILE_TEST_EXISTS);
}

static bool has_asked_manager(const KitRun *run, const char *verdict) {
        return has_made("by-manager", verdict);
}

static bool has_asked_bus(const KitRun *run, const char *verdict) {
        return has_made("by-bus", verdict);
}

static bool has_used_systemd_run(const KitRun *run, const char *verdict) {
        return has_made("by-systemd-run", verdict);
}

/* All of them: who looks for sockets below /run finds this one, too. */
static bool is_asked(const KitRun *run, const char *verdict) {
        bool is_it = false;
        int fd;

        while ((fd = accept4(engine, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                is_it = true;
                (void)close(fd);
        }
        return is_it;
}

/* In any of the directories of a list; what is found is removed. */
static bool find_in(const char *list) {
        g_auto(GStrv) directories = g_strsplit(list, ":", -1);
        bool found = false;

        for (char **directory = directories; *directory; directory++) {
                g_autofree char *path = g_build_filename(*directory, file_name, NULL);

                found = unlink(path) == 0 || found;
        }
        return found;
}

static bool is_in_spool(const KitRun *run, const char *verdict) {
        return find_in(stage_known("spools"));
}

static bool is_in_units(const KitRun *run, const char *verdict) {
        return find_in(stage_known("unit-directories"));
}

static bool is_in_home(const KitRun *run, const char *verdict) {
        return find_in(stage_known("home"));
}

/* clang-format off */
static const Trial trials[] = {
        { "ask-manager",       { "@manager-sockets", "@unit", "@by-manager" },  has_asked_manager },
        { "ask-bus",           { "@buses", "@bus-unit", "@by-bus" },            has_asked_bus },
        { "bus-activation",    { "@buses" },                                    NULL },
        { "systemd-run",       { "@machine-directory", "@by-systemd-run" },     has_used_systemd_run },
        { "cron-spool",        { "@spools", "@file-name" },                     is_in_spool },
        { "unit-file",         { "@unit-directories", "@file-name" },           is_in_units },
        { "login-file",        { "@home", "@file-name" },                       is_in_home },
        { "engine",            { "@engine" },                                   is_asked },
        { "sockets-in-run",    { NULL },                                        NULL },
        { "sockets-of-cordon", { "@cordon-sockets" },                           NULL },
};
/* clang-format on */

/* Those that are there, separated by colons. */
static void know_list(const char *key, const char *const *paths) {
        g_autoptr(GString) list = g_string_new(NULL);

        for (; *paths; paths++)
                if (g_file_test(*paths, G_FILE_TEST_EXISTS))
                        g_string_append_printf(list, "%s%s", list->len > 0 ? ":" : "", *paths);
        stage_know(key, "%s", list->str);
}

static void know_files(void) {
        static const char *const keys[] = { "by-manager", "by-bus", "by-systemd-run" };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                stage_know(keys[i], "%s/outside/%s", stage_known("directory"), keys[i]);
}

static void forget_files(void) {
        (void)unlink(stage_known("by-manager"));
        (void)unlink(stage_known("by-bus"));
        (void)unlink(stage_known("by-systemd-run"));
}

static void know_places(void) {
        const char *session = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *user_bus = g_build_filename(session ?: "/nowhere", "bus", NULL);
        g_autofree char *own = manager_unit_dir();
        g_autofree char *transient = g_build_filename(stage_known("manager-directory"),
                                                      "systemd/transient", NULL);
        g_autofree char *config = g_build_filename(g_get_home_dir(), ".config/systemd/user", NULL);
        bool is_booted = g_file_test("/run/systemd/system", G_FILE_TEST_IS_DIR);
        bool is_root = geteuid() == 0;

        know_list("buses", is_root ? WORDS("/run/dbus/system_bus_socket", user_bus)
                                   : WORDS(user_bus, "/run/dbus/system_bus_socket"));
        know_list("spools", WORDS("/var/spool/cron/crontabs", "/var/spool/cron/atjobs",
                                  "/var/spool/at", "/etc/cron.d", "/etc"));
        know_list("unit-directories", WORDS(transient, own ?: "/nowhere", config,
                                            is_root ? "/etc/systemd/system" : "/nowhere"));
        stage_know("home", "%s", g_get_home_dir());
        stage_know("machine-directory", "%s",
                   is_root && is_booted ? "/run" : stage_known("manager-directory"));
        stage_know("file-name", "%s", file_name);
        stage_know("unit", "escape-%d.service", (int)getpid());
        stage_know("bus-unit", "escape-bus-%d.service", (int)getpid());
}

/* Below /run, where such engines listen. */
static void stand_in_for_engine(void) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        runtime_place = g_strdup_printf("%s/escape-%d",
                                        geteuid() == 0 ? "/run" : g_getenv("XDG_RUNTIME_DIR"),
                                        (int)getpid());
        if (mkdir(runtime_place, 0700) < 0)
                BAIL_OUT("cannot make %s", runtime_place);
        stage_know("engine", "%s/engine.sock", runtime_place);
        g_strlcpy(address.sun_path, stage_known("engine"), sizeof address.sun_path);
        engine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (bind(engine, (const struct sockaddr *)&address, sizeof address) < 0 ||
            listen(engine, 16) < 0)
                BAIL_OUT("cannot listen at %s", address.sun_path);
}

static void engine_leaves(void) {
        (void)close(engine);
        (void)unlink(stage_known("engine"));
        (void)rmdir(runtime_place);
        g_free(runtime_place);
}

/* Somebody else's controlling terminal, as a shell's is the caller's. */
static pid_t hold_terminal(int slave) {
        int ends[2];
        char nothing;
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        pid = fork();
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
                        _exit(1);
                (void)!write(ends[1], "x", 1);
                for (;;)
                        (void)pause();
        }
        (void)close(ends[1]);
        if (read(ends[0], &nothing, 1) != 1)
                BAIL_OUT("a terminal cannot be had");
        (void)close(ends[0]);
        return pid;
}

static void test_terminal(Stage stage) {
        Trial trial = { "type-for-caller", { NULL }, NULL };
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
        struct termios raw;
        bool is_typed;
        char typed;
        pid_t pid;

        if (master < 0 || unlockpt(master) < 0)
                BAIL_OUT("no terminal");
        slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
        (void)tcgetattr(slave, &raw);
        cfmakeraw(&raw);
        (void)tcsetattr(slave, TCSANOW, &raw);
        pid = hold_terminal(slave);

        g_autoptr(KitRun) run = stage_start_with(stage, &trial, WORDS("--timeout", "1m"), slave);

        kit_finish(run);
        is_typed = read(slave, &typed, 1) == 1;
        stage_judge(stage, run, trial.name, run->status == 10, is_typed);
        note("%s: %s: %s", stage_name(stage), trial.name, run->output->str);
        ok(run->status == 10 || run->status == 0, "%s: there was a terminal", stage_name(stage));
        leftover_check(run, trial.name);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        (void)close(slave);
        (void)close(master);
}

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_UNTRUSTED };
        Trial all[G_N_ELEMENTS(trials) + 1] = { { .name = "type-for-caller" } };

        stage_begin();
        file_name = g_strdup_printf(".escape-%d", (int)getpid());
        outside_know_manager();
        know_places();
        know_files();
        stand_in_for_engine();
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                stage_try(stages[i], "manager", trials, G_N_ELEMENTS(trials));
                forget_files();
                test_terminal(stages[i]);
        }
        memcpy(all + 1, trials, sizeof trials);
        stage_covers("manager", all, G_N_ELEMENTS(all));
        engine_leaves();
        g_free(file_name);
        stage_end();
        done_testing();
}
