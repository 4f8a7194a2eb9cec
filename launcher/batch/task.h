/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One job of a batch: what its line says on top of what holds for all, and the errand that comes of it, again where it
 * is tried again. It knows nothing of the others. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "intake.h"
#include "launcher/errand.h"
#include "launcher/kernel/caller.h"
#include "launcher/options.h"
#include "launcher/pool.h"
#include "launcher/profile/shelf.h"
#include "launcher/record.h"

typedef struct {
        void *owner;    /* borrowed: for its handlers */
        uint64_t place; /* among those that get a record in this run */
        RecordPlace job;
        char *words;     /* "line 7" */
        Options options; /* its own, the defaults in them */
        bool has_own_id;
        Errand errand;
        int files[CAPTURE_STREAMS]; /* for its output; −1: none */
        PoolSlot *slot;             /* of --max-parallel, held or awaited; NULL: none */
        unsigned unreached;         /* so often its manager went before it began */
        bool is_unbegun;            /* as it was found last, its manager had gone before it began */
        bool is_starting;           /* the gauge counts it */
} Task;

/* What all of them share, borrowed. */
typedef struct {
        char **defaults;     /* words of the command line */
        ProfileShelf *shelf; /* below them and the job */
        const Caller *caller;
        const char
                *stem; /* of the ids of those that have none, and of the units of another attempt */
} TaskWorld;

/* "x7k2q9", and its jobs are "x7k2q9.0" …: made-up ids of six characters would soon meet each other. */
char *task_stem(void);

/* The job of a line. On failure it is a task all the same, which can be refused: the message says which line and what of
 * it. */
Task *task_new(const TaskWorld *world, const IntakeLine *line, uint64_t index);
bool task_read(Task *task, const TaskWorld *world, const IntakeLine *line,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A fresh errand for it: what can be said of it, and what can be refused without a manager. */
void task_ask(Task *task, const TaskWorld *world);
bool task_prepare(Task *task, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Why it is refused where its id is another job's. */
char *task_repeated_words(const Task *task);
/* What it said was to go into files and could not be kept; NULL: it could. */
char *task_complaint(const Task *task, const RecordSource *source);

/* Its manager went while it was asked, and nothing of the job has run: that is no matter of the job's, for a while. */
bool task_is_managers(const Task *task, const Verdict *verdict, bool is_door_open);

/* Before anything was asked of a manager. */
void task_cancel(Task *task, int signal);
void task_refuse(Task *task, const char *code, const char *message);
void task_free(Task *task);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Task, task_free)
