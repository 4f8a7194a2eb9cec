/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Messages on their way over a SOCK_SEQPACKET socket that does not wait: what it does not take now goes when it does. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

typedef struct {
        GQueue waiting; /* of char* */
} Post;

#define POST_INIT \
        { G_QUEUE_INIT }

void post_clear(Post *post);

/* All but those that begin with this word and a blank, which wait for another connection. */
void post_forget_but(Post *post, const char *verb);

/* "VERB [OWNER] ID…", in as many messages as that takes, at least one; they wait until they are sent. OWNER may be NULL. */
void post_put(Post *post, const char *verb, const char *owner, const char *const *ids, guint count);

/* The words in one message that does not wait: false, if others do, or there is no room. */
bool post_send_now(Post *post, sd_event_source *io, const char *verb, const char *const *words,
                   guint count) G_GNUC_WARN_UNUSED_RESULT;

/* Sends what can be sent. IO is the source of the socket: it listens for room as long as something waits. */
void post_send(Post *post, sd_event_source *io);
