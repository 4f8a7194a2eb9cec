/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What keeps the limits that are ours to keep (timeout, CPU time, disk) while a program runs, and what ends its tree: SIGTERM,
 * grace, SIGKILL until nobody is left; SIGHUP besides for a login shell, which ignores SIGTERM at a prompt. Each act is noted in the facts with its time; the first one is the reason. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "dbus/watch.h"
#include "launcher/diskwatch.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/readback.h"
#include "units/facts.h"

typedef struct Enforcer Enforcer;

typedef struct {
        sd_event *event; /* all borrowed */
        const LimitSet *limits;
        UnitWatch *watch;
        Cgroup *cgroup;
        const Readback *readback;
        DiskWatch *disk; /* NULL: no such limit */
        bool is_login;
        Facts *facts;
} EnforcerSettings;

/* The clocks run from here on: the program is about to be. */
Enforcer *enforcer_new(const EnforcerSettings *settings);
void enforcer_free(Enforcer *enforcer);

/* Ends the tree for a reason, as that reason wants it: with grace (deadlines, the caller) or at once. False: it is
 * ending already, or over. */
bool enforcer_act(Enforcer *enforcer, Act why);

/* The manager was away: what it was asked to send in that time it has not sent. */
void enforcer_again(Enforcer *enforcer);

/* SIGKILL now, and again until nobody is left. */
void enforcer_kill(Enforcer *enforcer);

/* The main process is dead: what we do from now on is no cause of anything. */
void enforcer_note_death(Enforcer *enforcer);

/* Reads all counters into the facts; CPU time from the start of the enforcer on. What cannot be read any more stays as it
 * was read before. */
void enforcer_read_facts(Enforcer *enforcer);
