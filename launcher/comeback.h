/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Waiting for a manager that hung up. One that re-executes itself comes back to the same socket in a moment; one whose
 * user has logged out takes the socket along and never does. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launcher/manager/door.h"

typedef struct Comeback Comeback;

/* is_back: the door is open again. The handler frees it. */
typedef void (*ComebackHandler)(bool is_back, void *userdata);

Comeback *comeback_new(sd_event *event, Door *door, ComebackHandler handler, void *userdata);
void comeback_free(Comeback *comeback);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Comeback, comeback_free)
