/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The signals of one connection to a manager, handed to whom they concern: one set of matches however many units are
 * watched, and one look into a table a signal. Also what is asked once a connection: that signals are sent at all, and the
 * manager's version. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct Switchboard Switchboard;
typedef struct SwitchboardLine SwitchboardLine;

/* Each may free its line. */
typedef struct {
        /* At its beginning: the interface, the values that have changed, … (sa{sv}as). */
        void (*on_properties)(sd_bus_message *message, void *userdata);
        void (*on_job_removed)(const char *result, void *userdata);
        void (*on_unit_removed)(void *userdata);
        void (*on_reloaded)(void *userdata); /* the manager: what it said meanwhile may be missing */
        void (*on_connected)(void *userdata); /* the manager has said who it is; NULL: nobody asks */
        void (*on_disconnected)(void *userdata);
} SwitchboardListener;

/* The connection is on a loop. The handler is called when it has ended and all lines have been told; NULL: nobody asks. */
Switchboard *switchboard_new(sd_bus *bus, void (*handler)(void *userdata), void *userdata);
void switchboard_free(Switchboard *board); /* after its lines */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Switchboard, switchboard_free)

/* Goes on over another connection. The lines stay; who needs to know is told by whoever does this. */
void switchboard_attach(Switchboard *board, sd_bus *bus);

sd_bus *switchboard_bus(const Switchboard *board); /* borrowed, as the loop */
sd_event *switchboard_event(const Switchboard *board);
bool switchboard_is_connected(const Switchboard *board);    /* before, nothing can be sent */
bool switchboard_is_disconnected(const Switchboard *board); /* or about to be: nothing can be sent */

/* Asked once a connection, and before whatever is sent after this. */
void switchboard_ask_version(Switchboard *board);
const char *switchboard_version(const Switchboard *board); /* NULL: not learnt; stays for ever */

/* What is said of a unit: one line a unit at a time. The listener is borrowed. */
SwitchboardLine *switchboard_listen(Switchboard *board, const char *unit,
                                    const SwitchboardListener *listener, void *userdata);
void switchboard_line_free(SwitchboardLine *line);
const char *switchboard_line_unit(const SwitchboardLine *line);
const char *switchboard_line_path(const SwitchboardLine *line); /* of the unit's object */
