/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon-keeper: the process that makes a private manager, watches over it, and clears up after it.
 * Started by launcher/manager/spawn.c alone:
 *
 *         cordon-keeper RUNTIME_DIR IDLE_USEC    with descriptors SPAWN_HOLD_FD and SPAWN_DIR_FD
 *
 * It never prints; what went wrong it tells its starter on the connection. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "keeper.h"
#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "launcher/manager/hold.h"
#include "launcher/manager/spawn.h"

static void main_report(int fd, const GError *error) {
        int code = error->domain == MANAGER_ERROR ? error->code : MANAGER_ERROR_KEEPER;
        g_autofree char *text = g_strdup_printf(HOLD_ERROR "%d %s", code, error->message);

        (void)send(fd, text, MIN(strlen(text), HOLD_MESSAGE_MAX), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        g_auto(Keeper) keeper = KEEPER_INIT;
        bool made;

        /* A write that exceeds a limit fails, and can be told. */
        (void)signal(SIGXFSZ, SIG_IGN);

        if (argc != 3 || fcntl(SPAWN_HOLD_FD, F_SETFD, FD_CLOEXEC) < 0 ||
            fcntl(SPAWN_DIR_FD, F_SETFD, FD_CLOEXEC) < 0) {
                (void)fprintf(stderr, "cordon-keeper: started by cordon, not by people\n");
                return 125;
        }

        made = keeper_open(argv[1], SPAWN_DIR_FD, &keeper, &error) &&
               keeper_make(&keeper, &error) &&
               keeper_listen(&keeper, SPAWN_HOLD_FD, g_ascii_strtoull(argv[2], NULL, 10), &error);
        if (made)
                keeper_run(&keeper);

        /* Said last, so that nothing of a failed start is left when the launcher says so. */
        keeper_leave(&keeper);
        if (error)
                main_report(SPAWN_HOLD_FD, error);
        return made ? 0 : 1;
}
