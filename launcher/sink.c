/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file keeps what it holds until the new record is there to be written. */

#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"

#define DESCRIPTOR_PREFIX "fd:"

static bool parse_descriptor(const char *where, int *ret_fd) {
        guint64 number = 0;

        if (strcmp(where, "-") == 0)
                number = STDOUT_FILENO;
        else if (!g_ascii_string_to_unsigned(where + strlen(DESCRIPTOR_PREFIX), 10, 0, G_MAXINT,
                                             &number, NULL))
                return false;
        *ret_fd = (int)number;
        return true;
}

static bool sink_fail(const char *name, const char *why, GError **error) {
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                    "--record: cannot write to \"%s\": %s", name, why);
        return false;
}

/* The caller's own stream, where the file is the one that it goes to ("--record /dev/stdout > file"): through a descriptor
 * of ours the record would overwrite what the program has said. −1: it is not. */
static int stream_of(int fd) {
        struct stat file, stream;

        if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
                return -1;
        for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
                int flags = fcntl(i, F_GETFL);

                if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(i, &stream) == 0 &&
                    stream.st_dev == file.st_dev && stream.st_ino == file.st_ino)
                        return i;
        }
        return -1;
}

bool sink_open(const char *where, Sink *ret_sink, GError **error) {
        bool is_path = strcmp(where, "-") != 0 && !g_str_has_prefix(where, DESCRIPTOR_PREFIX);
        int fd = -1, stream;

        if (is_path)
                fd = open(where, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        else if (!parse_descriptor(where, &fd))
                return sink_fail(where, "not a descriptor", error);
        if (fd < 0)
                return sink_fail(where, g_strerror(errno), error);
        if (!is_path) {
                int flags = fcntl(fd, F_GETFL);

                /* Nothing that the caller handed over can be close-on-exec: it is ours. */
                if (flags >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC))
                        return sink_fail(where, g_strerror(EBADF), error);
                if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
                        return sink_fail(where,
                                         flags < 0 ? g_strerror(errno)
                                                   : "it is open for reading only",
                                         error);
        }

        stream = is_path ? stream_of(fd) : -1;
        if (stream >= 0)
                (void)dup3(stream, fd, O_CLOEXEC);
        *ret_sink = (Sink){
                .fd = fd, .is_ours = is_path, .is_stream = stream >= 0, .name = g_strdup(where)
        };
        return true;
}

static bool write_all(int fd, const char *text, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN) {
                        /* The caller's descriptor, which the program may have made non-blocking. */
                        (void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
                        continue;
                }
                if (n < 0)
                        return false;
                text += n;
                size -= (size_t)n;
        }
        return true;
}

void sink_begin(Sink *sink) {
        struct stat st;

        sink->error = 0;
        if (sink->is_ours && !sink->is_stream && fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode) &&
            ftruncate(sink->fd, 0) < 0)
                sink->error = errno;
}

void sink_put(Sink *sink, const char *data, size_t size) {
        if (sink->error == 0 && !write_all(sink->fd, data, size))
                sink->error = errno;
}

bool sink_end(Sink *sink, GError **error) {
        sink_put(sink, "\n", 1);
        return sink->error == 0 || sink_fail(sink->name, g_strerror(sink->error), error);
}

bool sink_is_terminal(const Sink *sink) {
        return isatty(sink->fd) > 0;
}

void sink_clear(Sink *sink) {
        if (sink->is_ours && sink->fd >= 0)
                (void)close(sink->fd);
        sink->fd = -1;
        g_clear_pointer(&sink->name, g_free);
}
