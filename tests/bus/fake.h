/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A manager in the same process: the other end of a socketpair, on the caller's event loop. It answers and signals as
 * systemd does over a direct connection (names, shapes and order were recorded from systemd 252), runs no program, and
 * does what can go wrong on demand. Units outlive a connection, as they do when a real manager executes itself anew. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "fault.h"

#define FAKE_VERSION "252.39-1~deb12u2"

typedef struct Fake Fake;

/* All three are borrowed. */
Fake *fake_new(sd_event *event, const Program *program, const Fault *fault);
void fake_free(Fake *fake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fake, fake_free)

/* A connection to the manager, attached to the event loop; the one before is closed by the manager's side. A call that
 * is not answered within the deadline fails; 0: sd-bus' own. NULL when the manager is gone for good. */
sd_bus *fake_connect(Fake *fake, uint64_t deadline_usec);

/* The connection ends, and the manager with it, when so many messages were sent and received together. */
void fake_drop_after(Fake *fake, unsigned n_messages);
unsigned fake_count_messages(const Fake *fake);

/* The connection ends now; with is_forever nobody listens afterwards. */
void fake_drop(Fake *fake, bool is_forever);

/* For a consumer that has a say in when the program begins: it does nothing before fake_go, and what becomes of its
 * process is told at once, as a kernel would. */
typedef enum {
        FAKE_FORKED,
        FAKE_ENDED,
} FakeEvent;

typedef void (*FakeListener)(FakeEvent event, void *userdata);

void fake_hold(Fake *fake, FakeListener listener, void *userdata);
void fake_go(Fake *fake);

/* A signal that does not come from the manager; an end that the program itself came to. */
void fake_kill(Fake *fake, const char *unit, int signal);
void fake_exit(Fake *fake, const char *unit, int status);

/* What is due happens now, whether or not anybody listens. */
void fake_settle(Fake *fake);

/* What came and went, in order: "> KillUnit cordon-x.slice", "< JobRemoved cordon-x.service done". */
char *fake_log_text(const Fake *fake);

bool fake_has_unit(const Fake *fake, const char *unit);

/* A property that StartTransientUnit brought, as a value (borrowed), as text (g_variant_print without types), and the
 * fake's own copy of a descriptor that it brought. NULL, −1: none. */
GVariant *fake_property_value(const Fake *fake, const char *unit, const char *property);
char *fake_property(const Fake *fake, const char *unit, const char *property);
int fake_property_fd(const Fake *fake, const char *unit, const char *property);

/* What a unit has counted from now on. */
void fake_count_network(Fake *fake, const char *unit, uint64_t in_bytes, uint64_t out_bytes);

/* What was last told over the wire of the main unit. */
typedef struct {
        bool is_start_answered;
        const char *job_result;
        const char *active;
        int32_t exec_main_code, exec_main_status;
} FakeTold;

const FakeTold *fake_told(const Fake *fake);
