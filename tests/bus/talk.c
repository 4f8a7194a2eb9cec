/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loop is turned by hand, so that a test decides how far a call gets. */

#include "talk.h"

#define PATIENCE_USEC (20 * G_USEC_PER_SEC)
#define TURN_USEC     2000 /* sd-bus looks at its deadlines late, unless the loop turns anyway */

static void on_answer(sd_bus_message *reply, const GError *error, void *userdata) {
        Talk *talk = userdata;

        talk->n_answers++;
        g_clear_error(&talk->error);
        g_clear_pointer(&talk->reply, sd_bus_message_unref);
        talk->error = error ? g_error_copy(error) : NULL;
        talk->reply = reply ? sd_bus_message_ref(reply) : NULL;
}

Talk *talk_new(const Fault *fault, uint64_t deadline_usec) {
        Talk *talk = g_new0(Talk, 1);
        int r = sd_event_new(&talk->event);

        g_assert(r >= 0);
        talk->fake = fake_new(talk->event, &programs[PROGRAM_NEVER_ENDS], fault);
        talk->bus = fake_connect(talk->fake, deadline_usec);
        talk_settle(
                talk); /* sending a descriptor would wait for the handshake, and the loop with it */
        return talk;
}

void talk_free(Talk *talk) {
        if (!talk)
                return;
        g_clear_error(&talk->error);
        g_clear_pointer(&talk->reply, sd_bus_message_unref);
        sd_bus_close_unref(talk->bus);
        fake_free(talk->fake);
        sd_event_unref(talk->event);
        g_free(talk);
}

ManagerCaller talk_caller(Talk *talk) {
        return (ManagerCaller){
                .bus = talk->bus, .event = talk->event, .handler = on_answer, .userdata = talk
        };
}

void talk_await(Talk *talk, ManagerCall *call) {
        unsigned before = talk->n_answers;
        int64_t until = g_get_monotonic_time() + PATIENCE_USEC;

        while (talk->n_answers == before) {
                int r = sd_event_run(talk->event, TURN_USEC);

                g_assert(r >= 0 && g_get_monotonic_time() < until);
        }
        manager_call_free(call);
}

void talk_settle(Talk *talk) {
        while (sd_event_run(talk->event, 0) > 0)
                ;
}
