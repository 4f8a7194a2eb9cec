/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What does not fit into a socket goes later, whole and in order; messages hold no more than they may. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/guard/post.h"
#include "launcher/guard/protocol.h"

#define MANY 5000

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_event, sd_event_unref)

typedef struct {
        sd_event *event;
        sd_event_source *io;
        Post post;
        int ends[2];
} Line;

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Line *line = userdata;

        if (events & EPOLLOUT)
                post_send(&line->post, source);
        return 0;
}

static void line_init(Line *line) {
        int r;

        *line = (Line){ .post = POST_INIT };
        r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, line->ends);
        g_assert(r == 0);
        r = sd_event_new(&line->event);
        g_assert(r >= 0);
        r = sd_event_add_io(line->event, &line->io, line->ends[0], EPOLLIN, on_io, line);
        g_assert(r >= 0);
}

static void line_clear(Line *line) {
        sd_event_source_disable_unref(line->io);
        sd_event_unref(line->event);
        post_clear(&line->post);
        (void)close(line->ends[0]);
        (void)close(line->ends[1]);
}

/* NULL: there is nothing. */
static char *hear(const Line *line) {
        char text[GUARD_MESSAGE_MAX + 1] = "";
        ssize_t n = recv(line->ends[1], text, sizeof text - 1, MSG_DONTWAIT);

        return n < 0 ? NULL : g_strdup(text);
}

static bool listens_for_room(const Line *line) {
        uint32_t events = 0;

        (void)sd_event_source_get_io_events(line->io, &events);
        return events & EPOLLOUT;
}

static void test_words(void) {
        const char *const ids[] = { "a", "b" };
        g_autofree char *watch = NULL, *done = NULL;
        Line line;

        line_init(&line);
        post_put(&line.post, GUARD_WATCH, "0:1:2", ids, 2);
        post_put(&line.post, GUARD_DONE, NULL, ids, 0);
        post_send(&line.post, line.io);
        watch = hear(&line);
        done = hear(&line);
        is(watch, "watch 0:1:2 a b", "an owner stands between the verb and the ids");
        is(done, "done", "a verb may stand alone");
        ok(!listens_for_room(&line), "who has sent all does not wait for room");
        line_clear(&line);
}

/* The longest there are. */
static void test_many(void) {
        g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
        unsigned heard = 0, wrong = 0, longest = 0;
        char *text;
        Line line;

        for (unsigned i = 0; i < MANY; i++)
                g_ptr_array_add(ids, g_strdup_printf("%0*u", NAME_ID_MAX, i));
        line_init(&line);
        post_put(&line.post, GUARD_WATCH, "4294967295:4194304:18446744073709551615",
                 (const char *const *)ids->pdata, ids->len);
        post_send(&line.post, line.io);
        ok(listens_for_room(&line), "what does not fit waits for room");
        while ((text = hear(&line)) || (sd_event_run(line.event, 0) > 0 && (text = hear(&line)))) {
                g_auto(GStrv) words = g_strsplit(text, " ", -1);

                longest = MAX(longest, (unsigned)strlen(text));
                for (char **id = words + 2; *id; id++, heard++)
                        wrong += heard >= MANY || strcmp(*id, ids->pdata[heard]) != 0;
                g_free(text);
        }
        cmp_ok(heard, "==", MANY, "all of it arrives");
        cmp_ok(wrong, "==", 0, "… in order");
        cmp_ok(longest, "<", GUARD_MESSAGE_MAX, "… in messages that can be read");
        ok(!listens_for_room(&line), "… and then nobody waits any more");
        line_clear(&line);
}

static void test_forget(void) {
        const char *const ids[] = { "a" };
        g_autofree char *kept = NULL, *none = NULL;
        Line line;

        line_init(&line);
        post_put(&line.post, GUARD_WATCH, "0:1:2", ids, 1);
        post_put(&line.post, GUARD_END, "0:1:2", ids, 1);
        post_put(&line.post, GUARD_DONE, NULL, ids, 1);
        post_forget_but(&line.post, GUARD_END);
        post_send(&line.post, line.io);
        kept = hear(&line);
        none = hear(&line);
        is(kept, "end 0:1:2 a", "what is to be ended is kept for the next guard");
        is(none, NULL, "… and nothing else");
        line_clear(&line);
}

int main(void) {
        plan(NO_PLAN);
        test_words();
        test_many();
        test_forget();
        done_testing();
}
