/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "comeback.h"

#include <unistd.h>

#include "launcher/deadline.h"

#define AGAIN_USEC       (50 * 1000)
#define PATIENCE_USEC    (30 * G_USEC_PER_SEC)
/* A manager makes its socket anew when it re-executes itself: it is never gone for long. */
#define SOCKET_GONE_USEC (5 * G_USEC_PER_SEC)

struct Comeback {
        sd_event *event;
        Door *door;
        ComebackHandler handler;
        void *userdata;
        sd_event_source *again;
        uint64_t since_usec;        /* when it hung up */
        uint64_t socket_there_usec; /* when the socket was seen last */
};

static uint64_t now_usec(void) {
        return (uint64_t)g_get_monotonic_time();
}

static bool is_hopeless(Comeback *comeback) {
        const char *path = comeback->door->socket_path;
        uint64_t now = now_usec();

        if (!path || access(path, F_OK) >= 0)
                comeback->socket_there_usec = now;
        return now - comeback->since_usec >= PATIENCE_USEC ||
               now - comeback->socket_there_usec >= SOCKET_GONE_USEC;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata) {
        Comeback *comeback = userdata;

        if (door_reopen(comeback->door, comeback->event, NULL))
                comeback->handler(true, comeback->userdata);
        else if (is_hopeless(comeback))
                comeback->handler(false, comeback->userdata);
        else
                deadline_arm(comeback->event, &comeback->again, AGAIN_USEC, on_again, comeback);
        return 0;
}

Comeback *comeback_new(sd_event *event, Door *door, ComebackHandler handler, void *userdata) {
        Comeback *comeback = g_new0(Comeback, 1);

        comeback->event = sd_event_ref(event);
        comeback->door = door;
        comeback->handler = handler;
        comeback->userdata = userdata;
        comeback->since_usec = comeback->socket_there_usec = now_usec();
        deadline_arm(event, &comeback->again, 0, on_again, comeback);
        return comeback;
}

void comeback_free(Comeback *comeback) {
        if (!comeback)
                return;
        deadline_disarm(&comeback->again);
        sd_event_unref(comeback->event);
        g_free(comeback);
}
