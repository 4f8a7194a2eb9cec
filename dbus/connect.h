/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Connections to a manager. Directly, through the socket that a manager keeps for root or its own user (no bus daemon
 * in between: faster, and there also where no bus runs), or over the system bus, where polkit decides. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_close_unref)

/* Nobody waits: sd_bus_is_ready() tells whether the other side has said who it is, and a local signal, "Connected", that it
 * has. A message with a descriptor in it must not be sent before: sd-bus would wait, and without a deadline. */
/* Takes the descriptor, of a socket at whose other end somebody speaks for a manager. */
bool connect_over(int fd, sd_bus **ret_bus) G_GNUC_WARN_UNUSED_RESULT;

bool connect_direct(const char *socket_path, sd_bus **ret_bus,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Waits for the bus. */
bool connect_system_bus(sd_bus **ret_bus, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The manager's, as a number: 252. 0: it does not say. Waits for it, as long as a call may. */
unsigned connect_manager_version(sd_bus *bus);
