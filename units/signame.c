/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signal names. Real-time signals have no fixed numbers: the C library keeps some for itself. */

#include <signal.h>
#include <string.h>

#include "parse.h"
#include "signame.h"

/* clang-format off */
static const char *const names[] = {
        [SIGHUP] = "HUP",       [SIGINT] = "INT",     [SIGQUIT] = "QUIT",     [SIGILL] = "ILL",
        [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",   [SIGBUS] = "BUS",       [SIGFPE] = "FPE",
        [SIGKILL] = "KILL",     [SIGUSR1] = "USR1",   [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
        [SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",   [SIGTERM] = "TERM",     [SIGCHLD] = "CHLD",
        [SIGCONT] = "CONT",     [SIGSTOP] = "STOP",   [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
        [SIGTTOU] = "TTOU",     [SIGURG] = "URG",     [SIGXCPU] = "XCPU",     [SIGXFSZ] = "XFSZ",
        [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",   [SIGWINCH] = "WINCH",   [SIGIO] = "IO",
        [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
#ifdef SIGSTKFLT
        [SIGSTKFLT] = "STKFLT",
#endif
};
/* clang-format on */

char *signame(int signal) {
        if (signal > 0 && (size_t)signal < G_N_ELEMENTS(names) && names[signal])
                return g_strconcat("SIG", names[signal], NULL);
        if (signal == SIGRTMIN)
                return g_strdup("SIGRTMIN");
        if (signal > SIGRTMIN && signal <= SIGRTMAX)
                return g_strdup_printf("SIGRTMIN+%d", signal - SIGRTMIN);

        return g_strdup_printf("signal %d", signal);
}

bool signame_parse(const char *text, int *ret_signal) {
        uint64_t number;

        if (parse_count(text, &number) == PARSE_OK) {
                if (number < 1 || number > (uint64_t)SIGRTMAX)
                        return false;
                *ret_signal = (int)number;
                return true;
        }

        if (g_ascii_strncasecmp(text, "SIG", 3) == 0)
                text += 3;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (names[i] && g_ascii_strcasecmp(names[i], text) == 0) {
                        *ret_signal = (int)i;
                        return true;
                }

        return false;
}
