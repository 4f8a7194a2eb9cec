/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Runs attempts under the real cordon, and judges what became of them: by what each says itself and by what is seen from
 * outside, which must agree, against the table of prospects. */

#include "kit.h"

typedef enum {
        STAGE_PLAIN,      /* limits, and nothing else */
        STAGE_NO_NETWORK, /* with --net none */
        STAGE_UNTRUSTED,
} Stage;

/* Whether it is to be seen, while the program still runs, that the attempt has come off. */
typedef bool (*StageSeen)(const KitRun *run, const char *verdict);

typedef struct {
        const char *name;
        const char *arguments[4]; /* "@key" is what the stage knows by that name */
        StageSeen is_seen;        /* NULL: it shows nowhere, its word counts */
} Trial;

/* First and last lines of every test of the suite. */
void stage_begin(void);
void stage_end(void);

/* Paths and numbers that attempts are given. */
void stage_know(const char *key, const char *format, ...) G_GNUC_PRINTF(2, 3);
const char *stage_known(const char *key);

/* Everything of a theme, in one run; a point for each, and one each for how the run ended and what it left. */
void stage_try(Stage stage, const char *theme, const Trial *trials, size_t n);
/* One point: each of the theme's prospects is tried. */
void stage_covers(const char *theme, const Trial *trials, size_t n);

/* One that needs a run of its own: starts it, with the number of the launcher on its standard input. */
KitRun *stage_start_alone(Stage stage, const Trial *trial, const char *const *options);
/* With something else there. */
KitRun *stage_start_with(Stage stage, const Trial *trial, const char *const *options, int input_fd);
/* The point of such a run, once it has ended. */
void stage_judge(Stage stage, const KitRun *run, const char *name, bool is_said, bool is_seen);

const char *stage_name(Stage stage);

/* Has it told the secret that only who got out can know? */
bool stage_told_secret(const KitRun *run, const char *verdict);
/* Is it there by now? */
bool stage_file_appears(const char *path);
