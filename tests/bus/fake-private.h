/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the parts of the fake manager share: fake.c has the connection and the signals, fake-method.c the methods,
 * fake-life.c what happens to units in the course of time. */

#include "fake-unit.h"
#include "fake.h"

#define FAKE_MANAGER_PATH      "/org/freedesktop/systemd1"
#define FAKE_MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"

struct Fake {
        sd_event *event;        /* borrowed */
        const Program *program; /* borrowed */
        const Fault *fault;     /* borrowed */
        unsigned n_refused;
        sd_bus *server;        /* NULL: nobody is connected */
        sd_event_source *life; /* does one act a turn of the loop */
        GQueue *acts;          /* of Act* */
        GHashTable *units;     /* name → FakeUnit* */
        GHashTable *pools; /* name of a slice around runs → its Description, once it has one */
        GPtrArray *order;  /* of FakeUnit*, as they came; borrowed from units */
        GPtrArray *closed; /* of sd_bus*: former connections */
        GString *log;
        FakeTold told;
        uint32_t last_job;
        uint64_t now_usec; /* a clock of its own: every reading is later than the one before */
        unsigned n_messages, drop_at;
        bool is_gone;          /* for good */
        FakeListener listener; /* NULL: the program begins by itself */
        void *listener_userdata;
};

/* fake.c */
FakeUnit *fake_find(const Fake *fake, const char *name);
FakeUnit *fake_add(Fake *fake, const char *name);
void fake_remove(Fake *fake, FakeUnit *unit); /* says so, too */
void fake_signal(Fake *fake, const char *member, const char *types, ...);
void fake_tell(Fake *fake, FakeUnit *unit, const char *interface); /* PropertiesChanged */

void fake_send(Fake *fake, sd_bus_message *message, const char *member, const char *detail);
void fake_count(Fake *fake, const char *direction, const char *member, const char *detail);

/* fake-method.c */
int fake_on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error);

/* fake-life.c */
void fake_life_start(Fake *fake, FakeUnit *unit); /* the job is announced, the rest is due */
void fake_life_signal(Fake *fake, FakeUnit *unit, int signal);
void fake_life_stop(Fake *fake, FakeUnit *unit);
void fake_life_reset(Fake *fake, FakeUnit *unit);
void fake_life_all_now(Fake *fake); /* does at once what is due */
void fake_life_resume(Fake *fake);
void fake_life_forget(Fake *fake); /* nothing more is due */
