/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The launchers that are connected: the socket they come to, who is there, and since when nobody is. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
        int listen_fd;
        int idle_fd; /* a timer; readable when nobody was there for idle_usec */
        GArray *fds; /* int, one a launcher */
        uint64_t idle_usec;
} Visitors;

#define VISITORS_INIT ((Visitors){ .listen_fd = -1, .idle_fd = -1 })

/* Takes the connection of whoever started us; listens, says "ready" to it. */
bool visitors_open(int dir_fd, int first_fd, uint64_t idle_usec, Visitors *ret_visitors,
                   GError **error);

/* Lets in everybody who waits. */
void visitors_accept(Visitors *visitors);

/* The connection with this index has closed, or said something that it has no business to say. */
void visitors_leave(Visitors *visitors, guint index);

void visitors_clear(Visitors *visitors);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Visitors, visitors_clear)
