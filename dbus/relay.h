/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One connection to the manager for all launchers that have but one run. To a manager a connection is dear: it tells
 * everything to everybody who has one, and a new one costs it as much as a quarter of a run (docs/HACKING.md). So launchers
 * speak to the guard as if it was the manager, and hear of their own units alone. Who has many runs has a connection of his
 * own.
 *
 * Nothing is understood here but which unit a call is about; and nobody may do anything by it that he could not do himself: a
 * guard that watches over another user's runs relays nothing. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct Relay Relay;
typedef struct Passenger Passenger;

Relay *relay_new(sd_event *event, const char *manager_socket);
void relay_free(Relay *relay); /* after its passengers */

/* Takes the descriptor, whose other end the launcher has. NULL: there is no manager. */
Passenger *passenger_new(Relay *relay, int fd);
void passenger_free(Passenger *passenger);

/* When the manager said something last that was somebody's, by the monotonic clock; 0: never. */
uint64_t relay_heard_usec(const Relay *relay);

/* The connection itself, for a little while: each hold is let go of. NULL: there is no manager. */
sd_bus *relay_hold(Relay *relay);
void relay_let_go(Relay *relay);
