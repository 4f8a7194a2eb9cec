/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory is bounded by the limit plus one buffer, whatever the program writes. Finishing does not wait for end of file:
 * a descriptor may have been handed to a process outside that lives on. */

#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"

#define CHUNK          65536
/* A pipe has no name: only who may look into a process that has it can open it. */
#define ANYBODY_WRITES 0622
#define CHUNKS_A_TURN  16 /* then other events get theirs */

struct Capture {
        GByteArray *bytes;
        uint64_t limit_bytes, kept_bytes;
        int file_fd; /* borrowed: they are kept there; −1: in memory */
        int error;   /* errno of the file */
        bool is_truncated;
        int read_fd, write_fd;
        sd_event_source *io;
        CaptureHandler on_full;
        void *userdata;
};

static void stop_reading(Capture *capture) {
        capture->io = sd_event_source_disable_unref(capture->io);
        if (capture->read_fd >= 0)
                (void)close(capture->read_fd);
        capture->read_fd = -1;
}

/* After a failure nothing more is written: what is there is the beginning. */
static void put_into_file(Capture *capture, const uint8_t *data, size_t size) {
        while (size > 0 && capture->error == 0) {
                ssize_t n = write(capture->file_fd, data, size);

                if (n < 0 && errno != EINTR)
                        capture->error = errno;
                data += MAX(n, 0);
                size -= (size_t)MAX(n, 0);
        }
}

static void keep(Capture *capture, const uint8_t *data, size_t size) {
        uint64_t room = capture->limit_bytes - capture->kept_bytes;
        bool was_truncated = capture->is_truncated;

        capture->is_truncated = was_truncated || size > room;
        capture->kept_bytes += MIN(size, room);
        if (capture->file_fd >= 0)
                put_into_file(capture, data, MIN(size, room));
        else
                g_byte_array_append(capture->bytes, data, (guint)MIN(size, room));
        if (capture->is_truncated && !was_truncated)
                capture->on_full(capture->userdata);
}

/* False: nothing more now, or ever. */
static bool read_chunk(Capture *capture) {
        uint8_t chunk[CHUNK];
        ssize_t n = read(capture->read_fd, chunk, sizeof chunk);

        if (n > 0) {
                keep(capture, chunk, (size_t)n);
                return true;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
                stop_reading(capture);
        return n < 0 && errno == EINTR;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Capture *capture = userdata;

        for (int i = 0; i < CHUNKS_A_TURN && capture->read_fd >= 0 && read_chunk(capture); i++)
                ;
        return 0;
}

Capture *capture_new_fed(uint64_t limit_bytes, CaptureHandler on_full, void *userdata) {
        Capture *capture = g_new0(Capture, 1);

        capture->read_fd = capture->write_fd = capture->file_fd = -1;
        capture->bytes = g_byte_array_new();
        g_assert(limit_bytes <= G_MAXINT32); /* GLib counts bytes in 32 bits */
        capture->limit_bytes = limit_bytes;
        capture->on_full = on_full;
        capture->userdata = userdata;
        return capture;
}

Capture *capture_new(sd_event *event, uint64_t limit_bytes, CaptureHandler on_full, void *userdata,
                     GError **error) {
        g_autoptr(Capture) capture = capture_new_fed(limit_bytes, on_full, userdata);
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) == 0) {
                capture->read_fd = ends[0];
                capture->write_fd = ends[1];
                /* Only our end: the program's must block as pipes do. */
                if (fcntl(capture->read_fd, F_SETFL, O_NONBLOCK) == 0 &&
                    sd_event_add_io(event, &capture->io, capture->read_fd, EPOLLIN, on_readable,
                                    capture) >= 0)
                        return g_steal_pointer(&capture);
        }

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot capture output: %s",
                    g_strerror(errno));
        return NULL;
}

void capture_free(Capture *capture) {
        if (!capture)
                return;
        stop_reading(capture);
        capture_drop_write_end(capture);
        g_byte_array_unref(capture->bytes);
        g_free(capture);
}

void capture_feed(Capture *capture, const void *data, size_t size) {
        keep(capture, data, size);
}

int capture_error(const Capture *capture) {
        return capture->error;
}

void capture_drop_write_end(Capture *capture) {
        if (capture->write_fd >= 0)
                (void)close(capture->write_fd);
        capture->write_fd = -1;
}

void capture_finish(Capture *capture) {
        /* Bounded: what a process outside keeps writing is not the program's any more. */
        for (int i = 0; i < CHUNKS_A_TURN * 64 && capture->read_fd >= 0 && read_chunk(capture); i++)
                ;
        stop_reading(capture);
}

const GByteArray *capture_bytes(const Capture *capture) {
        return capture->bytes;
}

bool capture_is_truncated(const Capture *capture) {
        return capture->is_truncated;
}

static bool open_streams(CaptureSet *set, sd_event *event, uint64_t limit_bytes,
                         CaptureHandler on_full, void *userdata, GError **error) {
        if (!event) {
                set->streams[STDOUT_FILENO] = capture_new_fed(limit_bytes, on_full, userdata);
                return true;
        }
        for (int i = STDOUT_FILENO; i < CAPTURE_STREAMS; i++) {
                set->streams[i] = capture_new(event, limit_bytes, on_full, userdata, error);
                if (!set->streams[i])
                        return false;
                (void)fchmod(set->streams[i]->write_fd, ANYBODY_WRITES);
        }
        return true;
}

bool capture_set_open(CaptureSet *set, sd_event *event, const int *files, uint64_t limit_bytes,
                      CaptureHandler on_full, void *userdata, GError **error) {
        if (!open_streams(set, event, limit_bytes, on_full, userdata, error))
                return false;
        for (int i = 0; files && i < CAPTURE_STREAMS; i++)
                if (set->streams[i])
                        set->streams[i]->file_fd = files[i];
        return true;
}

void capture_set_stdio(const CaptureSet *set, const int callers[CAPTURE_STREAMS],
                       int ret_stdio[CAPTURE_STREAMS]) {
        for (int i = 0; i < CAPTURE_STREAMS; i++) {
                const Capture *capture = set->streams[i];

                ret_stdio[i] = capture && capture->write_fd >= 0 ? capture->write_fd : callers[i];
        }
}

void capture_set_drop_write_ends(CaptureSet *set) {
        for (int i = 0; i < CAPTURE_STREAMS; i++)
                if (set->streams[i])
                        capture_drop_write_end(set->streams[i]);
}

void capture_set_finish(CaptureSet *set) {
        for (int i = 0; i < CAPTURE_STREAMS; i++)
                if (set->streams[i])
                        capture_finish(set->streams[i]);
}

void capture_set_clear(CaptureSet *set) {
        for (int i = 0; i < CAPTURE_STREAMS; i++)
                g_clear_pointer(&set->streams[i], capture_free);
}
