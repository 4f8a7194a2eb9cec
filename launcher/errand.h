/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One thing that somebody wants to have run: what he asked for, in which place, its launch, and what its record is made
 * of. Whoever has exactly one of them and whoever has thousands go this way: ask, prepare, launch, judge. An errand that
 * fails on its way is refused, and judged like any other. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/diskwatch.h"
#include "launcher/kernel/caller.h"
#include "launcher/launch.h"
#include "launcher/manager/door.h"
#include "launcher/options.h"
#include "launcher/record.h"
#include "units/cause.h"
#include "units/facts.h"
#include "units/spec.h"

typedef struct {
        const Options *options; /* borrowed */
        Spec *spec;
        Caller caller;
        int input_fd;     /* −1: none of its own */
        DiskWatch *disk;  /* NULL: no such limit */
        const Door *door; /* borrowed; NULL: none was reached */
        Launch *launch;   /* NULL: nothing was started */
        Facts refused;    /* when there is no launch to ask */
        char *pins;       /* the files for --net allow=; NULL: none */
} Errand;

#define ERRAND_INIT \
        { .input_fd = -1 }

/* What can be said of it even where the options are wrong: a record needs that. */
void errand_ask(Errand *errand, const Options *options);

/* All that can be refused before a manager is asked: directory, users, paths, names. The caller, but for its directory,
 * must have been read. */
bool errand_prepare(Errand *errand, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Its standard input, and how large its workspace is: either may take its time. What is not to be waited for is a FIFO
 * that has no writer yet. */
bool errand_open_input(Errand *errand, bool may_wait, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool errand_measure(Errand *errand, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The settings for a launch, as far as the errand knows them: event, streams and handlers are somebody else's. */
LaunchSettings errand_settings(const Errand *errand, Door *door);
bool errand_launch(Errand *errand, LaunchSettings *settings,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What it needed for its start alone can go. */
void errand_note_start(Errand *errand);

/* Nothing of it is to run, or has. */
void errand_refuse(Errand *errand, const char *code, const char *message);

const Facts *errand_facts(const Errand *errand);

/* The verdict, and all that the record needs. It points to the errand and to the verdict. */
RecordSource errand_judge(const Errand *errand, Verdict *ret_verdict);

void errand_clear(Errand *errand);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Errand, errand_clear)
