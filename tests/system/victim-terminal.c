/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What sits at a terminal under cordon, and says what it sees of it. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define STATUS_MISUSE 70

static const char *yes(bool is_so) {
        return is_so ? "yes" : "no";
}

static struct winsize size(void) {
        struct winsize now = { 0 };

        (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &now);
        return now;
}

static void say_size(void) {
        struct winsize now = size();

        printf("size %d %d\n", now.ws_row, now.ws_col);
}

/* shape: all that can be asked of a terminal */
static int show_shape(void) {
        struct termios mode = { 0 };
        char name[256] = "none";

        (void)tcgetattr(STDIN_FILENO, &mode);
        (void)ttyname_r(STDIN_FILENO, name, sizeof name);
        printf("name %s\n", name);
        printf("terminals %s %s %s\n", yes(isatty(0)), yes(isatty(1)), yes(isatty(2)));
        printf("leader %s\n", yes(getsid(0) == getpid() && tcgetsid(0) == getpid()));
        printf("foreground %s\n", yes(tcgetpgrp(0) == getpgrp()));
        printf("canonical %s\n", yes(mode.c_lflag & ICANON));
        printf("echo %s\n", yes(mode.c_lflag & ECHO));
        printf("interrupt %d\n", mode.c_cc[VINTR]);
        printf("kind %s\n", getenv("TERM") ?: "none");
        say_size();
        return 0;
}

/* watch: signals and size, until "quit" or the end of file */
static int watch(void) {
        static const int numbers[] = { SIGINT, SIGTSTP, SIGQUIT, SIGWINCH };
        char line[256];
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
                sigaddset(&set, numbers[i]);
        (void)sigprocmask(SIG_BLOCK, &set, NULL);

        struct pollfd wait[] = { { .fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN },
                                 { .fd = STDIN_FILENO, .events = POLLIN } };

        printf("ready\n");
        for (;;) {
                struct signalfd_siginfo info;

                if (poll(wait, 2, -1) < 0)
                        return STATUS_MISUSE;
                if (wait[0].revents && read(wait[0].fd, &info, sizeof info) == sizeof info) {
                        printf("got %s\n", sigabbrev_np((int)info.ssi_signo));
                        if (info.ssi_signo == SIGWINCH)
                                say_size();
                }
                if (!wait[1].revents)
                        continue;
                if (!fgets(line, sizeof line, stdin) || strcmp(line, "quit\n") == 0)
                        return 0;
                printf("heard %s", line);
        }
}

/* password: asked for without an echo */
static int ask_password(void) {
        struct termios mode = { 0 }, quiet;
        char line[256] = "";

        (void)tcgetattr(STDIN_FILENO, &mode);
        quiet = mode;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        printf("Password: \n");
        (void)!fgets(line, sizeof line, stdin);
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode);
        printf("it has %zu characters\n", strcspn(line, "\n"));
        return 0;
}

/* keys: each byte as it comes, until "q" */
static int show_keys(void) {
        struct termios mode = { 0 };
        unsigned char key;

        (void)tcgetattr(STDIN_FILENO, &mode);
        cfmakeraw(&mode);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &mode);
        printf("ready\r\n");
        while (read(STDIN_FILENO, &key, 1) == 1 && key != 'q')
                printf("key %d\r\n", key);
        return 0;
}

static void draw(int row, int column) {
        struct winsize now = size();

        printf("\033[2J\033[1;1Ha screen of %d by %d\033[%d;1Hthe last line\033[%d;%dH@",
               now.ws_col, now.ws_row, now.ws_row, row, column);
}

static void on_size(int number) {
        (void)number;
}

/* screen: all of it, with a mark that cursor keys move, until "q"; behind it is what was there before */
static int fill_screen(void) {
        struct sigaction action = { .sa_handler = on_size };
        struct termios mode = { 0 }, raw;
        char key = '\0';
        int row = 5, column = 10;
        ssize_t n;

        (void)sigaction(SIGWINCH, &action, NULL);
        (void)tcgetattr(STDIN_FILENO, &mode);
        raw = mode;
        cfmakeraw(&raw);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        printf("\033[?1049h");
        do {
                draw(row, column);
                n = read(STDIN_FILENO, &key, 1); /* a cursor key ends with its letter */
                row += n == 1 && key == 'B';
                row -= n == 1 && key == 'A';
                column += n == 1 && key == 'C';
                column -= n == 1 && key == 'D';
        } while (n < 0 ? errno == EINTR : n == 1 && key != 'q');
        printf("\033[?1049l");
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &mode);
        return 0;
}

static const struct {
        const char *name;
        int (*run)(void);
} parts[] = {
        { "shape", show_shape }, { "watch", watch },        { "password", ask_password },
        { "keys", show_keys },   { "screen", fill_screen },
};

int main(int argc, char *argv[]) {
        (void)setvbuf(stdout, NULL, _IONBF, 0);
        for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++)
                if (strcmp(parts[i].name, argv[1]) == 0)
                        return parts[i].run();
        return STATUS_MISUSE;
}
