/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One run as a manager sees it: a slice, the unit inside it, and everything the manager says of them from before the
 * start until both are gone. It never decides anything: any news updates the state and calls the handler, which
 * re-reads the whole state and decides. Failures of calls are part of the state. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "snapshot.h"
#include "switchboard.h"
#include "units/property.h"

typedef struct UnitWatch UnitWatch;

typedef void (*UnitWatchHandler)(void *userdata);

typedef struct {
        UnitSnapshot snapshot;
        bool is_connected;   /* the manager has said who it is: before, nothing can be sent */
        bool is_accepted;    /* StartTransientUnit was answered: the units are the manager's now */
        GError *start_error; /* … or refused */
        char *job_result;  /* of the start job: "done", "failed", "timeout", …; NULL: under way */
        bool is_removed;   /* the manager forgot the unit */
        bool was_stopping; /* it was seen to end the unit, at least once */
        bool is_disconnected; /* the connection is gone; see unit_watch_go_on */
        bool is_refreshing;   /* asked for everything anew, answer under way */
        bool is_counted; /* the slice's network counters are in the snapshot, as far as there are any */
        bool is_cleared; /* slice and unit are stopped and forgotten, as far as the manager said */
        GError *clear_error;         /* the manager would not */
        const char *manager_version; /* as systemd says it; NULL: not learnt; stays for ever */
} UnitState;

bool unit_state_start_failed(const UnitState *state); /* the start job is over, and not done */

/* Started, and at rest again, however it was learnt: of what happened while there was no connection the job's result never is. */
bool unit_state_has_come_to_rest(const UnitState *state);

/* The manager refused the start, and so has made nothing. Without an answer it may have. */
bool unit_state_is_refused(const UnitState *state);

/* Signals are watched from here on. The board is borrowed. */
UnitWatch *unit_watch_new(Switchboard *board, const char *unit, const char *slice,
                          UnitWatchHandler handler, void *userdata);
void unit_watch_free(UnitWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitWatch, unit_watch_free)

const UnitState *unit_watch_state(const UnitWatch *watch);

/* Of a unit that is active the snapshot need have no more than its states: with this it has all that was told. */
void unit_watch_settle(UnitWatch *watch);

void unit_watch_start(UnitWatch *watch, const PropertyList *unit, const PropertyList *slice);

/* Signals every process of the slice. Nobody waits for the answer: what counts is that they die. */
void unit_watch_kill(UnitWatch *watch, int signal);

/* Reads everything anew. After it the state's snapshot is complete, or is_removed. */
void unit_watch_refresh(UnitWatch *watch);

/* After it all news that the manager had before have been absorbed: whether it was ending the unit, above all. */
void unit_watch_catch_up(UnitWatch *watch);

/* Asks for the slice's network counters: the manager keeps them, the kernel has no file for them. Once is_counted they are
 * not asked for again: of a slice that is gone they are unknown. */
void unit_watch_count(UnitWatch *watch);

/* Stops slice and unit and clears a failed one away; is_cleared when both were answered. While it is under way, asking
 * again does nothing. */
void unit_watch_clear_away(UnitWatch *watch);

/* The board has another connection to the same manager, after is_disconnected. */
void unit_watch_go_on(UnitWatch *watch);
