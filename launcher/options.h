/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* THE option table: every option of every verb is one row (limits come from their own table). Parsing, help, man page
 * and completions all read it. The result is a plain struct that is passed down; nobody below sees argv. */

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

#include "launcher/manager/door.h"
#include "units/isolation.h"
#include "units/limit.h"
#include "units/property.h"

/* --pty, --no-pty. */
typedef enum {
        PTY_AUTO, /* by what the caller's streams are */
        PTY_YES,
        PTY_NO,
} Pty;

/* What cordon batch is told besides: launcher/batch/choices. */
typedef struct {
        const char *file;           /* with the jobs; NULL: standard input; borrowed */
        uint64_t parallel;          /* at a time; 0: as many as there are CPUs */
        uint64_t retries;           /* of a job */
        uint64_t failures;          /* after so many nothing begins any more; 0: however many */
        unsigned retry_on, stop_on; /* bit n: Outcome n; 0: the default, none */
        char *resume;               /* records that were written before; NULL: none */
        char *output_dir;           /* NULL: captured output goes into the record */
        bool is_ordered, is_check, is_strict, has_progress;
} BatchChoices;

typedef struct {
        const char *verb; /* whose options are known; NULL: run's */
        ManagerKind manager;
        LimitSet limits;
        IsolationSet isolation;
        char *id;
        char *pool;              /* NULL: none */
        uint64_t max_parallel;   /* of the runs in it; 0: any number */
        bool has_on_full;        /* --on-full was said */
        bool is_refused_on_full; /* … and is "fail" */
        GHashTable *labels;      /* string → string; never NULL */
        GPtrArray *variables;    /* of -E, in order: "NAME=value" or "NAME" */
        char *directory;
        char *user, *group;
        char *input;  /* --stdin: a path, or "null"; NULL: the caller's */
        char *record; /* "-", "fd:N" or a path; NULL: none is wanted */
        bool is_tree_awaited;
        bool is_scope, is_mode_said; /* --scope; it or --service was given */
        Pty pty;
        bool is_clean_environment;
        bool is_capture;
        bool is_kill_on_output;
        bool is_best_effort;
        bool is_detach;
        bool is_quiet;
        bool is_verbose;
        bool is_dry_run, is_explain;
        bool is_json;
        bool is_help;
        BatchChoices batch;
        const char *job_words; /* what messages call the job: "--job"; borrowed */
        char *job;             /* --job: a path or "-" */
        char **job_command;    /* of the job; NULL: none; owned */
        char *profile;         /* --profile; NULL: none */
        PropertyList *extra;   /* of -p; never NULL */
        /* What an option or limit has from a profile and nothing was put over: name → "FILE:LINE". */
        GHashTable *of_profile;
        GHashTable *
                of_job; /* names of options and limits that the job has, and not the command line */
        char **command; /* points into argv, or is the job's; NULL-terminated; may be empty */
} Options;

typedef enum {
        OPTION_GROUP_MANAGER,
        OPTION_GROUP_LIMITS,
        OPTION_GROUP_ISOLATION,
        OPTION_GROUP_WORLD,
        OPTION_GROUP_JOBS,
        OPTION_GROUP_RECORD,
        OPTION_GROUP_GENERAL,
        _OPTION_GROUP_MAX,
} OptionGroup;

/* Of a row, for jobs: it is about the invocation, or has a key of another form; an array of values is as good as one. */
#define OPTION_NOT_IN_JOB     (1U << 0)
#define OPTION_REPEATABLE     (1U << 1)
/* What a shell has all the same is said by run: it is sugar over that. */
#define OPTION_NOT_IN_SHELL   (1U << 2)
#define OPTION_COUNT          (1U << 6) /* a number is as good as its text */
#define VERB_SHELL            "shell"
/* Of a batch: its command line has it not; it has it not, but its jobs have; nobody else has it. */
#define OPTION_NOT_IN_BATCH   (1U << 3)
#define OPTION_JOBS_ALONE     (1U << 4)
#define OPTION_BATCH_ALONE    (1U << 5)
#define VERB_BATCH            "batch"
/* It is a key of profiles, though jobs have it in another form; it is none, though jobs have it. */
#define OPTION_IN_PROFILE     (1U << 7)
#define OPTION_NOT_IN_PROFILE (1U << 8)
#define VERB_PROFILE          "profile"

typedef struct {
        const char *name;       /* long, without dashes */
        char letter;            /* 0: none */
        const char *value_name; /* NULL: takes none */
        OptionGroup group;
        bool (*take)(Options *options, const char *value, GError **error);
        const char *help;
        unsigned flags;
        const char *elsewhere; /* its help with the other verbs; NULL: it is run's alone */
        const char *in_shell;  /* its help there; NULL: run's will do */
        const char *in_batch;  /* its help there; NULL: run's will do */
        size_t flag;           /* where in Options a job's "false" goes; 0: nowhere */
} OptionInfo;

void options_init(Options *options);
void options_clear(Options *options);
void options_restart(Options *options); /* as if nothing had been said, for the same verb */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

/* Reads what stands behind the verb. On failure it has still read the rest, so that a record goes where it was asked
 * for; the error is the first one. */
bool options_parse(Options *options, char **argv, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The name of the option that a text begins with ("--memory=1G", "-C: …"); NULL: none. */
const char *option_of_word(const char *word);

/* One value of an option or a limit, from elsewhere than the command line; of a flag, whether it is so. */
bool option_put(Options *options, const OptionInfo *info, const char *value,
                GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool option_put_flag(Options *options, const OptionInfo *info, bool is_true,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the giver calls an option or limit: "--stdin", "$.stdin" where the job has it, "FILE:LINE: stdin" where a profile
 * has it. And a message that begins with an option, as the giver calls it, or without it. */
char *options_said_as(const Options *options, const char *name);
char *options_say(const Options *options, const char *message);
const char *option_bare_message(const char *message);

/* For help: by groups. The verb is NULL for run, here and below. */
void options_print(FILE *stream, const char *verb);

/* Walks the table: rows of options first, then one made of each limit. NULL ends it. */
const OptionInfo *option_at(size_t index);

/* What would come of it is shown, and nothing is run. */
bool options_are_for_show(const Options *options);

bool option_is_of(const OptionInfo *info, const char *verb);
bool option_is_key(const OptionInfo *info, const char *verb); /* of the verb's jobs */
const char *option_help(const OptionInfo *info, const char *verb);
