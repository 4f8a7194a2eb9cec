/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A line that was begun is written to its end before another; where it goes to a file that is full, that is the torn line
 * of which the ledger knows. Ordered, lines that are early wait in a table by their place.
 *
 * That the reader of a pipe or a socket is gone shows at once, and not only with the next record: epoll says EPOLLERR
 * and EPOLLHUP without being asked. */

#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/outlet.h"

#define ROOM_BYTES (4U << 20)

struct Outbox {
        OutboxSettings settings;
        Outlet outlet;
        sd_event_source *io; /* NULL: a file, which never makes us wait */
        GQueue lines;        /* GString*, in the order of writing */
        size_t written;      /* of the first of them */
        GHashTable *early;   /* place → GString*, or NULL for one that stays empty */
        uint64_t next;       /* the place that is to be written next */
        size_t bytes;        /* of all that is here */
        int error;
};

static void line_free(void *line) {
        if (line)
                g_string_free(line, TRUE);
}

static void listen_for_room(Outbox *outbox) {
        if (outbox->io)
                (void)sd_event_source_set_io_events(outbox->io,
                                                    outbox->lines.length == 0 ? 0 : EPOLLOUT);
}

static void fail(Outbox *outbox, int error) {
        outbox->error = error;
        outbox->io = sd_event_source_disable_unref(outbox->io);
        g_queue_clear_full(&outbox->lines, line_free);
        g_hash_table_remove_all(outbox->early);
        outbox->bytes = 0;
}

static void drop_first(Outbox *outbox) {
        GString *line = g_queue_pop_head(&outbox->lines);

        outbox->bytes -= line->len;
        outbox->written = 0;
        line_free(line);
}

/* As much as is taken now. */
static void write_out(Outbox *outbox) {
        GString *line;

        if (outbox->settings.before_write && outbox->lines.length > 0)
                outbox->settings.before_write(outbox->settings.userdata);
        while ((line = g_queue_peek_head(&outbox->lines))) {
                ssize_t n = outlet_write(&outbox->outlet, line->str + outbox->written,
                                         line->len - outbox->written);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN && outbox->io)
                        break;
                if (n < 0) {
                        fail(outbox, errno);
                        return;
                }
                outbox->written += (size_t)n;
                if (outbox->written == line->len)
                        drop_first(outbox);
        }
        listen_for_room(outbox);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Outbox *outbox = userdata;

        if (events & (EPOLLERR | EPOLLHUP))
                fail(outbox, EPIPE);
        else
                write_out(outbox);
        outbox->settings.handler(outbox->settings.userdata);
        return 0;
}

/* What stands in a file already may have been torn. */
static bool ends_in_mid_line(int fd) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        struct stat st;
        char last = '\n';
        off_t at;
        int reader;

        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        at = (fcntl(fd, F_GETFL) & O_APPEND) ? st.st_size : lseek(fd, 0, SEEK_CUR);
        reader = at > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (reader >= 0) {
                (void)!pread(reader, &last, 1, at - 1);
                (void)close(reader);
        }
        return last != '\n';
}

Outbox *outbox_new(sd_event *event, const OutboxSettings *settings) {
        Outbox *outbox = g_new0(Outbox, 1);

        outbox->settings = *settings;
        outbox->early = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, line_free);
        outlet_open(&outbox->outlet, settings->fd, O_WRONLY);
        if (sd_event_add_io(event, &outbox->io, outbox->outlet.fd, 0, on_io, outbox) < 0)
                outbox->io = NULL;
        if (ends_in_mid_line(settings->fd)) {
                outbox->bytes++;
                g_queue_push_tail(&outbox->lines, g_string_new("\n"));
        }
        return outbox;
}

void outbox_free(Outbox *outbox) {
        if (!outbox)
                return;
        sd_event_source_disable_unref(outbox->io);
        outlet_close(&outbox->outlet);
        g_queue_clear_full(&outbox->lines, line_free);
        g_hash_table_unref(outbox->early);
        g_free(outbox);
}

static void queue(Outbox *outbox, GString *line) {
        if (line)
                g_queue_push_tail(&outbox->lines, line);
}

static void put_early(Outbox *outbox, uint64_t place, GString *line) {
        g_hash_table_insert(outbox->early, g_memdup2(&place, sizeof place), line);
}

/* All that has no gap before it. */
static void queue_next(Outbox *outbox) {
        gpointer key, line;

        while (g_hash_table_steal_extended(outbox->early, &outbox->next, &key, &line)) {
                g_free(key);
                queue(outbox, line);
                outbox->next++;
        }
}

void outbox_put(Outbox *outbox, uint64_t place, GString *line) {
        if (outbox->error) {
                line_free(line);
                return;
        }
        outbox->bytes += line ? line->len : 0;
        if (!outbox->settings.is_ordered) {
                queue(outbox, line);
        } else {
                put_early(outbox, place, line);
                queue_next(outbox);
        }
        write_out(outbox);
}

bool outbox_has_room(const Outbox *outbox) {
        return !outbox->error && outbox->bytes < ROOM_BYTES;
}

bool outbox_is_empty(const Outbox *outbox) {
        return outbox->lines.length == 0;
}

int outbox_error(const Outbox *outbox) {
        return outbox->error;
}
