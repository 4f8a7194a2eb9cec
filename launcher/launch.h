/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One run from start to end: the only object that acts. Everything that happens (news of the manager, words of the
 * gate, a dead process, a timer, a signal to us) leads to one function that looks at everything and decides. What it
 * learns goes into facts; what they mean is units/cause's business. */

#include <glib.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <systemd/sd-event.h>

#include "dbus/watch.h"
#include "launcher/capture.h"
#include "launcher/diskwatch.h"
#include "launcher/kernel/caller.h"
#include "launcher/manager/door.h"
#include "launcher/readback.h"
#include "units/facts.h"
#include "units/spec.h"

typedef struct Launch Launch;

/* Over: the facts are complete and nothing of the run is left, as far as anybody could see to that; or, of one that is
 * hurried, the guard has taken on what is. */
typedef void (*LaunchHandler)(void *userdata);

typedef struct {
        sd_event *event; /* all borrowed, and outliving the launch */
        Door *door;
        const Spec *spec;
        const Caller *caller;
        DiskWatch *disk;   /* that has measured; NULL: no such limit */
        int stdio[3];      /* what the program gets; −1: closed */
        bool has_terminal; /* of its own, stdio[0]; whoever reads it feeds the capture, if any */
        bool is_capture;   /* stdout and stderr go into the record instead */
        const int *files;  /* by descriptor, into them; NULL: it is kept in memory */
        bool is_kill_on_output;  /* the output limit ends the run */
        bool is_tree_awaited;    /* it ends with its last process, not with its main one */
        bool is_best_effort;     /* a limit that is not in force is reported, not refused */
        bool is_network_counted; /* somebody reads its bytes: the kernel counts them for a price */
        bool is_hurried; /* nobody stays for the clearing away: the guard does it where it can */
        LaunchHandler on_ready; /* what was asked is in force, and next it is executed, unless it is
                             cancelled then; NULL: nobody asks */
        LaunchHandler on_started; /* the program was executed; NULL: likewise */
        LaunchHandler
                on_unguarded; /* its guard is lost: if we died now, it would run on; NULL: likewise */
        LaunchHandler on_ended; /* the facts are complete, and only units are left, which are cleared
                                 * away; may come before it is over; NULL: likewise */
        LaunchHandler handler;  /* it is over */
        void *userdata;
} LaunchSettings;

Launch *launch_new(const LaunchSettings *settings, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void launch_free(Launch *launch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Launch, launch_free)

/* The caller wants it to end: with grace the first time, at once the second. */
void launch_cancel(Launch *launch, int signal);

/* A signal to us that the program got, too, from the terminal that it shares with us: its own business. */
bool launch_leaves_to_program(const Launch *launch, const struct signalfd_siginfo *info);

const Facts *launch_facts(const Launch *launch);
Capture *launch_capture(const Launch *launch,
                        int fd); /* of descriptor 1 or 2; NULL: passed through */
const Readback *launch_readback(const Launch *launch);
const UnitState *launch_unit_state(
        const Launch *launch); /* what the manager says of it, and of itself */
uint32_t launch_unapplied(
        const Launch *
                launch); /* GATE_UNAPPLIED_…: what the program could not have as the caller has it */
