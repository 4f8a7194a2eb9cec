/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* We and the program are one process group, as a shell makes it of a command: what is typed reaches both. A program that
 * makes a group of its own (a shell) takes the terminal for it, and gives it back, unless it is killed. */

#include "foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "launcher/manager/fd.h"

struct Foreground {
        int fd;
        bool was_ours; /* to begin with */
        struct termios before;
};

Foreground *foreground_new(void) {
        AUTO_CLOSE int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        Foreground *foreground;

        if (fd < 0)
                return NULL;
        foreground = g_new0(Foreground, 1);
        foreground->was_ours = tcgetpgrp(fd) == getpgrp() &&
                               tcgetattr(fd, &foreground->before) == 0;
        foreground->fd = fd;
        fd = -1;
        return foreground;
}

/* Whoever is not in the foreground and takes it gets SIGTTOU. */
static void give_to(const Foreground *foreground, pid_t group) {
        void (*before)(int) = signal(SIGTTOU, SIG_IGN);

        (void)tcsetpgrp(foreground->fd, group);
        (void)signal(SIGTTOU, before);
}

static bool is_empty(pid_t group) {
        return kill(-group, 0) < 0 && errno == ESRCH;
}

typedef struct {
        char state;
        pid_t parent, group;
} Relations;

static bool read_relations(pid_t pid, Relations *ret_relations) {
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid);
        g_autofree char *text = NULL;
        const char *behind_name;

        if (!g_file_get_contents(path, &text, NULL, NULL) || !(behind_name = strrchr(text, ')')))
                return false;
        return sscanf(behind_name, ") %c %d %d", &ret_relations->state, &ret_relations->parent,
                      &ret_relations->group) == 3;
}

/* A script that runs us is no part of a pipeline with us. */
static bool is_above_us(pid_t pid) {
        Relations relations;
        pid_t above = getppid();

        while (above > 1 && above != pid && read_relations(above, &relations))
                above = relations.parent;
        return above == pid;
}

static bool is_company(pid_t pid) {
        Relations relations;

        return pid > 0 && pid != getpid() && getpgid(pid) == getpgrp() &&
               read_relations(pid, &relations) && !strchr("ZX", relations.state) &&
               relations.parent != getpid() && !is_above_us(pid);
}

/* Who is behind us in a pipeline may be a pager, which has the terminal as it needs it. */
static bool is_read_by_company(void) {
        g_autoptr(GDir) processes = isatty(STDOUT_FILENO) ? NULL : g_dir_open("/proc", 0, NULL);
        const char *name;

        while (processes && (name = g_dir_read_name(processes)))
                if (is_company((pid_t)g_ascii_strtoll(name, NULL, 10)))
                        return true;
        return false;
}

void foreground_restore(Foreground *foreground) {
        pid_t now = foreground && foreground->was_ours ? tcgetpgrp(foreground->fd) : -1;

        if (now > 0 && now != getpgrp() && is_empty(now)) {
                give_to(foreground, getpgrp());
                now = tcgetpgrp(foreground->fd);
        }
        if (now > 0 && now == getpgrp() && /* else we are in the background, and it is another's */
            !is_read_by_company())
                (void)tcsetattr(foreground->fd, TCSANOW,
                                &foreground->before); /* Ctrl-S may be on */
}

void foreground_free(Foreground *foreground) {
        if (!foreground)
                return;
        (void)close(foreground->fd);
        g_free(foreground);
}

bool foreground_is_shared(const Foreground *foreground, pid_t program) {
        return foreground && program > 0 && getpgid(program) == getpgrp();
}

/* A shell that made a group of us will hear that we were stopped, and can let us go on. */
static bool is_job(void) {
        pid_t parent = getppid();

        return getpgid(parent) != getpgrp() && getsid(parent) == getsid(0);
}

bool foreground_heeds_stops(void) {
        struct sigaction now;

        return sigaction(SIGTSTP, NULL, &now) == 0 && now.sa_handler != SIG_IGN;
}

/* Whoever runs us in his own group got it himself, and waits until all of it goes on. */
bool foreground_leaves_stop(const Foreground *foreground, pid_t program,
                            const struct signalfd_siginfo *info) {
        return info->ssi_code == SI_KERNEL && is_job() && foreground_is_shared(foreground, program);
}

void foreground_stop_alone(void) {
        sigset_t stop;

        (void)sigemptyset(&stop);
        (void)sigaddset(&stop, SIGTSTP);
        (void)raise(SIGTSTP);
        (void)sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here we stand still */
        (void)sigprocmask(SIG_BLOCK, &stop, NULL);
}

void foreground_stop_with(Foreground *foreground, pid_t program) {
        pid_t group = getpgid(program), now;

        if (!foreground || group < 0 || !is_job())
                return;
        now = tcgetpgrp(foreground->fd);
        (void)raise(SIGSTOP);
        if (now == group && group != getpgrp() && tcgetpgrp(foreground->fd) == getpgrp())
                give_to(foreground, group);
        (void)kill(-group, SIGCONT);
}
