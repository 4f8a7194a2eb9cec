/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The message is one byte of status and text up to the end of file; none at all is a child that died. The answer is one
 * byte. */

#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dbus/delegate.h"
#include "launcher/kernel/error.h"
#include "units/name.h"

#define STATUS_FAILURE 125

static bool is_descriptor(const char *where) {
        return strcmp(where, "-") == 0 || g_str_has_prefix(where, "fd:");
}

/* The JSON of --explain is no record. */
static bool has_record(const Options *options) {
        return options->record && !(options->is_explain && options->is_json);
}

bool detach_check(const Options *options, bool has_output, GError **error) {
        if (!options->is_detach || options->is_dry_run)
                return true;
        if (has_record(options) && is_descriptor(options->record))
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--detach: a record can only go to a file, not to %s", options->record);
        else if (!options->id && !has_output)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--detach: standard output is closed, and nobody would know the id; "
                            "give one with --id");
        else
                return true;
        return false;
}

static GString *read_to_end(int fd) {
        GString *text = g_string_new(NULL);
        char buffer[4096];
        ssize_t n;

        while ((n = read(fd, buffer, sizeof buffer)) != 0) {
                if (n > 0)
                        g_string_append_len(text, buffer, n);
                else if (errno != EINTR)
                        break;
        }
        return text;
}

static int hear_child(int fd) {
        GString *text = read_to_end(fd);
        int status = STATUS_FAILURE;

        if (text->len > 0)
                status = (unsigned char)text->str[0];
        else
                g_string_assign(text, "?cordon: the detached launcher died\n");
        (void)fputs(text->str + 1, status == 0 ? stdout : stderr);
        if (fflush(stdout) == 0) /* else main says why not */
                (void)send(fd, "", 1, MSG_NOSIGNAL);
        (void)close(fd);
        g_string_free(text, TRUE);
        return status;
}

/* What came over the exec is the caller's, a lock for instance, and would be held for as long as the run takes; what we
 * have opened ourselves is close-on-exec. */
static void close_inherited(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);

        for (const char *name; dir && (name = g_dir_read_name(dir));) {
                int fd = (int)g_ascii_strtoll(name, NULL, 10);
                int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;

                if (flags >= 0 && !(flags & FD_CLOEXEC))
                        (void)close(fd);
        }
}

static void leave_caller(void) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        (void)setsid();
        (void)signal(SIGPIPE, SIG_IGN);
        close_inherited();
        for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
                (void)dup2(null, fd);
        if (null > STDERR_FILENO)
                (void)close(null);
}

bool detach_fork(int *ret_tell_fd, int *ret_status) {
        int ends[2];
        pid_t pid;

        *ret_status = STATUS_FAILURE;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return false;
        pid = fork();
        if (pid == 0) {
                (void)close(ends[0]);
                leave_caller();
                *ret_tell_fd = ends[1];
                return true;
        }

        (void)close(ends[1]);
        if (pid > 0)
                *ret_status = hear_child(ends[0]);
        else
                (void)close(ends[0]);
        return false;
}

bool detach_settle(const Door *door, const char *id, GError **error) {
        g_autofree char *escaped = name_escape(id);
        /* With our number: that the id is free is not for this name to say. The longest ids are cut. */
        g_autofree char *scope = g_strdup_printf("cordon-launcher-%.220s-%d.scope", escaped,
                                                 (int)getpid());
        g_autofree char *description = g_strdup_printf("Detached launcher of cordon %s", id);

        if (door->kind == MANAGER_PRIVATE)
                return true;
        if (!door->socket_path) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--detach: only root detaches under the system manager; use --user");
                return false;
        }
        return delegate_scope(door->socket_path, scope, description, error);
}

char *detach_message(int status, const char *text) {
        char *message = text ? g_strdup_printf("x%s\n", text) : g_strdup("x");

        message[0] = (char)status; /* 0 is a status too */
        return message;
}

bool detach_tell(int tell_fd, int status, const char *text) {
        g_autofree char *message = detach_message(status, text);
        size_t size = text ? strlen(text) + 2 : 1;

        return send(tell_fd, message, size, MSG_NOSIGNAL) == (ssize_t)size &&
               shutdown(tell_fd, SHUT_WR) == 0;
}

bool detach_is_heard(int tell_fd) {
        char answer;
        ssize_t n;

        do
                n = read(tell_fd, &answer, 1);
        while (n < 0 && errno == EINTR);
        return n == 1;
}
