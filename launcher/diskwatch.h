/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What keeps the limit "disk": a thread that looks at the workspace, so that no loop waits for a file system. What is
 * there before the program does not count; what the program removes of it makes room. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "units/facts.h"
#include "units/spec.h"

typedef struct DiskWatch DiskWatch;

/* The workspace has outgrown the limit. */
typedef void (*DiskWatchHandler)(void *userdata);

/* Measures what is in the workspace, and waits for that; signals are answered meanwhile. NULL where the limit was not
 * asked, and where it cannot be kept and a best effort is enough. */
bool disk_watch_open(const Spec *spec, bool is_best_effort, DiskWatch **ret_watch,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* From here on: the program is about to be. CGROUP_PATH: whose open files are looked at too. */
void disk_watch_begin(DiskWatch *watch, sd_event *event, const char *cgroup_path,
                      DiskWatchHandler handler, void *userdata);

/* The program is gone: what is known, and a last look where one is quick. */
void disk_watch_finish(DiskWatch *watch, Facts *facts);

void disk_watch_end(DiskWatch *watch); /* the handler is not called any more */

/* Never waits, whatever the thread is waiting for. */
void disk_watch_free(DiskWatch *watch);
