/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A throw-away unit: the words of a cordon run, started as a run is, looked at as a run is, and gone when it returns. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/diskwatch.h"
#include "launcher/kernel/caller.h"
#include "launcher/manager/door.h"
#include "launcher/readback.h"
#include "units/spec.h"

/* One manager, and ourselves there; signals end what is being tried. */
typedef struct TrialGround TrialGround;

TrialGround *trial_ground_new(Door *door, const Caller *caller,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
void trial_ground_free(TrialGround *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrialGround, trial_ground_free)

/* The signal that came; 0: none. Nothing is started any more then. */
int trial_ground_signal(const TrialGround *ground);

typedef struct {
        bool is_started;       /* the program would have been executed next, and */
        Readback readback;     /* … this was in force */
        bool has_accounting;   /* the manager counts what goes over the network: with BPF */
        char *code, *message;  /* else: as a run refuses it */
        char *manager_version; /* NULL: not learnt */
} Trial;

void trial_clear(Trial *trial);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trial, trial_clear)

/* The words, of char*, are options of cordon run. The directory is the program's. */
void trial_run(TrialGround *ground, const GPtrArray *words, const char *directory,
               bool is_best_effort, Trial *ret_trial);

/* The same for a request that is complete: its program, too, is not executed. */
typedef struct {
        Spec *spec;           /* who it runs as is put into it; borrowed, as the next two */
        const Caller *caller; /* with its directory */
        DiskWatch *disk;      /* NULL: no such limit */
        bool is_capture, is_best_effort;
} TrialOrder;

void trial_rehearse(TrialGround *ground, const TrialOrder *order, Trial *ret_trial);
