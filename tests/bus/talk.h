/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A loop, a manager on it and a connection to it: what a test needs to make single calls. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "dbus/manager.h"
#include "fake.h"

typedef struct {
        sd_event *event;
        Fake *fake;
        sd_bus *bus;

        /* The last answer */
        unsigned n_answers;
        GError *error;
        sd_bus_message *reply;
} Talk;

/* Borrows the fault. The deadline is that of every call, 0: long. */
Talk *talk_new(const Fault *fault, uint64_t deadline_usec);
void talk_free(Talk *talk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Talk, talk_free)

/* For a call whose answer goes to the talk. */
ManagerCaller talk_caller(Talk *talk);

/* Turns the loop until the call is answered, and drops it. */
void talk_await(Talk *talk, ManagerCall *call);

/* Turns the loop until there is nothing more to do. */
void talk_settle(Talk *talk);
