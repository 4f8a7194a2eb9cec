/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where jobs come from: lines of a file, a pipe, a socket or a terminal. Nothing is read before somebody asks for a line,
 * and then no more than a piece ahead; nobody ever waits in it. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

typedef struct Intake Intake;

typedef enum {
        INTAKE_WAIT, /* nothing yet: the handler is called when there may be */
        INTAKE_LINE,
        INTAKE_HUGE, /* a line that no job is */
        INTAKE_ENDED,
        INTAKE_FAILED, /* it cannot be read: intake_error() */
} IntakeResult;

typedef struct {
        const char *text; /* until the next one is asked for; NULL: it was too long */
        size_t size;
        uint64_t number; /* of the line, from 1 */
} IntakeLine;

#define INTAKE_LINE_MAX (16U << 20) /* what --job takes, too */

typedef void (*IntakeHandler)(void *userdata);

/* path NULL or "-": standard input. Who opens a FIFO waits here for its writer. */
Intake *intake_open(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void intake_attach(Intake *intake, sd_event *event, IntakeHandler handler, void *userdata);
void intake_free(Intake *intake);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Intake, intake_free)

/* A line that is not blank. Without a loop it waits. */
IntakeResult intake_next(Intake *intake, IntakeLine *ret_line);
void intake_rest(Intake *intake); /* nobody wants a line for now: it is not listened to */

const char *intake_name(const Intake *intake); /* for messages */
int intake_error(const Intake *intake);        /* errno */
bool intake_is_file(const Intake *intake);     /* that ends where it ends */

/* How many lines of its kind a file has in all, from what was read of it so far; 0: nobody knows. */
uint64_t intake_estimate(const Intake *intake, uint64_t lines);
