/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Running cordon and seeing what comes of it: status, output, record, time. Every run has a deadline, so that nothing
 * hangs. What the record must say is expect.h's, what must not be left is leftover.h's.
 *
 * The environment decides the ground: CORDON (the program, /usr/bin/cordon), CORDON_MANAGER (system, user or private),
 * CORDON_TEST_SCOPE=1 (programs are to run in scopes), CORDON_TEST_SLOW=1 (an emulated machine: no bounds of time), CORDON_TEST_FULL=1 (all rows and rounds also there). */

#include <cjson/cJSON.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <tap.h>

typedef struct {
        const char *const *options;     /* before "--"; NULL: none */
        const char *const *command;     /* NULL: none is given */
        const char *const *environment; /* the whole of it; NULL: ours */
        const char *program;            /* instead of "cordon run", with just the command */
        const char *cordon;             /* another build of it; NULL: kit_cordon() */
        const char *verb;               /* instead of "run" */
        const char *id;                 /* NULL: one is made up, "": no --id is given */
        const char *record;             /* --record; NULL: a pipe that is read, "": no record */
        const char *directory;          /* NULL: kit_directory() */
        int input_fd;                   /* 0: /dev/null */
        int terminal_fd; /* our end of a terminal that it sits at, of a session of its own; 0: none */
        bool has_errors;       /* at a terminal: its standard error is a pipe all the same */
        void (*prepare)(void); /* in the child, just before it becomes cordon */
} KitOrder;

typedef struct {
        char *id;       /* NULL: none was given, and no record told it */
        char **command; /* what was asked for; NULL: nothing */
        GPid pid;       /* of cordon */
        int pidfd;      /* readable when it has ended */
        GString *output, *errors, *record_text;
        cJSON *record; /* NULL: none came */
        int status;    /* as a shell has it: 128+n by a signal */
        uint64_t started_usec, ended_usec;
        int64_t max_rss_bytes; /* of cordon itself */
        bool is_hung;          /* had to be killed at its deadline */
        bool is_held;          /* ended, but somebody has its output still open */
        int fds[3];            /* our ends of stdout, stderr and record; −1: closed */
} KitRun;

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* A variable that marks every process of a run, in whatever cgroup it hides. */
#define KIT_MARK   "CORDON_TEST_RUN"
#define KIT_MSEC   UINT64_C(1000)
#define KIT_SEC    UINT64_C(1000000)

/* First line of every test: reads the environment, makes the directory; ends the test where there is no ground. */
void kit_init(void);
/* Last: removes the directory. */
void kit_clear(void);

bool kit_is_slow(void);
bool kit_is_scope(void);
bool kit_is_brief(void); /* slow and not full: rows and rounds beyond the core are left out */
bool kit_is_sanitized(void);
uint64_t kit_patience(uint64_t usec); /* more of it where it is slow */
int kit_rounds(int native, int brief);
const char *kit_manager(void); /* "system", "user", "private" */
const char *kit_cordon(void);
const char *kit_victim(void);        /* the helper program; victim.c */
const char *kit_directory(void);     /* an empty one of the test's own */
char *kit_program(const char *name); /* one that is installed beside the test */
uint64_t kit_now(void);
/* On the loopback interface; the descriptor. */
int kit_listen(unsigned *ret_port);

/* argv of the victim: VICTIM("exit", "3"), or from the verbs in a table. */
#define VICTIM(...) WORDS(kit_victim(), __VA_ARGS__)
char **kit_victim_argv(const char *const *verbs);

KitRun *kit_start(const KitOrder *order);
/* The program has said this line on stdout. False: it ended, or the deadline passed. */
bool kit_wait_line(KitRun *run, const char *line);
/* All that stdout has by now is this, likewise; "*" and "?" stand for anything. */
bool kit_wait_shown(KitRun *run, const char *pattern);
/* The same of cordon's words on stderr. */
bool kit_wait_words(KitRun *run, const char *pattern);
void kit_signal(const KitRun *run, int number);
void kit_signal_group(const KitRun *run, int number);
void kit_finish(KitRun *run);
KitRun *kit_run(const KitOrder *order); /* start and finish */
void kit_run_free(KitRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KitRun, kit_run_free)

/* What stands behind "WORD " in a line that the program has said; NULL: no such line. */
char *kit_said(const KitRun *run, const char *word);
int64_t kit_said_number(const KitRun *run, const char *word); /* −1: no such line */

/* A record that is here as text, held to its schema: a fault is a failed point. The end of it is for who wants to know
 * what stands behind. NULL: it is no JSON. */
cJSON *kit_parse_record(const char *text, const char **ret_end);
bool kit_is_record(const char *text); /* the same, for who wants no more of it; NULL is none */

/* Waits for a process to end; true when it has. */
bool kit_wait_process(int pidfd, uint64_t usec);
/* Asks until it is true, at most so long. */
bool kit_wait_until(bool (*is_true)(const void *what), const void *what, uint64_t usec);
