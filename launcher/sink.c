/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file keeps what it holds until the new record is whole: it is replaced. In place is written what cannot be replaced, or
 * what somebody looks at through more than its name. There a reader finds nothing rather than half a record. */

#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
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

/* The caller has it open: what is said by that name is looked for there too ("--record f 5<>f"). */
static bool is_held_by_caller(const struct stat *file) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);

        for (const char *name; dir && (name = g_dir_read_name(dir));) {
                int fd = (int)g_ascii_strtoll(name, NULL, 10);
                int flags = fcntl(fd, F_GETFD);
                struct stat st;

                if (flags >= 0 && !(flags & FD_CLOEXEC) && fstat(fd, &st) == 0 &&
                    st.st_dev == file->st_dev && st.st_ino == file->st_ino)
                        return true;
        }
        return false;
}

/* Another name of the file would keep the old record. */
static void prepare_replacement(Sink *sink, const char *where) {
        struct stat st;

        if (fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
            !is_held_by_caller(&st))
                (void)replacement_find(&sink->replacement, where, &st);
}

/* A file that is not there yet: it appears when it is whole. */
static bool open_nameless(Sink *sink, const char *where) {
        struct stat st;

        if (lstat(where, &st) == 0 || errno != ENOENT)
                return false;
        if (replacement_find(&sink->replacement, where, NULL) &&
            replacement_begin(&sink->replacement, NULL, false)) {
                sink->fd = sink->replacement.fd;
                return true;
        }
        replacement_clear(&sink->replacement);
        return false;
}

static bool open_path(Sink *sink, const char *where, GError **error) {
        int stream;

        sink->is_ours = true;
        if (open_nameless(sink, where))
                return true;
        sink->fd = open(where, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        if (sink->fd < 0)
                return sink_fail(where, g_strerror(errno), error);
        stream = stream_of(sink->fd);
        sink->is_stream = stream >= 0;
        if (!sink->is_stream)
                prepare_replacement(sink, where);
        else if (dup3(stream, sink->fd, O_CLOEXEC) < 0)
                return sink_fail(where, g_strerror(errno), error);
        return true;
}

static bool open_descriptor(Sink *sink, const char *where, GError **error) {
        int flags;

        if (!parse_descriptor(where, &sink->fd))
                return sink_fail(where, "not a descriptor", error);
        flags = fcntl(sink->fd, F_GETFL);
        /* Nothing that the caller handed over can be close-on-exec: it is ours. */
        if (flags >= 0 && (fcntl(sink->fd, F_GETFD) & FD_CLOEXEC))
                return sink_fail(where, g_strerror(EBADF), error);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) {
                if (sink->fd > STDERR_FILENO) /* not the program's, whose record it is */
                        (void)fcntl(sink->fd, F_SETFD, FD_CLOEXEC);
                return true;
        }
        return sink_fail(where, flags < 0 ? g_strerror(errno) : "it is open for reading only",
                         error);
}

bool sink_open(const char *where, Sink *ret_sink, GError **error) {
        bool is_path = strcmp(where, "-") != 0 && !g_str_has_prefix(where, DESCRIPTOR_PREFIX);
        Sink sink = SINK_INIT;

        if (!(is_path ? open_path(&sink, where, error) : open_descriptor(&sink, where, error))) {
                sink_clear(&sink);
                return false;
        }
        sink.name = g_strdup(where);
        *ret_sink = sink;
        return true;
}

static bool is_in_place(const Sink *sink) {
        struct stat st;

        return sink->is_ours && !sink->is_stream && sink->fd != sink->replacement.fd &&
               fstat(sink->fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int target_of(const Sink *sink) {
        return sink->replacement.fd >= 0 ? sink->replacement.fd : sink->fd;
}

void sink_begin(Sink *sink) {
        struct stat st;

        sink->error = 0;
        /* No right to the directory, or not to the owner's name: the file itself may be written all the same. */
        if (sink->replacement.dir_fd >= 0 && sink->replacement.fd < 0 &&
            (fstat(sink->fd, &st) < 0 || !replacement_begin(&sink->replacement, &st, true)))
                replacement_clear(&sink->replacement);
        if (sink->replacement.fd < 0 && is_in_place(sink) && ftruncate(sink->fd, 0) < 0)
                sink->error = errno;
}

void sink_put(Sink *sink, const char *data, size_t size) {
        if (sink->error == 0 && !interrupt_write(target_of(sink), data, size))
                sink->error = errno;
}

/* A name that cannot be replaced (something is mounted on it, the directory is sticky): what is ready is copied. */
static bool copy_into_place(const Sink *sink) {
        off_t done = 0;
        struct stat st;

        if (fstat(sink->replacement.fd, &st) < 0 || ftruncate(sink->fd, 0) < 0)
                return false;
        while (done < st.st_size)
                if (sendfile(sink->fd, sink->replacement.fd, &done, (size_t)(st.st_size - done)) <=
                            0 &&
                    errno != EINTR)
                        return false;
        return true;
}

bool sink_end(Sink *sink, GError **error) {
        sink_put(sink, "\n", 1);
        if (sink->replacement.fd < 0) {
                if (sink->error != 0 && is_in_place(sink))
                        (void)!ftruncate(sink->fd, 0);
        } else if (sink->error == 0 && !replacement_end(&sink->replacement)) {
                sink->error = errno;
                if (is_in_place(sink) && copy_into_place(sink))
                        sink->error = 0;
                else if (is_in_place(sink))
                        (void)!ftruncate(sink->fd, 0);
        }
        return sink->error == 0 || sink_fail(sink->name, g_strerror(sink->error), error);
}

InterruptNote sink_note(const Sink *sink, const char *text) {
        bool is_nameless = sink->fd >= 0 && sink->fd == sink->replacement.fd;

        return (InterruptNote){ .fd = sink->fd,
                                .is_replaced = is_in_place(sink),
                                .dir_fd = sink->replacement.dir_fd,
                                .name = is_nameless ? sink->replacement.name : NULL,
                                .text = text };
}

bool sink_is_terminal(const Sink *sink) {
        return isatty(sink->fd) > 0;
}

void sink_clear(Sink *sink) {
        if (sink->is_ours && sink->fd >= 0 && sink->fd != sink->replacement.fd)
                (void)close(sink->fd);
        replacement_clear(&sink->replacement);
        sink->fd = -1;
        g_clear_pointer(&sink->name, g_free);
}
