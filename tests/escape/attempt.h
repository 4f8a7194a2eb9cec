/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a hostile program would try. Each attempt runs in a process of its own and ends in one verdict, which is only
 * what it believes itself: the tests look from outside. An attempt does no harm where it succeeds, because without
 * --untrusted many do. */

#include <stddef.h>

typedef struct {
        const char *name;
        int n_arguments;
        void (*run)(char **arguments);
} Attempt;

/* A file each, by what they are about; the last of each has no name. */
extern const Attempt cgroup_attempts[], namespace_attempts[], process_attempts[], self_attempts[],
        manager_attempts[], socket_attempts[], network_attempts[], kernel_attempts[],
        file_attempts[], resource_attempts[], life_attempts[];

/* The verdicts. Who escaped stays as he is until the program ends, so that it can be seen. */
void escaped(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Cannot know from where it is; the tests look outside. */
void perhaps(const char *what) __attribute__((noreturn));
void held(void) __attribute__((noreturn)); /* says what errno is */
void held_by(const char *what) __attribute__((noreturn));
void untried(const char *why) __attribute__((noreturn));

/* For one that is worth trying in several places: the first that works is the escape; the last errno is kept. */
typedef int (*Try)(const char *place);
void try_each(char *places, Try attempt) __attribute__((noreturn)); /* separated by colons */

int write_text(const char *path, const char *text); /* −1 and errno, or 0 */
/* Reads a file and says so if the text is in it. */
void try_read(const char *path, const char *wanted);
void stay(void) __attribute__((noreturn));
