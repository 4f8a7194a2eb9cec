/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A private manager in the hands of a test, and what could be running under it. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FOREVER_USEC (UINT64_C(3600) * G_USEC_PER_SEC)

typedef struct {
        char *dir; /* NULL: none was to be had, and error says why */
        int hold_fd;
        GError *error;
} Use;

/* $CORDON, else the installed one. */
char *cordon_path(void);
char *keeper_path(int argc, char *argv[]);

/* Root only: namespaces of its own make a manager of its own, and a /run where nobody else sweeps. */
bool use_apart(void);

Use use_begin(const char *keeper, uint64_t idle_usec);
void use_end(Use *use);

/* Tells the keeper to leave and waits until it has. */
void use_leave(Use *use);

/* A process like one of a service: in a group below the manager's, and nobody's child. */
int process_left_behind(const char *dir);
