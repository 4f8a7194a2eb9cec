/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All launches of a process through one door, and what they have in common: the manager's signals, the way back to a
 * manager that hung up, the link to the guard, the children. Nothing of it grows with the number of launches but tables
 * that are looked into by name. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "dbus/switchboard.h"
#include "launcher/guard/link.h"
#include "launcher/manager/door.h"
#include "nursery.h"

typedef struct Fleet Fleet;

/* The fleet of this door, made for who comes first; it is there until everybody has left. Who starts one launch after
 * another joins as well, or guard and signals would be found anew for each. */
Fleet *fleet_join(sd_event *event, Door *door);
void fleet_leave(Fleet *fleet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fleet, fleet_leave)

/* A manager that hung up was waited for: it is back, and the door has another connection; or it never will be. */
typedef void (*FleetHandler)(bool is_back, void *userdata);

/* False: there is a launch of this id. Whoever is enlisted hears what has become of the manager. */
bool fleet_enlist(Fleet *fleet, const char *id, FleetHandler handler,
                  void *userdata) G_GNUC_WARN_UNUSED_RESULT;
void fleet_discharge(Fleet *fleet, const char *id, void *userdata); /* of whom was enlisted */

/* The manager has hung up, and is waited for, or will be as soon as everybody knows. */
bool fleet_is_cut_off(const Fleet *fleet);

/* All borrowed. */
Switchboard *fleet_board(Fleet *fleet);
GuardLink *fleet_guard(Fleet *fleet);
Nursery *fleet_nursery(Fleet *fleet);
const char *fleet_owner(const Fleet *fleet); /* ourselves, as slices and the guard know us */
const char *fleet_gate_path(const Fleet *fleet);
