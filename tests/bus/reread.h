/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Message → value: the way back of dbus/append, written independently of it, so that a test can say "what was read is
 * what was written". */

#include <glib.h>
#include <systemd/sd-bus.h>

/* Reads one complete value of whatever type comes next; NULL at the end of the message or when it cannot be read. Descriptors
 * are duplicated into fds (of int), which closes them; the value holds their index. */
GVariant *reread_value(sd_bus_message *message, GArray *fds);

GArray *reread_fds_new(void);
