/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "post.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "protocol.h"

void post_clear(Post *post) {
        g_queue_clear_full(&post->waiting, g_free);
}

static bool has_verb(const char *message, const char *verb) {
        return g_str_has_prefix(message, verb) && message[strlen(verb)] == ' ';
}

void post_forget_but(Post *post, const char *verb) {
        GQueue kept = G_QUEUE_INIT;

        for (char *message; (message = g_queue_pop_head(&post->waiting));)
                if (has_verb(message, verb))
                        g_queue_push_tail(&kept, message);
                else
                        g_free(message);
        post->waiting = kept;
}

static char *compose(const char *verb, const char *owner, const char *const *words, guint count) {
        GString *message = g_string_new(verb);

        if (owner)
                g_string_append_printf(message, " %s", owner);
        for (guint i = 0; i < count; i++)
                g_string_append_printf(message, " %s", words[i]);
        return g_string_free(message, FALSE);
}

void post_put(Post *post, const char *verb, const char *owner, const char *const *ids,
              guint count) {
        guint i = 0;

        do {
                guint n = MIN(count - i, GUARD_IDS_MAX);

                g_queue_push_tail(&post->waiting, compose(verb, owner, ids + i, n));
                i += n;
        } while (i < count);
}

/* False: there is no room, or nobody. Who hung up is noticed by the end of file. */
static bool send_one(int fd, const char *message) {
        ssize_t n;

        do
                n = send(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        return n >= 0;
}

bool post_send_now(Post *post, sd_event_source *io, const char *verb, const char *const *words,
                   guint count) {
        g_autofree char *message = compose(verb, NULL, words, count);

        return g_queue_is_empty(&post->waiting) && send_one(sd_event_source_get_io_fd(io), message);
}

void post_send(Post *post, sd_event_source *io) {
        bool was_waiting = false;
        uint32_t events = 0;
        int fd = sd_event_source_get_io_fd(io);

        while (!was_waiting && !g_queue_is_empty(&post->waiting)) {
                was_waiting = !send_one(fd, g_queue_peek_head(&post->waiting));
                if (!was_waiting)
                        g_free(g_queue_pop_head(&post->waiting));
        }
        (void)sd_event_source_get_io_events(io, &events);
        if (((events & EPOLLOUT) != 0) != was_waiting)
                (void)sd_event_source_set_io_events(io, EPOLLIN | (was_waiting ? EPOLLOUT : 0U));
}
